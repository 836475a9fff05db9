#include "serve/hosts/host_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/rounded_text.hpp"
#include "serve/hosts/book_file.hpp"

// One table under one mutex, which is never held for a wait.

namespace muster::hosts {
namespace {

using Refused = Failure<int>;

/// A clock that is further off would not take certificates that are made now.
constexpr std::int64_t kClockS = 240;

Refused no_file(const HostBookSetup& setup) {
  return {kHostStorage,
          fmt::format("{}: is missing, and the cloud's store has {} on machines that it lists: put "
                      "it back from the backup of the stores; to begin without machines, wait "
                      "until the lease of each is over, write {{\"tokens\": [], \"hosts\": []}} "
                      "into it, and give it the mode 0600",
                      setup.file.string(), count_text(setup.rented, "instance"))};
}

std::optional<Refused> clock_fault(std::int64_t ahead_s) {
  if (ahead_s <= kClockS && ahead_s >= -kClockS) return std::nullopt;
  return Refused{kHostUnfit,
                 fmt::format("the machine's clock is {} s {} the cluster's, and certificates "
                             "would not hold: set it (`timedatectl set-ntp true`) and join again",
                             std::abs(ahead_s), ahead_s > 0 ? "ahead of" : "behind")};
}

Refused no_type(const Measured& has) {
  return {kHostUnfit,
          fmt::format("no type of the cluster's catalog fits into the machine, which has {}: the "
                      "catalog (catalog in the cluster file) needs a smaller one",
                      amounts_text(has))};
}

Refused no_room() {
  return {kHostConflict,
          fmt::format("the list of the cluster's machines has its {} MiB, and no more may join: "
                      "`muster hosts remove` takes one out",
                      kMaxHostBytes >> 20)};
}

Refused copied(std::uint32_t number) {
  return {kHostConflict,
          fmt::format("two daemons report as host {}, so one is a copy: `muster hosts remove {}`, "
                      "then join each with a --state folder of its own",
                      number, number)};
}

Refused may_be_copied(std::uint32_t number, Duration left) {
  return {kHostConflict,
          fmt::format("host {} was another computer, or had not booted, when it was last heard: "
                      "this daemon is heard in {:.0f} s, unless the machine itself reports before",
                      number, std::ceil(to_seconds(left)))};
}

/// Notes may have no reader.
HostBookSetup with_note(HostBookSetup setup) {
  if (!setup.note) setup.note = [](const std::string&) {};
  return setup;
}

/// Why no machine joins with that key now; nothing: it may, if a type fits and there is room.
std::optional<Refused> why_not_joined(const HostTable& hosts, const std::string& key_print) {
  if (hosts.is_full()) {
    return Refused{kHostConflict,
                   fmt::format("the cluster has {} machines, and no more may join", kMaxHosts)};
  }
  if (hosts.of_key(key_print) == nullptr) return std::nullopt;
  return Refused{kHostConflict,
                 "the machine's key has joined by another token: give `muster join` another "
                 "--state folder"};
}

bool is_there(const HostEntry& host, InstanceId instance) {
  return std::ranges::find(host.present, instance) != host.present.end();
}

HostEntry entry_of(const JoinRequest& request, const std::string& key_print, std::string type) {
  HostEntry host;
  host.name = request.name;
  host.key = key_print;
  host.token = request.token_id;
  host.type = std::move(type);
  host.measured = request.measured;
  host.labels = request.labels;
  return host;
}

}  // namespace

HostBook::HostBook(HostBookSetup setup)
    : setup_(with_note(std::move(setup))),
      terms_(setup_.lease, setup_.since_boot()),
      writer_(setup_.file, setup_.note) {}

Expected<std::shared_ptr<HostBook>, int> HostBook::open(HostBookSetup setup) {
  auto book = std::unique_ptr<HostBook>(new HostBook(std::move(setup)));
  if (auto fault = book->load()) return *std::move(fault);
  return std::shared_ptr<HostBook>(std::move(book));
}

std::optional<Refused> HostBook::load() {
  auto content = read_book(setup_.file);
  if (!content) return content.error();
  if (!content.value()) {
    return setup_.rented == 0 ? std::nullopt : std::optional(no_file(setup_));
  }
  tokens_ = std::move(content.value()->tokens);
  hosts_ = std::move(content.value()->hosts);
  if (const auto earlier = content.value()->lease) terms_.set_earlier(*earlier);
  // A longer lease is in the file before it is told.
  if (content.value()->lease != terms_.longest(hosts_, setup_.since_boot())) writer_.change();
  std::unique_lock lock(mutex_);
  return save(lock);
}

std::optional<Refused> HostBook::save(std::unique_lock<std::mutex>& lock) {
  return writer_.save(lock, setup_.since_boot(), [this] {
    return book_text(tokens_, hosts_, terms_.longest(hosts_, setup_.since_boot()));
  });
}

Expected<JoinToken, int> HostBook::create_token(std::uint32_t hosts, std::int64_t lifetime_s,
                                                const std::string& authority) {
  std::unique_lock lock(mutex_);
  auto made = tokens_.make(hosts, lifetime_s, authority, now_s());
  if (!made) return made;
  writer_.change();
  if (auto fault = save(lock)) {
    tokens_.forget(made->id);
    return *std::move(fault);
  }
  return made;
}

Expected<JoinTokenRow, int> HostBook::revoke_token(const std::string& id) {
  std::unique_lock lock(mutex_);
  auto row = tokens_.revoke(id);
  if (!row) return row;
  writer_.change();
  if (auto fault = save(lock)) return *std::move(fault);
  return row;
}

std::vector<JoinTokenRow> HostBook::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_.list();
}

