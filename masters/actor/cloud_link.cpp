#include "masters/actor/cloud_link.hpp"

#include <algorithm>

#include "masters/instances/offering_news.hpp"

namespace muster {
namespace {

/// Reminders in the first pause from an instance's order to the question after it.
constexpr int kRemindersToAsk = 6;
/// Instances that are asked after in one turn; those that are due besides have the next ones.
constexpr std::size_t kMostAsks = 1000;

}  // namespace

CloudLink::CloudLink(const MasterWatch& watch, Host host) : watch_(watch), host_(std::move(host)) {}

void CloudLink::greet() {
  knows_clock_ = false;
  host_.greet();
}

void CloudLink::greet_again() {
  if (!knows_clock_) host_.greet();
}

CloudLink::ClockNews CloudLink::hear_clock(const CloudReport& report) {
  const Duration ahead = report.now - host_.now();
  if (report.kind == CloudReportKind::clock && !std::exchange(knows_clock_, true)) {
    ahead_ = ahead;
    return ClockNews::found;
  }
  if (!knows_clock_ || ahead <= ahead_) return ClockNews::none;
  ahead_ = ahead;
  return ClockNews::farther;
}

bool CloudLink::takes_changes(const CloudReport& report, std::uint64_t known) {
  const bool is_answer = report.kind == CloudReportKind::clock;
  if (is_answer) gap_is_answered_ = true;
  if (report.changes.empty()) return false;
  const bool settled = gap_after_ == known && gap_is_answered_;
  if (is_answer || settled || !misses_change(known, report.changes)) return true;
  ask_for_changes(known);
  return false;
}

bool CloudLink::takes_end(const CloudReport& end, std::uint64_t known) {
  if (end.last_change <= known || (gap_after_ == known && gap_is_answered_)) return true;
  ask_for_changes(known);
  end_came_early_ = true;
  return false;
}

/// Once for each gap.
void CloudLink::ask_for_changes(std::uint64_t known) {
  if (gap_after_ == known && !gap_is_answered_) return;
  gap_after_ = known;
  gap_is_answered_ = false;
  host_.greet();
}

Duration CloudLink::shortest_pause() const {
  return kRemindersToAsk * watch_.remind_every;
}

void CloudLink::restart_asks(const std::vector<InstanceId>& ids) {
  asks_.clear();
  pauses_.clear();
  for (const InstanceId id : ids) ask_later(id, shortest_pause());
}

/// The cloud is asked after the instance then, and again after twice the pause.
void CloudLink::ask_later(InstanceId id, Duration pause) {
  const Instant due = host_.now() + pause;
  asks_.emplace(due, id);
  pauses_[id] = pause;
  host_.wake(due);
}

void CloudLink::ask_due(const std::function<bool(InstanceId)>& ask) {
  const Instant soon = host_.now() + shortest_pause() / 2;
  std::vector<InstanceId> due;
  while (!asks_.empty() && asks_.begin()->first <= soon && due.size() < kMostAsks) {
    due.push_back(asks_.extract(asks_.begin()).value().second);
  }
  for (const InstanceId id : due) {
    const auto asked = pauses_.extract(id);
    if (asked.empty() || !ask(id)) continue;
    ask_later(id, std::max(shortest_pause(), std::min(2 * asked.mapped(), watch_.ask_pause)));
  }
  if (!asks_.empty()) host_.wake(asks_.begin()->first);
}

}  // namespace muster
