// What the master does by the clock besides its policy's rounds. Each alarm is armed only while it
// has something to do: an order that the cloud has not answered, an instance whose worker is
// silent, a cap in reach, instances that may be gone without a word.

#include <algorithm>
#include <utility>

#include "masters/actor/master_actor.hpp"
#include "masters/instances/offering_news.hpp"

namespace muster {
namespace {

/// Asking after an instance begins with a pause of so many reminders.
constexpr int kRemindersToAsk = 6;
/// Instances that are asked after in one turn; those that are due besides have the next ones.
constexpr std::size_t kMostAsks = 1000;

/// Periods after which the throughputs of a calm cluster are looked at again, at the latest.
constexpr std::uint64_t kMaxQuietPause = 256;

}  // namespace

/// A regular round.
void MasterActorImpl::tick() {
  const Instant due = floor_to(timer_.now(), cadence_.period);
  if (due <= last_tick_) return await_tick();
  last_tick_ = due;
  want_round();
}

/// Arms the next regular round, which something that happened calls for.
void MasterActorImpl::await_tick() {
  const Duration period = cadence_.period;
  if (period <= Duration::zero() || master_.calm() || !master_.busy()) return;
  const Instant clock = timer_.now();
  const Instant due = floor_to(clock, period);
  if (due <= last_tick_ || clock >= due + setup_.settings.round_settle)
    return tick_.at(due + period);
  // What happens within the settling of a regular round takes part in it.
  last_tick_ = due;
  if (std::exchange(round_wanted_, true) || planning_) return;
  timer_.at(due + setup_.settings.round_settle, [this] { gather(); });
}

/// Nothing has happened since a round that changed nothing. Only throughputs may change without an
/// event: they are looked at again after pauses that double.
void MasterActorImpl::look_again() {
  if (!cadence_.wants_throughput || cadence_.period <= Duration::zero()) return;
  quiet_pause_ = std::clamp<std::uint64_t>(2 * quiet_pause_, 1, kMaxQuietPause);
  const Instant due = floor_to(timer_.now(), cadence_.period);
  tick_.at(due + cadence_.period * static_cast<Duration::rep>(quiet_pause_));
}

/// At the start, and when the cloud can be reached again: whatever was said meanwhile is lost.
void MasterActorImpl::start_watching() {
  knows_cloud_clock_ = false;
  master_.know_cloud_clock(false);
  send(setup_.cloud, greet_atom_v, MasterForCloud{this});
  reminder_.after(setup_.settings.watch.remind_every);
  for (const InstanceRow& row : master_.state().instances()) {
    await_worker(row.id, master_.catalog()[row.type].setup);
  }
  watch_cap();
  await_tick();
  ask_after_all();
}

/// The cloud's clock is as far ahead as any of its words has shown since it could be reached last:
/// those that took longer show less. What it showed before counts until then, but nothing is rented
/// for it: the cloud may have been started anew with another clock.
void MasterActorImpl::on_clock(const CloudReport& report) {
  const bool waited =
      report.kind == CloudReportKind::clock && master_.know_instances(report.newest);
  const Duration ahead = report.now - timer_.now();
  if (report.kind == CloudReportKind::clock && !std::exchange(knows_cloud_clock_, true)) {
    cloud_ahead_ = ahead;
    master_.know_cloud_clock(true);
    if (waited || master_.settings().caps.max_usd_day > 0) {
      order_fleet();
      commit();
      if (!master_.state().pending().empty()) want_round();
    }
  } else if (!knows_cloud_clock_ || ahead <= cloud_ahead_) {
    return;
  }
  cloud_ahead_ = ahead;
  watch_cap();
}

/// A change that is missing got lost on its way: the cloud tells all again when it is greeted. What
/// is still missing then it does not tell any more, as nothing is rented that it is about. Changes
/// that come before its answer are a part of that: heard at once they would make those before them
/// old news, and what was rented meanwhile would be billed at prices that it did not cost.
void MasterActorImpl::on_offerings(const CloudReport& report) {
  const bool is_answer = report.kind == CloudReportKind::clock;
  if (is_answer) gap_is_answered_ = true;
  if (report.changes.empty()) return;
  const bool settled = gap_after_ == master_.state().offerings().known() && gap_is_answered_;
  if (!is_answer && !settled && misses_change(master_.state(), report.changes)) {
    return ask_for_changes();
  }
  const bool repriced = master_.on_offerings(report.changes, now());
  if (repriced && cadence_.on_price) want_round();
  if (repriced) watch_cap();
}

/// Once for each gap.
void MasterActorImpl::ask_for_changes() {
  const std::uint64_t known = master_.state().offerings().known();
  if (gap_after_ == known && !gap_is_answered_) return;
  gap_after_ = known;
  gap_is_answered_ = false;
  send(setup_.cloud, greet_atom_v, MasterForCloud{this});
}

/// The end of an instance closes its bill: it is not heard before the changes of prices that the
/// cloud knew of by then. The cloud says it again when it is asked after its instances.
bool MasterActorImpl::comes_too_early(const CloudReport& end) {
  const std::uint64_t known = master_.state().offerings().known();
  if (end.last_change <= known || (gap_after_ == known && gap_is_answered_)) return false;
  ask_for_changes();
  end_came_early_ = true;
  return true;
}

void MasterActorImpl::watch_cap() {
  if (!cloud_ahead_) return;
  if (const auto wait = master_.until_cap(now())) cap_.after(*wait);
}

/// Arms what the events call for.
void MasterActorImpl::watch(const std::vector<Event>& events) {
  if (events.empty()) return;
  await_tick();
  bool ordered = false;
  bool rented = false;
  for (const Event& event : events) {
    if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
      const InstanceRow* row = master_.state().find(up->instance);
      if (row != nullptr) await_worker(row->id, master_.catalog()[row->type].setup);
    }
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      ask_later(launch->instance, shortest_ask_pause());
      rented = true;
    }
    ordered |= std::holds_alternative<TerminateIssued>(event.body);
  }
  if (ordered || rented) reminder_.after(setup_.settings.watch.remind_every);
  if (rented) watch_cap();
}

