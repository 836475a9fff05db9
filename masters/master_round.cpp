// The part of a master that turns plans into events and effects.

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "masters/master.hpp"
#include "masters/plan_resizes.hpp"
#include "model/feasible.hpp"

namespace muster {

void Master::round(std::span<const ThroughputSample> samples, Instant now) {
  auto wanted = begin_round(samples, now);
  if (!wanted) return;
  wanted->slice_parts = 0;
  take_plan(planner_->decide(*wanted), now);
  while (apply_slice(now)) continue;
}

std::optional<RoundWish> Master::begin_round(std::span<const ThroughputSample> samples,
                                             Instant now) {
  if (fleet_is_short_) keep_fleet(now);
  if (!busy()) return std::nullopt;
  if (known_.calm) end_calm(now, 1);
  if (const auto turn = known_.gangs.due(state_, now)) record(*turn, now);
  measure(samples, now);
  return wish(now);
}

RoundWish Master::wish(Instant now) const {
  return {.now = now, .rents = may_rent(), .budget = settings_.decision_budget};
}

/// What has happened since the decision stands in the log before it. Then nothing can be said of
/// whether a later round would change anything.
void Master::take_plan(PlannedRound&& planned, Instant now) {
  over_fleet_.clear();
  backed_off_ = known_.gangs.backed_off(state_, planned.round, now);
  turn_ = known_.gangs.turn(now);
  const std::uint64_t behind = known_.events - planned.based_on;
  record(RoundDecided{planned.round, std::move(planned.note), known_.quiet,
                      planned.settled && behind == 0, behind, now - planned.at,
                      planned.budget.allowed()},
         now);
  const Refusal malformed{
      RefusalKind::broken, RefusalCode::malformed, {}, static_cast<double>(planned.dropped), 0};
  if (planned.dropped > 0) record(PlanPartRefused{{}, {}, malformed}, now);
  slices_ = {std::make_move_iterator(planned.slices.begin()),
             std::make_move_iterator(planned.slices.end())};
}

bool Master::apply_slice(Instant now) {
  if (slices_.empty()) return false;
  const Plan slice = std::move(slices_.front());
  slices_.pop_front();
  apply_plan(slice, now);
  reconcile(now);
  return !slices_.empty();
}

void Master::measure(std::span<const ThroughputSample> samples, Instant now) {
  Measured measured;
  for (const ThroughputSample& sample : samples) {
    const bool repeated = !measured.samples.empty() && measured.samples.back().task == sample.task;
    if (!repeated && state_.find(sample.task) != nullptr) measured.samples.push_back(sample);
  }
  if (!measured.samples.empty()) record(std::move(measured), now);
}

bool Master::would_repeat(std::span<const ThroughputSample> samples) const {
  return calm() && std::equal(samples.begin(), samples.end(), known_.calm->measured.samples.begin(),
                              known_.calm->measured.samples.end());
}

/// Something happens. The regular rounds that were not held before it, but for the one that is held
/// now, would have measured what the last one did: that counts for each of them.
void Master::end_calm(Instant now, std::uint64_t held) {
  Calm calm = memory_.end_calm();
  const Duration period = cadence_.period;
  if (period <= Duration::zero()) return;
  const auto rounds_by = [&](Instant t) {
    return static_cast<std::uint64_t>((t - settings_.round_settle).time_since_epoch() / period);
  };
  const std::uint64_t passed = rounds_by(now) - rounds_by(calm.since);
  calm.measured.quiet = passed - std::min(passed, held);
  if (calm.measured.quiet > 0) record(std::move(calm.measured), now);
}

void Master::apply_plan(const Plan& plan, Instant now) {
  for (const Refuse& part : plan.refusals) {
    if (const auto refusal = check_refusal(part)) {
      record(PlanPartRefused{part.task, {}, *refusal}, now);
    } else {
      apply_refusal(part, now);
    }
  }
  const CheckedPlan checked = check_plan(plan, state_, limits(now));
  for (const auto& refusal : checked.launches) {
    if (refusal && refusal->code == RefusalCode::malformed) {
      record(PlanPartRefused{{}, {}, *refusal}, now);
    }
  }
  apply_places(plan, checked, now);
  apply_resizes(plan, checked, now);
  for (std::size_t i = 0; i < plan.stops.size(); ++i) {
    const Stop& stop = plan.stops[i];
    if (checked.stops[i]) {
      record(PlanPartRefused{stop.task, {}, *checked.stops[i]}, now);
      continue;
    }
    record(TaskUnassigned{stop.task, stop.cause}, now);
    stop_if_running(stop.task, now);
  }
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    const auto* id = std::get_if<InstanceId>(&plan.places[i].to);
    if (checked.places[i] && id != nullptr) release_if_unused(*id, now);
  }
  for (std::size_t i = 0; i < plan.releases.size(); ++i) {
    const Release& release = plan.releases[i];
    if (checked.releases[i]) {
      record(PlanPartRefused{{}, release.instance, *checked.releases[i]}, now);
      continue;
    }
    if (state_.find(release.instance)->released) continue;
    record(ReleaseDecided{release.instance, release.cause}, now);
  }
}

