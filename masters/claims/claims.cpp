#include "masters/claims/claims.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "masters/instances/capped.hpp"
#include "masters/room_rules.hpp"
#include "model/day_spend.hpp"
#include "model/feasible.hpp"
#include "model/task_wanted.hpp"

namespace muster {
namespace {

/// Doublings that make any rest as long as it may be.
constexpr std::uint32_t kMostRests = 32;

bool runs_whole(const JobRow& job) {
  return job.job.gang && job.tasks.size() > 1;
}

Instant next_day(Instant now) {
  return Instant{(day_of(now) + 1) * kCapDay};
}

}  // namespace

std::optional<Price> least_price(const ClusterState& state, const TaskRow& task) {
  std::optional<Price> least;
  for (const OfferingRow& row : state.offerings().rows()) {
    if (!row.available || (least && *least <= row.price)) continue;
    if (!why_infeasible(state, {&task, row.key.type, row.key.market})) least = row.price;
  }
  return least;
}

struct Claims::Fold {
  Claims& c;
  const ClusterState& state;
  Instant at;

  void operator()(const JobAccepted& e) { ++c.by_priority_[e.job.priority]; }

  void operator()(const PlanPartRefused& e) {
    if (e.task.valid()) refused(e.task, e.refusal);
  }
  void operator()(const TaskRefused& e) { refused(e.task, e.refusal); }

  void refused(TaskId id, const Refusal& refusal) {
    if (!c.is_bounded(refusal.code)) return;
    const TaskRow* task = state.find(id);
    if (task == nullptr || task->phase != TaskPhase::pending) return;
    const JobRow& job = state.job(task->job);
    if (job.terminal_outcome) return;
    RoomWait& wait = wait_of(job, id, refusal);
    wait.task = id;
    // That room is kept for another job says less than what it was that it lacked.
    if (refusal.code != RefusalCode::kept_room) c.learn(job, refusal);
    // A day's money comes back at midnight by the clock that bills.
    if (refusal.code == RefusalCode::day_cap) {
      return c.rest(job, next_day(at + c.book_.cloud_ahead), RestFor::money);
    }
    learn_need(job, refusal);
  }

  /// A gang says itself how much it needs.
  void learn_need(const JobRow& job, const Refusal& refusal) {
    if (!c.book_.claim || c.book_.claim->room.place.job != job.job.id || !runs_whole(job)) return;
    KeptRoom& room = c.book_.claim->room;
    if (refusal.code == RefusalCode::instance_cap) {
      room.instances = static_cast<std::uint32_t>(refusal.asked);
    } else if (refusal.code == RefusalCode::spend_cap) {
      room.nano_usd_h = Price::from_usd_h(refusal.asked).nano_usd_h();
    }
  }

  RoomWait& wait_of(const JobRow& job, TaskId id, const Refusal& refusal) {
    const auto [wait, is_new] =
        c.book_.waits.try_emplace(job.job.id, RoomWait{id, at, refusal, {}, 0, false});
    if (is_new) c.ready_.insert(key_of(job));
    return wait->second;
  }

  /// Gangs that the cloud refuses have turns. One job's other tasks may have been meant for it too.
  void operator()(const LaunchRefused& e) {
    if (!is_full_cloud(e.refusal.code)) return lost_before_they_came(*state.find(e.instance));
    std::map<Slot, TaskId> first_of;  // of each job
    for (Slot slot : state.find(e.instance)->planned) {
      const TaskRow& task = state.task(slot);
      // One that runs elsewhere and was only to move there does not wait.
      if (task.phase == TaskPhase::assigned) first_of.try_emplace(task.job, task.id);
    }
    for (const auto& [slot, task] : first_of) {
      const JobRow& job = state.job(slot);
      if (!runs_whole(job) && !job.terminal_outcome) refused_by_cloud(job, task, e.refusal);
    }
  }
  void refused_by_cloud(const JobRow& job, TaskId task, const Refusal& refusal) {
    RoomWait& wait = wait_of(job, task, refusal);
    wait.task = task;
    c.learn(job, refusal);
    if (c.rests_at(wait, at)) return;
    // An instance less was of no use, or there is no instance that could be closed.
    const bool claimed = c.book_.claim && c.book_.claim->room.place.job == job.job.id;
    if (claimed || state.instances().size() < 2) c.rest_longer(job, at);
  }

