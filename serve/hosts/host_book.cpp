#include "serve/hosts/host_book.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "model/check.hpp"
#include "serve/api/private_file.hpp"
#include "serve/api/token_record.hpp"

// One table under one mutex, which is never held for a wait. The file is one JSON document: a
// machine is a line of some 300 bytes, and few things change it.

namespace muster::hosts {
namespace {

using Json = nlohmann::ordered_json;
using Refused = Failure<int>;

constexpr std::size_t kMaxFile = std::size_t{16} << 20;
/// A clock that is further off would not take certificates that are made now.
constexpr std::int64_t kClockS = 240;

std::string random_digits(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  MUSTER_CHECK(RAND_bytes(random.data(), static_cast<int>(bytes)) == 1,
               "the system gives no random bytes");
  std::string text;
  for (const unsigned char each : random) text += fmt::format("{:02x}", each);
  return text;
}

std::string print_of_secret(const std::string& secret) {
  return api::hexadecimal(api::digest_of(secret));
}

/// In a time that does not tell how much of it is right.
bool is_secret_of(const JoinTokenRow& token, const std::string& secret) {
  const std::string print = print_of_secret(secret);
  return token.digest.size() == print.size() &&
         CRYPTO_memcmp(token.digest.data(), print.data(), print.size()) == 0;
}

Json token_json(const JoinTokenRow& token) {
  return {{"id", token.id},          {"digest", token.digest},       {"hosts", token.hosts},
          {"used", token.used},      {"created_s", token.created_s}, {"expires_s", token.expires_s},
          {"revoked", token.revoked}};
}

template <class T>
T value_of(const Json& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<bool>() : otherwise;
  } else {
    return found->is_number_integer() ? found->template get<T>() : otherwise;
  }
}

JoinTokenRow token_of(const Json& row) {
  JoinTokenRow token;
  token.id = value_of<std::string>(row, "id", "");
  token.digest = value_of<std::string>(row, "digest", "");
  token.hosts = value_of<std::uint32_t>(row, "hosts", 0);
  token.used = value_of<std::uint32_t>(row, "used", 0);
  token.created_s = value_of<std::int64_t>(row, "created_s", 0);
  token.expires_s = value_of<std::int64_t>(row, "expires_s", 0);
  token.revoked = value_of<bool>(row, "revoked", true);
  return token;
}

/// Why no machine may join by the token with that secret; nothing: one may.
std::optional<Refused> fault_of(const JoinTokenRow* token, const std::string& secret,
                                std::int64_t now_s) {
  const char* const again = "; an admin makes one: `muster join-token create`";
  if (token == nullptr || !is_secret_of(*token, secret)) {
    return Refused{kHostForbidden, std::string("the cluster has no such join token") + again};
  }
  if (token->revoked) {
    return Refused{kHostForbidden, fmt::format("the join token {} is revoked{}", token->id, again)};
  }
  if (now_s >= token->expires_s) {
    return Refused{kHostForbidden, fmt::format("the join token {} has expired {} s ago{}",
                                               token->id, now_s - token->expires_s, again)};
  }
  return std::nullopt;
}

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
  for (const Json& row : document["tokens"]) {
    const JoinTokenRow token = token_of(row);
    tokens_[token.id] = token;
  }
  next_ = value_of<std::uint32_t>(document, "next", 1);
  for (const Json& row : document["hosts"]) {
    HostEntry host = host_from_row(row);
    if (host.use) by_instance_[host.use->instance] = host.number;
    by_key_[host.key] = host.number;
    next_ = std::max(next_, host.number + 1);
    hosts_[host.number] = std::move(host);
  }
  return std::nullopt;
}

std::string HostBook::text() const {
  Json tokens = Json::array();
  for (const auto& [id, token] : tokens_) tokens.push_back(token_json(token));
  Json hosts = Json::array();
  for (const auto& [number, host] : hosts_) {
    hosts.push_back(to_row(host));
  }
  const Json document{{"version", 1}, {"next", next_}, {"tokens", tokens}, {"hosts", hosts}};
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
  if (hosts < 1 || hosts > kMaxHostsOfToken) {
    return Refused{kHostUnfit, fmt::format("hosts: has to be from 1 to {}", kMaxHostsOfToken)};
  }
  std::unique_lock lock(mutex_);
  const std::int64_t now = now_s();
  std::erase_if(tokens_, [&](const auto& each) {
    constexpr std::int64_t kKeptS = 30L * 86'400;
    return each.second.expires_s + kKeptS < now;
  });
  if (tokens_.size() >= kMaxJoinTokens) {
    return Refused{kHostConflict,
                   fmt::format("there are {} join tokens, and no more are kept: one goes 30 days "
                               "after its end",
                               kMaxJoinTokens)};
  }
  constexpr std::size_t kIdBytes = 4, kSecretBytes = 16;
  JoinToken made{random_digits(kIdBytes), random_digits(kSecretBytes), authority};
  while (tokens_.contains(made.id)) made.id = random_digits(kIdBytes);
  tokens_[made.id] = {made.id, print_of_secret(made.secret), hosts, 0, now, now + lifetime_s,
                      false};
  changed();
  if (auto fault = save(lock)) {
    tokens_.erase(made.id);
    return *std::move(fault);
  }
  return made;
}