PlanLimits Master::limits(Instant now) const {
  // What was spent is asked of every instance: only where it counts.
  const double spent_usd = settings_.caps.max_usd_day > 0 ? spent_today_usd(now) : 0;
  PlanLimits limits{settings_.caps, spent_usd, {}, !fleet_.empty()};
  limits.caps.spend_margin = affordable_time();
  limits.backed_off = memory_.unavailable_offerings(now, may_rent());
  limits.stay = {now, settings_.min_stay};
  limits.backed_off_gangs = backed_off_;
  limits.turn = turn_;
  return limits;
}

/// While it is not known which numbers or which day it is, no offer counts.
bool Master::may_rent() const {
  return !asks_numbers_ && (settings_.caps.max_usd_day <= 0 || knows_cloud_clock_);
}

/// Asks for what the oldest job of the highest priority needs first: where the cloud has not enough
/// for all, one gang gets whole what several would get in parts. A gang that was refused already
/// comes after the others: what it cannot have does not keep them waiting.
std::vector<InstanceId> Master::order_launches(const Plan& plan, const CheckedPlan& checked,
                                               Instant now) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  using Key = std::tuple<std::uint32_t, std::int64_t, TaskId>;  // refusals, less priority, task
  std::vector<Key> oldest(plan.launches.size(), Key{kNever, 0, {}});
  for (const Place& part : plan.places) {
    const auto* launch = std::get_if<LaunchIndex>(&part.to);
    if (launch == nullptr || launch->value >= oldest.size()) continue;
    const TaskRow* task = state_.find(part.task);
    Key key{0, 0, part.task};
    if (task != nullptr) {
      const Job& job = state_.job(task->job).job;
      key = {known_.gangs.refusals(job.id), -std::int64_t{job.priority}, part.task};
    }
    oldest[launch->value] = std::min(oldest[launch->value], key);
  }
  std::vector<std::size_t> order(plan.launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return oldest[a] < oldest[b]; });
  std::vector<InstanceId> launched(plan.launches.size());
  for (std::size_t i : order) {
    if (!checked.launched(i)) continue;
    const Launch& launch = plan.launches[i];
    launched[i] = InstanceId{known_.next_instance};
    const OfferingRow& offer = *state_.offerings().find(launch.type, launch.market, launch.zone);
    const Price most = most_for(state_, launch);
    record(LaunchRequested{launched[i], launch.type, launch.market, offer.price, launch.cause,
                           launch.zone, most},
           now);
    commit_.effects.emplace_back(
        LaunchInstance{launched[i], launch.type, launch.market, launch.zone, most});
  }
  return launched;
}

void Master::apply_places(const Plan& plan, const CheckedPlan& checked, Instant now) {
  const std::vector<InstanceId> launched = order_launches(plan, checked, now);
  std::vector<Slot> moved_jobs;
  std::unordered_set<Slot> known_to_move;
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    const Place& part = plan.places[i];
    if (const auto& refusal = checked.places[i]) {
      // An array that waits for room is refused whole in every round.
      if (knows(part.task, *refusal)) continue;
      record(PlanPartRefused{part.task, {}, *refusal}, now);
      refuse(part.task, *refusal, now);
      continue;
    }
    const TaskRow& task = *state_.find(part.task);
    if (task.phase == TaskPhase::running && known_to_move.insert(task.job).second) {
      moved_jobs.push_back(task.job);
    }
    const auto* id = std::get_if<InstanceId>(&part.to);
    place(part, id != nullptr ? *id : launched[std::get<LaunchIndex>(part.to).value], now);
  }
  for (Slot job : moved_jobs) restart_peers(state_.job(job), now);
}