  void operator()(const TaskAssigned& e) {
    const TaskRow& task = *state.find(e.task);
    if (task.phase != TaskPhase::pending) return;
    const JobRow& job = state.job(task.job);
    if (job.pending <= 1) return c.forget(job);
    if (!runs_whole(job)) drop(job.job.id);
  }
  /// One that was refused while it left its place is not refused again for a reason that stands.
  void operator()(const TaskCheckpointed& e) {
    const TaskRow& task = *state.find(e.task);
    const JobRow& job = state.job(task.job);
    if (task.target != kNoSlot || job.held_by_user || job.terminal_outcome) return;
    if (c.is_bounded_wait(task.reason)) {
      wait_of(job, e.task, task.reason);
    } else {
      lost(task);
    }
  }
  void operator()(const TaskUnassigned& e) {
    if (state.find(e.task)->phase == TaskPhase::assigned) lost(*state.find(e.task));
  }
  void operator()(const TaskFailed& e) {
    if (!e.for_good && !e.retry_at) lost(*state.find(e.task));
  }
  void operator()(const InstanceGone& e) {
    const InstanceRow& gone = *state.find(e.instance);
    const auto is_left = [&](Slot slot) {
      const Slot target = state.task(slot).target;
      return target == gone.slot || target == kNoSlot;
    };
    for (Slot slot : gone.occupants) {
      if (is_left(slot)) lost(state.task(slot));
    }
    lost_before_they_came(gone);
  }
  /// Tasks that run elsewhere stay there.
  void lost_before_they_came(const InstanceRow& instance) {
    for (Slot slot : instance.planned) {
      if (state.task(slot).phase == TaskPhase::assigned) lost(state.task(slot));
    }
  }
  void operator()(const JobReleased& e) {
    const JobRow& job = *state.find(e.job);
    // Of others it is said task by task, later, which of them come to wait.
    const bool is_plain = job.job.service() == nullptr && job.width == 0;
    const bool waits = is_plain && job.held > 0 && job.room_in_flight() > 0;
    if (waits && !job.terminal_outcome) join(job, state.task(job.tasks.front()).id);
  }
  /// The task is to wait again. While room is kept for one job after the other no round may come
  /// to this one, so that nothing would refuse it: it would have no place among those that wait,
  /// however early it came.
  void lost(const TaskRow& task) {
    const JobRow& job = state.job(task.job);
    if (is_beyond_width(task, job) || is_unwanted(task, job)) return;
    if (!job.terminal_outcome && !job.held_by_user) join(job, task.id);
  }
  void join(const JobRow& job, TaskId task) {
    // Jobs that rest keep no room from others.
    if (!c.book_.claim && c.ready_.empty()) return;
    wait_of(job, task, {RefusalKind::not_now, RefusalCode::kept_room, {}, 0, 0});
  }
  void operator()(const JobFinished& e) {
    const JobRow& job = *state.find(e.job);
    const auto count = c.by_priority_.find(job.job.priority);
    if (count != c.by_priority_.end() && --count->second == 0) c.by_priority_.erase(count);
    c.forget(job);
  }
  void operator()(const JobTerminating& e) { c.forget(*state.find(e.job)); }
  void operator()(const JobHeld& e) { c.forget(*state.find(e.job)); }

  void operator()(const RoomClaimed& e) {
    const JobRow& job = *state.find(e.job);
    // Under the settings of now what refused it may not have been a lack of room.
    if (!c.book_.waits.contains(e.job)) return;
    if (e.instances == 0 && e.closed.empty()) return c.rest_longer(job, at);
    std::optional<RoomClaim>& claim = c.book_.claim;
    if (!claim || claim->room.place.job != e.job) claim.emplace().since = at;
    claim->room = {e.task, queue_place_of(job), e.closed, e.instances, e.price.nano_usd_h()};
    claim->short_of = e.short_of;
    claim->chosen_at = at;
  }
  void operator()(const RoundDecided& e) {
    c.book_.cloud_ahead = e.ahead;
    c.wake(state, at - e.took);
    if (!c.book_.claim) return;
    std::optional<std::uint64_t>& first = c.book_.claim->first_round;
    if (!c.has_room(state)) {
      first.reset();  // others have taken it, and not the job has left it
    } else if (!first) {
      first = e.round;
    }
  }
  template <class Other>
  void operator()(const Other&) {}