Expected<HostBook::Joined, int> HostBook::join(const JoinRequest& request,
                                               const std::string& key_print) {
  std::unique_lock lock(mutex_);
  if (auto fault = clock_fault(request.now_s - now_s())) return *std::move(fault);
  const JoinTokenRow* token = tokens_.find(request.token_id, request.secret);
  // The answer to the first request may have got lost; only who has the key can make use of it.
  const HostEntry* known = hosts_.of_key(key_print);
  if (known != nullptr && token != nullptr && known->token == token->id) {
    if (auto fault = JoinTokens::end_of(*token, now_s())) return *std::move(fault);
    const Joined again{known->number, known->type, true};
    if (auto unwritten = save(lock)) return *std::move(unwritten);
    return again;
  }
  if (auto fault = JoinTokens::fault_of(token, now_s())) return *std::move(fault);
  if (auto fault = add(request, key_print)) return *std::move(fault);
  const HostEntry& added = *hosts_.of_key(key_print);
  const Joined joined{added.number, added.type};
  if (auto unwritten = save(lock)) return *std::move(unwritten);
  setup_.note(fmt::format("host {} joins: {} ({}), as {}, by the join token {}", joined.host,
                          request.name, amounts_text(request.measured), joined.type,
                          request.token_id));
  return joined;
}

std::optional<Refused> HostBook::add(const JoinRequest& request, const std::string& key_print) {
  if (auto why = why_not_joined(hosts_, key_print)) return why;
  std::string type = type_for(*setup_.catalog, request.measured);
  if (type.empty()) return no_type(request.measured);
  HostEntry host = entry_of(request, key_print, std::move(type));
  if (!hosts_.has_room(host)) return no_room();
  tokens_.use(request.token_id);
  hosts_.add(std::move(host));
  writer_.change();
  return std::nullopt;
}

Expected<ReportAnswer, int> HostBook::report(const std::string& key_print, const Report& report) {
  Steps steps;
  std::unique_lock lock(mutex_);
  HostEntry* host = hosts_.of_key(key_print);
  if (host == nullptr) {
    return Refused{kHostUnknown,
                   "the cluster does not know this machine (any more): remove its state folder "
                   "and join again"};
  }
  const Duration now = setup_.since_boot();
  const Duration left = first_reports(setup_.report) - (now - terms_.opened());
  const Reporter reporter = reporter_of(*host, now_of(*host), report, left >= Duration{});
  if (reporter == Reporter::unsure) return may_be_copied(host->number, left);
  if (reporter == Reporter::copy) {
    host->copy_heard = now;
    return copied(host->number);
  }
  const bool has_booted = report.boot != host->boot;
  // In the file, so that after a start the machine goes on and not its copy: another boot at once.
  if (take_report(*host, report, now) || has_booted) writer_.change_late(now);
  host->heard_s = now_s();
  if (std::exchange(host->lost, false)) {
    setup_.note(fmt::format("host {} is back", host->number));
  }
  const bool is_left = host->use && is_there(*host, host->use->instance);
  // The machine acts on an answer before it reports again, so this report knows of the order.
  if (host->use && host->use->use == Use::ending && !is_left) free(*host, steps);
  const std::uint32_t number = host->number;
  // It goes on with the orders that are in the file: without an answer its lease would end.
  if (has_booted || (host->use && !writer_.has(host->use->change))) save(lock);
  // It may have been removed meanwhile.
  HostEntry* again = hosts_.find(number);
  Expected<ReportAnswer, int> answer =
      again == nullptr
          ? Expected<ReportAnswer, int>(Refused{kHostUnknown, "the machine was removed"})
          : answer_to(*again);
  lock.unlock();
  for (const auto& step : steps) step();
  return answer;
}

ReportAnswer HostBook::answer_to(HostEntry& host) {
  ReportAnswer answer{setup_.lease, setup_.report, {}};
  if (!host.use || host.use->use != Use::ordered || !writer_.has(host.use->change)) {
    return answer;
  }
  const InstanceId instance = host.use->instance;
  WantedInstance wanted{instance, {}};
  const auto type = setup_.catalog->find(host.type);
  if (!is_there(host, instance) && type && setup_.settings) {
    auto settings = setup_.settings(instance, (*setup_.catalog)[*type]);
    if (!settings) {
      host.trouble = settings.error().message;
      return answer;
    }
    wanted.settings = std::move(settings).value();
  }
  host.use->told = true;
  answer.instances.push_back(std::move(wanted));
  return answer;
}

bool HostBook::knows(const std::string& key_print) const {
  const std::lock_guard lock(mutex_);
  return hosts_.of_key(key_print) != nullptr;
}

std::optional<Refused> HostBook::may_certify(const std::string& key_print,
                                             InstanceId instance) const {
  const std::lock_guard lock(mutex_);
  const HostEntry* host = hosts_.of_key(key_print);
  if (host != nullptr && host->use && host->use->instance == instance &&
      host->use->use == Use::ordered && writer_.has(host->use->change)) {
    return std::nullopt;
  }
  return Refused{kHostForbidden,
                 fmt::format("instance {} is not one of this machine", instance.value)};
}

}  // namespace muster::hosts