void Master::apply_resizes(const Plan& plan, const CheckedPlan& checked, Instant now) {
  for (std::size_t i = 0; i < plan.resizes.size(); ++i) {
    const Place part = place_of(state_, plan.resizes[i]);
    if (checked.resizes[i]) {
      record(PlanPartRefused{part.task, {}, *checked.resizes[i]}, now);
    } else {
      place(part, std::get<InstanceId>(part.to), now);
    }
  }
}

/// An instance that was meant for tasks which then got no place there, and that has no others, is
/// given back: it would only take the cloud's room away from what those tasks still lack.
void Master::release_if_unused(InstanceId id, Instant now) {
  const InstanceRow* row = state_.find(id);
  if (row == nullptr || row->released || !fleet_.empty()) return;
  if (!row->planned.empty() || !row->occupants.empty()) return;
  record(ReleaseDecided{id, {CauseCode::empty, -row->price.usd_h()}}, now);
}

void Master::place(const Place& place, InstanceId to, Instant now) {
  const InstanceRow& there = *state_.find(to);
  const Grant grant =
      grant_of(state_, {state_.find(place.task), there.type, there.market, place.grant});
  record(TaskAssigned{place.task, to, place.cause, grant}, now);
  stop_if_running(place.task, now);
}

void Master::stop_if_running(TaskId id, Instant now) {
  const TaskRow& task = *state_.find(id);
  if (task.phase != TaskPhase::running) return;
  const InstanceId on = state_.instance(task.at).id;
  record(StopIssued{id, task.attempt}, now);
  commit_.effects.emplace_back(StopTask{id, task.attempt, on});
}

/// The tasks of a gang run in step: when one moves, the others start again where they are.
void Master::restart_peers(const JobRow& job, Instant now) {
  if (!job.job.gang) return;
  const std::vector<Slot> tasks = job.tasks;
  for (Slot slot : tasks) {
    const TaskRow& peer = state_.task(slot);
    if (peer.phase != TaskPhase::running || peer.target == kNoSlot) continue;
    const InstanceId stays_on = state_.instance(peer.target).id;
    const Grant same = peer.planned;
    record(TaskAssigned{peer.id, stays_on, {CauseCode::gang_restart, 0}, same}, now);
    stop_if_running(peer.id, now);
  }
}

/// The task waits for just that reason. How often a gang has been refused counts.
bool Master::knows(TaskId id, const Refusal& refusal) const {
  const TaskRow* task = state_.find(id);
  return task != nullptr && task->phase == TaskPhase::pending && task->reason == refusal &&
         !state_.job(task->job).job.gang;
}

void Master::refuse(TaskId id, const Refusal& refusal, Instant now) {
  const TaskRow* task = state_.find(id);
  const bool waits =
      task != nullptr && (task->phase == TaskPhase::pending || task->phase == TaskPhase::assigned);
  if (!waits) return;
  const Refusal reason = reason_for(*task, refusal);
  if (task->reason != reason) record(TaskRefused{id, reason}, now);
}

/// What a task is told that was refused room: of a gang that is larger than the whole fleet that,
/// whatever part of it was refused for what.
const Refusal& Master::reason_for(const TaskRow& task, const Refusal& refusal) {
  const JobRow& job = state_.job(task.job);
  const bool for_room =
      refusal.code == RefusalCode::fixed_fleet || refusal.code == RefusalCode::awaiting_capacity ||
      refusal.code == RefusalCode::over_capacity || refusal.code == RefusalCode::awaiting_peers;
  if (fleet_.empty() || !job.job.gang || !for_room) return refusal;
  const auto [known, is_new] = over_fleet_.try_emplace(job.job.id);
  if (is_new) known->second = gang_over_fleet(job, state_);
  return known->second ? *known->second : refusal;
}

/// A policy's refusal. What can never run takes its job with it.
void Master::apply_refusal(const Refuse& part, Instant now) {
  refuse(part.task, part.refusal, now);
  const TaskRow* task = state_.find(part.task);
  if (task == nullptr || part.refusal.kind != RefusalKind::never) return;
  const JobId job = state_.job(task->job).job.id;
  if (!state_.find(job)->terminal_outcome) give_up(job, JobOutcome::refused, now);
}

