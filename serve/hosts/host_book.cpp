#include "serve/hosts/host_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/api/private_file.hpp"
#include "serve/hosts/row_value.hpp"

// One table under one mutex, which is never held for a wait. The file is one JSON document: a
// machine is a line of some 300 bytes, and few things change it.

namespace muster::hosts {
namespace {

using Json = nlohmann::ordered_json;
using Refused = Failure<int>;

constexpr std::size_t kMaxFile = std::size_t{16} << 20;
/// A clock that is further off would not take certificates that are made now.
constexpr std::int64_t kClockS = 240;

}  // namespace

HostBook::HostBook(HostBookSetup setup) : setup_(std::move(setup)), opened_(setup_.since_boot()) {}

Expected<std::shared_ptr<HostBook>, int> HostBook::open(HostBookSetup setup) {
  auto book = std::unique_ptr<HostBook>(new HostBook(std::move(setup)));
  if (auto fault = book->load()) return *std::move(fault);
  return std::shared_ptr<HostBook>(std::move(book));
}

void HostBook::note(const std::string& text) const {
  if (setup_.note) setup_.note(text);
}

std::optional<Refused> HostBook::load() {
  const auto content = api::read_private(setup_.file, kMaxFile);
  if (!content) {
    if (content.error().code == api::FileError::missing) return std::nullopt;
    return Refused{kHostStorage, content.error().message};
  }
  const Json document = Json::parse(content.value(), nullptr, /*allow_exceptions=*/false);
  const auto is_list = [&](const char* name) {
    return document.contains(name) && document[name].is_array();
  };
  if (!document.is_object() || !is_list("tokens") || !is_list("hosts")) {
    return Refused{kHostStorage,
                   fmt::format("{}: is not the list of machines that this release writes",
                               setup_.file.string())};
  }
  tokens_.load(document["tokens"]);
  hosts_.load(document["hosts"], row_value<std::uint32_t>(document, "next", 1));
  return std::nullopt;
}

std::string HostBook::text() const {
  const Json document{{"version", 1},
                      {"next", hosts_.next()},
                      {"tokens", tokens_.to_rows()},
                      {"hosts", hosts_.to_rows()}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Writes what has changed; without the lock, which is held before and after.
std::optional<Refused> HostBook::save(std::unique_lock<std::mutex>& lock) {
  if (saved_ == changes_) return std::nullopt;
  lock.unlock();
  const std::lock_guard one_writer(writing_);
  lock.lock();
  if (saved_ == changes_) return std::nullopt;
  const std::uint64_t until = changes_;
  const std::string content = text();
  lock.unlock();
  const auto fault = api::replace_private(setup_.file, content);
  lock.lock();
  if (fault) return Refused{kHostStorage, *fault};
  saved_ = std::max(saved_, until);
  return std::nullopt;
}

Expected<JoinToken, int> HostBook::create_token(std::uint32_t hosts, std::int64_t lifetime_s,
                                                const std::string& authority) {
  std::unique_lock lock(mutex_);
  auto made = tokens_.make(hosts, lifetime_s, authority, now_s());
  if (!made) return made;
  changed();
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
  changed();
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
  const std::int64_t ahead = request.now_s - now_s();
  if (ahead > kClockS || ahead < -kClockS) {
    return Refused{kHostUnfit,
                   fmt::format("the machine's clock is {} s {} the cluster's, and certificates "
                               "would not hold: set it (`timedatectl set-ntp true`) and join again",
                               std::abs(ahead), ahead > 0 ? "before" : "behind")};
  }
  const JoinTokenRow* token = tokens_.find(request.token_id, request.secret);
  // The answer to the first request may have got lost; only who has the key can make use of it.
  const HostEntry* known = hosts_.of_key(key_print);
  if (known != nullptr && token != nullptr && known->token == token->id) {
    return Joined{known->number, known->type};
  }
  if (auto fault = JoinTokens::fault_of(token, now_s())) return *std::move(fault);
  if (auto fault = add(request, key_print)) return *std::move(fault);
  const HostEntry& added = *hosts_.of_key(key_print);
  const Joined joined{added.number, added.type};
  if (auto unwritten = save(lock)) return *std::move(unwritten);
  note(fmt::format("host {} joins: {} ({}), as {}, by the join token {}", joined.host, request.name,
                   amounts_text(request.measured), joined.type, request.token_id));
  return joined;
}

std::optional<Refused> HostBook::add(const JoinRequest& request, const std::string& key_print) {
  if (hosts_.is_full()) {
    return Refused{kHostConflict,
                   fmt::format("the cluster has {} machines, and no more may join", kMaxHosts)};
  }
  if (hosts_.of_key(key_print) != nullptr) {
    return Refused{kHostConflict,
                   "the machine's key has joined by another token: give `muster join` another "
                   "--state folder"};
  }
  std::string type = type_for(*setup_.catalog, request.measured);
  if (type.empty()) {
    return Refused{kHostUnfit,
                   fmt::format("no type of the cluster's catalog fits into the machine, which has "
                               "{}: the catalog (catalog in the cluster file) needs a smaller one",
                               amounts_text(request.measured))};
  }
  tokens_.use(request.token_id);
  HostEntry host;
  host.name = request.name;
  host.key = key_print;
  host.token = request.token_id;
  host.type = std::move(type);
  host.measured = request.measured;
  host.labels = request.labels;
  hosts_.add(std::move(host));
  changed();
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
  if (is_copy(*host, now_of(*host), report)) {
    return Refused{kHostConflict,
                   fmt::format("two daemons report as host {}, so one is a copy: `muster hosts "
                               "remove {}`, then join each with a --state folder of its own",
                               host->number, host->number)};
  }
  if (report.run != host->run) host->run_before = std::exchange(host->run, report.run);
  host->boot = report.boot;
  host->heard = setup_.since_boot();
  host->heard_s = now_s();
  host->present = report.instances;
  host->trouble = report.trouble;
  if (std::exchange(host->lost, false)) {
    note(fmt::format("host {} is back", host->number));
  }
  const bool is_left =
      host->use && std::ranges::find(host->present, host->use->instance) != host->present.end();
  // The machine acts on an answer before it reports again, so this report knows of the order.
  if (host->use && host->use->use == Use::ending && !is_left) free(*host, steps);
  const std::uint32_t number = host->number;
  auto fault = save(lock);
  // It may have been removed meanwhile.
  HostEntry* again = hosts_.find(number);
  if (!fault && again == nullptr) fault = Refused{kHostUnknown, "the machine was removed"};
  Expected<ReportAnswer, int> answer =
      fault ? Expected<ReportAnswer, int>(*fault) : answer_to(*again);
  lock.unlock();
  for (const auto& step : steps) step();
  return answer;
}

ReportAnswer HostBook::answer_to(HostEntry& host) {
  ReportAnswer answer{setup_.lease, setup_.report, {}};
  if (!host.use || host.use->use != Use::ordered || host.use->change > saved_) return answer;
  const InstanceId instance = host.use->instance;
  WantedInstance wanted{instance, {}};
  const bool is_there = std::ranges::find(host.present, instance) != host.present.end();
  const auto type = setup_.catalog->find(host.type);
  if (!is_there && type && setup_.settings) {
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

std::optional<Refused> HostBook::may_certify(const std::string& key_print,
                                             InstanceId instance) const {
  const std::lock_guard lock(mutex_);
  const HostEntry* host = hosts_.of_key(key_print);
  if (host != nullptr && host->use && host->use->instance == instance &&
      host->use->use == Use::ordered && host->use->change <= saved_) {
    return std::nullopt;
  }
  return Refused{kHostForbidden,
                 fmt::format("instance {} is not one of this machine", instance.value)};
}

}  // namespace muster::hosts