  void drop(JobId id) {
    if (c.book_.claim && c.book_.claim->room.place.job == id) c.book_.claim.reset();
  }
};

void Claims::absorb(const Event& event, const ClusterState& state) {
  if (on_) std::visit(Fold{*this, state, event.at}, event.body);
}

bool Claims::is_bounded(RefusalCode code) const {
  return can_be_claimed(lack_of(code), settings_.caps.any());
}

/// A task that has lost its place keeps what it was told there, and was refused nothing since.
bool Claims::is_bounded_wait(const Refusal& reason) const {
  return reason.code != RefusalCode::awaiting_capacity && is_bounded(reason.code);
}

void Claims::forget(const JobRow& job) {
  const auto wait = book_.waits.find(job.job.id);
  if (wait == book_.waits.end()) return;
  ready_.erase(key_of(job));
  those_that_rest(wait->second).erase({wait->second.unavailable_until, job.job.id});
  book_.waits.erase(wait);
  if (book_.claim && book_.claim->room.place.job == job.job.id) book_.claim.reset();
}

/// It never claims any room, and blocks no other job.
bool Claims::is_hopeless(const RoomWait& wait) const {
  const double cap = settings_.caps.max_usd_day;
  return wait.short_of.code == RefusalCode::day_cap && cap > 0 && wait.short_of.asked > cap;
}

void Claims::learn(const JobRow& job, const Refusal& refusal) {
  RoomWait& wait = book_.waits.at(job.job.id);
  const bool was_hopeless = is_hopeless(wait);
  wait.short_of = refusal;
  if (was_hopeless && !is_hopeless(wait)) ready_.insert(key_of(job));
}

void Claims::rest(const JobRow& job, Instant until, RestFor what) {
  RoomWait& wait = book_.waits.at(job.job.id);
  ready_.erase(key_of(job));
  those_that_rest(wait).erase({wait.unavailable_until, job.job.id});
  if (is_hopeless(wait)) until = {};
  wait.unavailable_until = until;
  wait.unpaid = what == RestFor::money;
  if (until > Instant{}) those_that_rest(wait).emplace(until, job.job.id);
  if (book_.claim && book_.claim->room.place.job == job.job.id) book_.claim.reset();
}

void Claims::rest_longer(const JobRow& job, Instant now) {
  RoomWait& wait = book_.waits.at(job.job.id);
  const Duration length = rest_after(wait.rests);
  wait.rests = std::min(wait.rests + 1, kMostRests);
  rest(job, now + length, RestFor::room);
}

/// Doubled with each rest, up to the longest.
Duration Claims::rest_after(std::uint32_t rests) const {
  const Duration first = std::max(settings_.launch_backoff, settings_.starve_after);
  Duration length = first;
  for (; rests > 0 && length < settings_.gangs.longest; --rests) length *= 2;
  return std::max(first, std::min(length, settings_.gangs.longest));
}

void Claims::wake(const ClusterState& state, Instant now) {
  const auto wake_until = [&](Resting& resting, Instant until) {
    while (!resting.empty() && resting.begin()->first <= until) {
      const JobId id = resting.begin()->second;
      resting.erase(resting.begin());
      const JobRow* job = state.find(id);
      if (job == nullptr) continue;
      book_.waits.at(id).unavailable_until = {};
      book_.waits.at(id).unpaid = false;
      ready_.insert(key_of(*job));
    }
  };
  wake_until(resting_, now);
  wake_until(unpaid_, now + book_.cloud_ahead);
}

bool Claims::rests_at(const RoomWait& wait, Instant now) const {
  return wait.unavailable_until > (wait.unpaid ? now + book_.cloud_ahead : now);
}

std::optional<Instant> Claims::rests_until(const RoomWait& wait) const {
  if (wait.unavailable_until == Instant{}) return std::nullopt;
  return wait.unavailable_until - (wait.unpaid ? book_.cloud_ahead : Duration{});
}

std::optional<Instant> Claims::by_age(const JobRow& job) const {
  const bool goes_before = !by_priority_.empty() && by_priority_.begin()->first < job.job.priority;
  if (!on_ || goes_before) return std::nullopt;
  return job.accepted_at + settings_.starve_after;
}

/// The first in the order of the queue of those that do not rest, or have rested by now: the round
/// that is to come wakes them only when it has been decided, and by then the money of a new day is
/// spent.
std::vector<const JobRow*> Claims::those_that_wait(const ClusterState& state, const Clocks& clocks,
                                                   std::size_t most) const {
  std::vector<const JobRow*> found;
  // A job may be as wide as it is by now without those of its tasks that waited.
  const auto add = [&](const JobRow* job) {
    if (job != nullptr && job->pending > 0) found.push_back(job);
  };
  for (const Key& key : ready_) {
    if (found.size() == most) break;
    add(state.find(std::get<JobId>(key)));
  }
  const auto add_until = [&](const Resting& resting, Instant until) {
    for (const auto& [rests_until, id] : resting) {
      if (rests_until > until) break;
      add(state.find(id));
    }
  };
  add_until(resting_, clocks.now);
  add_until(unpaid_, clocks.now + clocks.cloud_ahead);
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), end, found.end(),
                    [](const JobRow* a, const JobRow* b) { return key_of(*a) < key_of(*b); });
  found.erase(end, found.end());
  return found;
}