Expected<JoinTokenRow, int> HostBook::revoke_token(const std::string& id) {
  std::unique_lock lock(mutex_);
  const auto found = tokens_.find(id);
  if (found == tokens_.end()) {
    return Refused{
        kHostUnknown,
        fmt::format("there is no join token '{}': `muster join-token list` shows them", id)};
  }
  found->second.revoked = true;
  changed();
  const JoinTokenRow row = found->second;
  if (auto fault = save(lock)) return *std::move(fault);
  return row;
}

std::vector<JoinTokenRow> HostBook::tokens() const {
  const std::lock_guard lock(mutex_);
  std::vector<JoinTokenRow> all;
  for (const auto& [id, token] : tokens_) all.push_back(token);
  return all;
}

HostEntry* HostBook::find(const std::string& key_print) {
  const auto found = by_key_.find(key_print);
  return found == by_key_.end() ? nullptr : &hosts_.at(found->second);
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
  const auto token = tokens_.find(request.token_id);
  const auto fault =
      fault_of(token == tokens_.end() ? nullptr : &token->second, request.secret, now_s());
  HostEntry* known = find(key_print);
  // The answer to the first request may have got lost; only who has the key can make use of it.
  if (known != nullptr && token != tokens_.end() && known->token == request.token_id &&
      is_secret_of(token->second, request.secret)) {
    return Joined{known->number, known->type};
  }
  if (fault) return *fault;
  auto added = add(request, key_print);
  if (!added) return added.error();
  const Joined joined{added.value()->number, added.value()->type};
  if (auto unwritten = save(lock)) return *std::move(unwritten);
  note(fmt::format("host {} joins: {} ({}), as {}, by the join token {}", joined.host, request.name,
                   amounts_text(request.measured), joined.type, request.token_id));
  return joined;
}

Expected<HostEntry*, int> HostBook::add(const JoinRequest& request, const std::string& key_print) {
  JoinTokenRow& token = tokens_.at(request.token_id);
  if (token.used >= token.hosts) {
    return Refused{kHostForbidden,
                   fmt::format("the join token {} is used up: {} of {} machines have joined by "
                               "it; an admin makes another: `muster join-token create`",
                               token.id, token.used, token.hosts)};
  }
  if (hosts_.size() >= kMaxHosts || by_key_.contains(key_print)) {
    return Refused{kHostConflict,
                   hosts_.size() >= kMaxHosts
                       ? fmt::format("the cluster has {} machines, and no more may join", kMaxHosts)
                       : "the machine's key has joined by another token: give `muster join` "
                         "another --state folder"};
  }
  std::string type = type_for(*setup_.catalog, request.measured);
  if (type.empty()) {
    return Refused{kHostUnfit,
                   fmt::format("no type of the cluster's catalog fits into the machine, which has "
                               "{}: the catalog (catalog in the cluster file) needs a smaller one",
                               amounts_text(request.measured))};
  }
  ++token.used;
  HostEntry& host = hosts_[next_];
  host.number = next_++;
  host.name = request.name;
  host.key = key_print;
  host.token = token.id;
  host.type = std::move(type);
  host.measured = request.measured;
  host.labels = request.labels;
  by_key_[key_print] = host.number;
  changed();
  return &host;
}

Expected<ReportAnswer, int> HostBook::report(const std::string& key_print, const Report& report) {
  Steps steps;
  std::unique_lock lock(mutex_);
  HostEntry* host = find(key_print);
  if (host == nullptr) {
    return Refused{kHostUnknown,
                   "the cluster does not know this machine (any more): remove its state folder "
                   "and join again"};
  }
  if (!host->run_before.empty() && report.run == host->run_before && report.run != host->run) {
    return Refused{kHostConflict,
                   fmt::format("two daemons report as host {}, so one is a copy: `muster hosts "
                               "remove {}`, then join each with a --state folder of its own",
                               host->number, host->number)};
  }
  if (report.run != host->run) host->run_before = std::exchange(host->run, report.run);
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
  const auto again = hosts_.find(number);
  if (!fault && again == hosts_.end()) fault = Refused{kHostUnknown, "the machine was removed"};
  Expected<ReportAnswer, int> answer =
      fault ? Expected<ReportAnswer, int>(*fault) : answer_to(again->second);
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
  const auto found = by_key_.find(key_print);
  const HostEntry* host = found == by_key_.end() ? nullptr : &hosts_.at(found->second);
  if (host != nullptr && host->use && host->use->instance == instance &&
      host->use->use == Use::ordered && host->use->change <= saved_) {
    return std::nullopt;
  }
  return Refused{kHostForbidden,
                 fmt::format("instance {} is not one of this machine", instance.value)};
}

}  // namespace muster::hosts
