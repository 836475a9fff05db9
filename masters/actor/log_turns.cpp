#include "masters/actor/log_turns.hpp"

namespace muster {
namespace {

/// Attempts whose output comes across at once; of one instance; of one that gives trouble.
constexpr std::size_t kMaxActive = 64;
constexpr std::size_t kMaxActiveEach = 4;
constexpr std::size_t kMaxActiveProbing = 1;

}  // namespace

void LogTurns::add(const LogName& name, InstanceId on) {
  sources_[on].names.insert(name);
}

void LogTurns::remove(const LogName& name, InstanceId on) {
  const auto source = sources_.find(on);
  source->second.names.erase(name);
  if (source->second.names.empty()) sources_.erase(source);
}

std::set<LogName> LogTurns::of(InstanceId id) const {
  const auto source = sources_.find(id);
  return source == sources_.end() ? std::set<LogName>{} : source->second.names;
}

/// It has its turn when something waits there and nothing speaks against asking for it.
void LogTurns::enlist(InstanceId id) {
  Source& source = sources_.at(id);
  const std::size_t most = source.silent || source.refused ? kMaxActiveProbing : kMaxActiveEach;
  if (source.in_turn || source.until || source.waiting.empty() || source.active >= most) return;
  source.in_turn = true;
  turns_.push_back(id);
}

void LogTurns::wait(const LogName& name, InstanceId on) {
  sources_.at(on).waiting.push_back(name);
  enlist(on);
}

std::optional<LogName> LogTurns::next(
    const std::function<bool(const LogName&, InstanceId)>& waits) {
  while (!all_until_ && active_ < kMaxActive && !turns_.empty()) {
    const InstanceId id = turns_.front();
    turns_.pop_front();
    const auto source = sources_.find(id);
    if (source == sources_.end() || !std::exchange(source->second.in_turn, false)) continue;
    if (source->second.until) continue;
    std::deque<LogName>& waiting = source->second.waiting;
    while (!waiting.empty() && !waits(waiting.front(), id)) waiting.pop_front();
    if (waiting.empty()) continue;
    const LogName name = waiting.front();
    waiting.pop_front();
    ++active_;
    ++source->second.active;
    enlist(id);
    return name;
  }
  return std::nullopt;
}

void LogTurns::leave(InstanceId on) {
  --active_;
  --sources_.at(on).active;
  enlist(on);
}

void LogTurns::rest(InstanceId on, Instant until) {
  sources_.at(on).until = until;
  rests_.insert({until, on});
}

void LogTurns::end_rests(Instant now) {
  if (all_until_ && *all_until_ <= now) all_until_.reset();
  while (!rests_.empty() && rests_.begin()->first <= now) {
    const InstanceId id = rests_.extract(rests_.begin()).value().second;
    const auto source = sources_.find(id);
    if (source == sources_.end() || !source->second.until) continue;
    if (*source->second.until > now) continue;  // it gave trouble once more
    source->second.until.reset();
    enlist(id);
  }
}

std::optional<Instant> LogTurns::next_rest() const {
  if (rests_.empty()) return all_until_;
  const Instant first = rests_.begin()->first;
  return all_until_ ? std::min(first, *all_until_) : first;
}

void LogTurns::answered(InstanceId on) {
  sources_.at(on).silent = false;
  enlist(on);
}

bool LogTurns::is_silent(InstanceId id) const {
  const auto source = sources_.find(id);
  return source != sources_.end() && source->second.silent;
}

void LogTurns::written(InstanceId on, bool written) {
  sources_.at(on).refused = !written;
  if (written) enlist(on);
}

}  // namespace muster