/// Starts every task that can start where it is meant to be, and ends every instance that can end.
/// Only what has changed since the last time is looked at.
void Master::reconcile(Instant now) {
  candidates_.begin_pass(state_);
  while (const auto slot = candidates_.next(state_)) try_start(*slot, now);
  end_empty_instances(now);
}

/// The same for the tasks that a change on one instance concerns: those meant for it, and their
/// gangs. A change there must not cost a look at the whole cluster, nor at a whole gang that still
/// waits for others.
void Master::reconcile_at(InstanceId id, Instant now) {
  std::vector<Slot> concerned;
  std::vector<Slot> gangs;
  if (const InstanceRow* row = state_.find(id)) {
    for (Slot slot : row->planned) {
      const Slot job = state_.task(slot).job;
      concerned.push_back(slot);
      if (std::find(gangs.begin(), gangs.end(), job) != gangs.end()) continue;
      gangs.push_back(job);
      candidates_.gang_tasks_to_try(state_, job, concerned);
    }
  }
  for (Slot slot : concerned) try_start(slot, now);
  end_empty_instances(now);
}

/// The same for a task that has left its instance, and its gang.
void Master::reconcile_task(TaskId id, Instant now) {
  const TaskRow* row = state_.find(id);
  if (row == nullptr) return;
  std::vector<Slot> concerned;
  candidates_.gang_tasks_to_try(state_, row->job, concerned);
  concerned.push_back(row->slot);
  for (Slot slot : concerned) try_start(slot, now);
}

void Master::try_start(Slot slot, Instant now) {
  const TaskRow& task = state_.task(slot);
  if (task.phase != TaskPhase::assigned) return;
  if (gang_incomplete(state_.job(task.job))) {
    const Refusal reason{RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
    return unassign_gang(state_.job(task.job), reason, now);
  }
  if (const auto reason = start_blocker(task)) return refuse(task.id, *reason, now);
  const InstanceId on = state_.instance(task.target).id;
  const Attempt attempt = task.attempt + 1;
  const Grant grant = task.planned;
  record(StartIssued{task.id, on, attempt, grant}, now);
  commit_.effects.emplace_back(StartTask{task.id, attempt, on});
}

/// A task of the gang has no place, so that the others cannot start either.
bool Master::gang_incomplete(const JobRow& job) const {
  return job.job.gang && job.pending > 0;
}

/// What keeps a gang from starting: a task that has still to stop, or an instance that the cloud
/// may still refuse. Once every instance is up, each task starts as soon as its own is ready.
std::optional<Refusal> Master::gang_start_blocker(const JobRow& job) const {
  if (!job.job.gang || job.gang.blockers == 0) return std::nullopt;
  const TaskRow& first = state_.task(job.tasks[job.gang.first_blocker]);
  const bool stops = first.phase == TaskPhase::stopping;
  return Refusal{RefusalKind::not_now,
                 stops ? RefusalCode::awaiting_peers : RefusalCode::awaiting_instance,
                 {},
                 0,
                 0};
}

std::optional<Refusal> Master::start_blocker(const TaskRow& task) const {
  if (const auto reason = gang_start_blocker(state_.job(task.job))) return reason;
  const InstanceRow& place = state_.instance(task.target);
  if (place.phase != InstancePhase::ready) {
    return Refusal{RefusalKind::not_now, RefusalCode::awaiting_instance, {}, 0, 0};
  }
  const Resources& asked = task.planned.amount;
  const Resources& capacity = (*catalog_)[place.type].capacity;
  if (const auto binding = (place.used + asked).first_exceeding(capacity)) {
    return Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity, binding, asked[*binding],
                   capacity[*binding] - place.used[*binding]};
  }
  return std::nullopt;
}

void Master::end_empty_instances(Instant now) {
  std::vector<std::pair<std::uint64_t, InstanceId>> empty;  // in the order of their release
  for (InstanceId id : std::exchange(emptied_, {})) {
    const auto release = releasing_.find(id);
    if (release == releasing_.end() || !state_.find(id)->occupants.empty()) continue;
    empty.emplace_back(release->second, id);
  }
  std::sort(empty.begin(), empty.end());
  empty.erase(std::unique(empty.begin(), empty.end()), empty.end());
  for (const auto& [order, id] : empty) {
    record(TerminateIssued{id}, now);
    commit_.effects.emplace_back(EndInstance{id});
  }
}

}  // namespace muster