std::vector<JobId> Claims::due(const ClusterState& state, const Clocks& clocks,
                               std::size_t most) const {
  std::vector<JobId> due;
  const KeptRoom* kept = this->kept();
  for (const JobRow* job : those_that_wait(state, clocks, most)) {
    if (kept != nullptr && !queue_place_of(*job).is_before(kept->place)) break;
    const RoomWait& wait = book_.waits.at(job->job.id);
    // Nothing has refused it since it lost its place. If it took the claim of the job that waits,
    // one that fails again and again would undo what has emptied for that, each time.
    if (kept != nullptr && wait.short_of.code == RefusalCode::kept_room) continue;
    // A job that a full cloud refuses is not asked for again at once, whatever its priority.
    const Instant when = is_full_cloud(wait.short_of.code)
                             ? job->accepted_at + settings_.starve_after
                             : by_age(*job).value_or(clocks.now);
    if (when > clocks.now) break;
    due.push_back(job->job.id);
  }
  return due;
}

bool Claims::is_late(Instant now) const {
  if (!book_.claim || now < book_.claim->chosen_at + settings_.starve_after) return false;
  return std::ranges::all_of(book_.claim->room.closed, [now](const ClosedInstance& closed) {
    return !closed.until || *closed.until <= now;
  });
}

/// The caps leave what the job needs to be rented for.
bool Claims::caps_have_room(const ClusterState& state) const {
  const MasterCaps& caps = settings_.caps;
  const KeptRoom& room = book_.claim->room;
  if (caps.max_instances == 0 && caps.max_usd_h == 0) return true;
  const Capped rented = capped(state, owns_fleet_);
  if (caps.max_instances > 0 && rented.instances + room.instances > caps.max_instances) {
    return false;
  }
  const Price together = Price::from_nano_usd_h(rented.nano_usd_h + room.nano_usd_h);
  return caps.max_usd_h == 0 || together <= Price::from_usd_h(caps.max_usd_h);
}

/// Whether it could be rented for now, as far as the master can know.
bool Claims::has_room(const ClusterState& state) const {
  const RoomClaim& claim = *book_.claim;
  if (claim.room.instances == 0) return false;
  // An instance less is what a full cloud may have room by.
  const bool waits = is_full_cloud(claim.short_of.code) &&
                     std::ranges::any_of(claim.room.closed, [&](const ClosedInstance& closed) {
                       return state.find(closed.instance) != nullptr;
                     });
  return !waits && caps_have_room(state);
}

bool Claims::is_not_taken(std::uint64_t round) const {
  return book_.claim && book_.claim->first_round &&
         round >= *book_.claim->first_round + kRoundsOfClaim;
}

std::optional<JobId> Claims::turn(const ClusterState& state, std::uint64_t round) const {
  if (!book_.claim || !has_room(state)) return std::nullopt;
  const RoomClaim& claim = *book_.claim;
  const bool was_there = claim.first_round && *claim.first_round < round;
  // Whether a full cloud has room for two is not known.
  if (!was_there && !is_full_cloud(claim.short_of.code)) return std::nullopt;
  return claim.room.place.job;
}

const RoomWait* Claims::wait_of(JobId id) const {
  const auto found = book_.waits.find(id);
  return found == book_.waits.end() ? nullptr : &found->second;
}

/// Snapshots of earlier versions do not list them, and whoever waits for the same reason as before
/// is not refused again.
void Claims::add_those_that_wait(const ClusterState& state) {
  if (!on_) return;
  for (const TaskRow& task : state.pending()) {
    if (!is_bounded_wait(task.reason)) continue;
    const JobRow& job = state.job(task.job);
    if (job.terminal_outcome) continue;
    book_.waits.try_emplace(job.job.id,
                            RoomWait{task.id, job.accepted_at, task.reason, {}, 0, false});
  }
}

void Claims::restore(RoomWaits book, const ClusterState& state) {
  book_ = std::move(book);
  if (!on_) book_ = {};
  for (const JobRow& job : state.jobs()) ++by_priority_[job.job.priority];
  add_those_that_wait(state);
  for (const auto& [id, wait] : book_.waits) {
    const JobRow* job = state.find(id);
    if (job == nullptr) continue;
    if (is_hopeless(wait)) continue;
    if (wait.unavailable_until > Instant{}) {
      those_that_rest(wait).emplace(wait.unavailable_until, id);
    } else {
      ready_.insert(key_of(*job));
    }
  }
}

}  // namespace muster