/// The instance is up and its worker cannot be spoken to: from now on it counts as silent. `more`
/// is what it may take besides.
void MasterActorImpl::await_worker(InstanceId id, Duration more) {
  const InstanceRow* row = master_.state().find(id);
  if (row == nullptr || !row->up || row->phase == InstancePhase::terminating) return;
  if (worker_on(id) != nullptr || unheard_.contains(id)) return;
  const Instant lost_at = timer_.now() + setup_.settings.watch.worker_lost_after + more;
  unheard_[id] = lost_at;
  silence_.at(lost_at);
}

/// A link that is down may mean that the instance is gone.
void MasterActorImpl::lose_worker(const caf::actor_addr& address) {
  const auto link = links_.find(address);
  if (link == links_.end()) return;
  const InstanceId id = link->second;
  links_.erase(link);
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second.worker.address() != address) return;
  found->second.worker = nullptr;
  end_log_readers(id);
  if (logs_) logs_->cut(id);
  await_worker(id, Duration::zero());
  reminder_.after(setup_.settings.watch.remind_every);
}

/// Orders that may have got lost on the way to the cloud, or whose answer may, are repeated; it is
/// asked after the instances of workers whose link went down.
void MasterActorImpl::remind() {
  master_.end_at_once();
  if (!knows_cloud_clock_) send(setup_.cloud, greet_atom_v, MasterForCloud{this});
  // What waits for a journal that takes nothing would be repeated without end behind it.
  if (!setup_.journal->trouble().empty()) {
    commit();
    return reminder_.after(setup_.settings.watch.remind_every);
  }
  master_.remind();
  bool goes_on = master_.awaits_cloud() || !knows_cloud_clock_;
  for (const auto& [id, lost_at] : unheard_) {
    if (!workers_.contains(id)) continue;  // it has yet to say hello for the first time
    master_.ask_after(id);
    goes_on = true;
  }
  commit();
  if (goes_on) reminder_.after(setup_.settings.watch.remind_every);
}

Duration MasterActorImpl::shortest_ask_pause() const {
  return kRemindersToAsk * setup_.settings.watch.remind_every;
}

void MasterActorImpl::ask_after_all() {
  asks_.clear();
  ask_pauses_.clear();
  for (const InstanceRow& row : master_.state().instances()) {
    ask_later(row.id, shortest_ask_pause());
  }
  if (!setup_.journal->trouble().empty()) return;
  master_.ask_after_all();
  commit();
}

/// The cloud is asked after the instance then, and again after twice the pause.
void MasterActorImpl::ask_later(InstanceId id, Duration pause) {
  const Instant due = timer_.now() + pause;
  asks_.emplace(due, id);
  ask_pauses_[id] = pause;
  asker_.at(due);
}

/// The cloud's word that an instance is gone, or will be, may have got lost without a trace. The
/// pauses from one asking after an instance to the next double, so that years of quiet cost little;
/// those after others change nothing in them. What is due soon is asked for along with the rest,
/// some at a time: each is a message of its own.
void MasterActorImpl::ask_due() {
  const Instant soon = timer_.now() + shortest_ask_pause() / 2;
  const bool takes_more = setup_.journal->trouble().empty();
  std::vector<InstanceId> due;
  while (!asks_.empty() && asks_.begin()->first <= soon && due.size() < kMostAsks) {
    due.push_back(asks_.extract(asks_.begin()).value().second);
  }
  for (InstanceId id : due) {
    const auto asked = ask_pauses_.extract(id);
    if (asked.empty() || master_.state().find(id) == nullptr) continue;
    if (takes_more) master_.ask_after(id);
    ask_later(id, std::max(shortest_ask_pause(),
                           std::min(2 * asked.mapped(), setup_.settings.watch.ask_pause)));
  }
  commit();
  if (master_.awaits_cloud() || !unheard_.empty())
    reminder_.after(setup_.settings.watch.remind_every);
  if (!asks_.empty()) asker_.at(asks_.begin()->first);
}

void MasterActorImpl::keep_caps() {
  if (cloud_ahead_) master_.keep_caps(now());
  commit();
  watch_cap();
}

/// Ends the instances of workers that were silent for too long. Only the cloud's word that an
/// instance is gone frees its tasks: a worker that is cut off may still run them.
void MasterActorImpl::end_lost() {
  const Instant clock = timer_.now();
  std::vector<InstanceId> lost;
  std::optional<Instant> next;
  for (const auto& [id, lost_at] : unheard_) {
    if (lost_at <= clock) {
      lost.push_back(id);
    } else if (!next || lost_at < *next) {
      next = lost_at;
    }
  }
  for (InstanceId id : lost) {
    unheard_.erase(id);
    master_.abandon(id, CauseCode::worker_lost, now());
  }
  if (next) silence_.at(*next);
  if (!lost.empty() && cadence_.on_capacity) want_round();
  commit();
}

}  // namespace muster
