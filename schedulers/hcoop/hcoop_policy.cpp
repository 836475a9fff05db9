#include "schedulers/hcoop/hcoop_policy.hpp"

#include <algorithm>
#include <utility>

#include "schedulers/packing/rounds/named_in_event.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// Follows events rather than reading the state: every index is brought up to date by the tasks and
// instances that an event names, and a round looks at what has changed. A policy that was not fed,
// or whose set of types changes, rebuilds everything from the state.

namespace muster::hcoop {
HcoopPolicy::HcoopPolicy(const Catalog& catalog, const HcoopParams& params)
    : catalog_(&catalog),
      params_(params),
      feasible_types_(catalog),
      free_capacity_(feasible_types_),
      waiting_(params) {}

Cadence HcoopPolicy::cadence() const {
  return {.period = params_.period, .on_arrival = true, .on_capacity = true};
}

void HcoopPolicy::rebuild(const ClusterView& view) {
  const ClusterState& state = view.state;
  feasible_types_ = FeasibleTypes(*catalog_);
  feasible_types_.reprice(state.offerings());
  if (!view.rents()) {
    feasible_types_.begin_fleet();
    for (const InstanceRow& row : state.instances())
      feasible_types_.add_to_fleet(row.type, row.market);
  }
  feasible_types_.learn(state);
  rebuild_free_capacity(view);
  waiting_.rebuild(state, feasible_types_);
  in_flight_.clear();
  retry_ = {};
  built_ = true;
}

void HcoopPolicy::rebuild_free_capacity(const ClusterView& view) {
  free_capacity_ = FreeCapacityIndex(feasible_types_);
  free_capacity_.set_ready_only(!view.rents());
  for (const InstanceRow& row : view.state.instances()) {
    free_capacity_.follow(view.state, feasible_types_, row.id, view.now);
  }
}

void HcoopPolicy::observe(const Event& event, const ClusterView& view) {
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    // Another type in the fleet: another reference, other companions.
    if (!view.rents() && feasible_types_.add_to_fleet(launch->type, launch->market)) built_ = false;
  }
  if (const auto* changed = std::get_if<OfferingChanged>(&event.body)) {
    // Another type on offer: likewise. Other prices are looked at when a round is held.
    if (view.rents() && feasible_types_.lacks(changed->change.offering)) built_ = false;
  }
  built_ ? follow(event, view) : rebuild(view);
  if (std::holds_alternative<RoundDecided>(event.body)) end_round(view);
}

void HcoopPolicy::follow(const Event& event, const ClusterView& view) {
  const ClusterState& state = view.state;
  std::vector<Slot> changed = tasks_named_in(event, state);
  const InstanceId instance = instance_named_in(event);
  // Such events name no task, but may put some back into the queue.
  if (instance.valid()) changed = new_at_the_end(state);
  // Before the tasks are followed: their records still say where they were, and a task that has
  // been interrupted begins to wait at the front.
  note_interruptions(event, state, changed);
  for (Slot slot : changed) follow_task(slot, view);
  // The job's rows have left the state; its places are known to waiting_ alone.
  if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    for (InstanceId id : waiting_.forget(over->job, feasible_types_)) {
      free_capacity_.follow(state, feasible_types_, id, view.now);
    }
  }
  if (instance.valid()) free_capacity_.follow(state, feasible_types_, instance, view.now);
}

/// Tasks that came to wait because of an instance: they are at the end of the list.
std::vector<Slot> HcoopPolicy::new_at_the_end(const ClusterState& state) const {
  std::vector<Slot> slots;
  for (Slot slot = state.last_pending(); slot != kNoSlot; slot = state.task(slot).queue.prev) {
    if (waiting_.known_to_wait(state.task(slot))) break;
    slots.push_back(slot);
  }
  std::reverse(slots.begin(), slots.end());
  return slots;
}

void HcoopPolicy::follow_task(Slot slot, const ClusterView& view) {
  for (InstanceId before : waiting_.follow(view.state, feasible_types_, slot)) {
    if (before.valid()) free_capacity_.follow(view.state, feasible_types_, before, view.now);
  }
  const TaskRow& row = view.state.task(slot);
  if (row.target == kNoSlot) return;
  free_capacity_.follow(view.state, feasible_types_, view.state.instance(row.target).id, view.now);
}

/// A task is interrupted when the cloud announces that it takes its instance, or takes it without
/// a word.
void HcoopPolicy::note_interruptions(const Event& event, const ClusterState& state,
                                     const std::vector<Slot>& changed) {
  if (const auto* lost = std::get_if<TaskUnassigned>(&event.body)) {
    if (lost->cause.code != CauseCode::interrupted) return;
    if (const TaskRow* row = state.find(lost->task)) waiting_.note_interruption(state, *row);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    // The instance is followed last, so that its market is still known here.
    if (free_capacity_.market_of(gone->instance) != Market::spot) return;
    for (Slot slot : changed) {
      const TaskRow& row = state.task(slot);
      if (waiting_.planned_at(row) == gone->instance) waiting_.note_interruption(state, row);
    }
  }
}

/// Units that the last plan had a place for and that still wait did not get it: the plan check or
/// the cloud refused. They wait like the others from here on, and ask the cloud again at ticks
/// only.
void HcoopPolicy::take_back_refused() {
  for (PlacementUnitId id : std::exchange(in_flight_, {})) {
    PlacementUnit& unit = waiting_.unit(id);
    if (!std::exchange(unit.placed, false)) continue;
    unit.refused = true;
    if (!unit.queued) waiting_.enqueue(id, feasible_types_);
  }
}

Plan HcoopPolicy::decide(const ClusterView& view, Rng&, Budget&) {
  // A policy that has seen no event yet.
  if (!built_) rebuild(view);
  if (waiting_.size() > 0) {
    ahead_ = true;
    Plan plan = hold_round(view);
    use_cheapest_types(view, feasible_types_.mask(), plan);
    tell_who_is_kept_apart(view, plan);
    return plan;
  }
  PlacementRound round({view, params_, feasible_types_, free_capacity_, waiting_});
  if (view.rents()) round.release_idle();
  return round.take_plan();
}

/// Packs what came to wait and looks at what may have a place now: the one part of a round after
/// which more is remembered than before.
Plan HcoopPolicy::hold_round(const ClusterView& view) {
  feasible_types_.reprice(view.state.offerings());
  feasible_types_.learn(view.state);
  take_back_refused();
  if (view.kept != nullptr) {
    for (const ClosedInstance& closed : view.kept->closed) {
      if (view.state.find(closed.instance) != nullptr) free_capacity_.close(closed.instance);
    }
  }
  PlacementRound round({view, params_, feasible_types_, free_capacity_, waiting_});
  const WaitingTasks::Fresh fresh = waiting_.pack(view.state, feasible_types_);
  const TaskRow* alone = view.turn_of_task();
  if (alone != nullptr) {
    round.serve_alone(fresh, alone->slot);
  } else {
    view.turn ? round.serve_turn(fresh, waiting_.gang_of(*view.turn)) : round.serve(fresh);
  }
  if (view.rents()) {
    if (!view.turn && view.now >= next_retry_) round.retry(retry_);
    round.release_idle();
  }
  // The memory follows the state, which the plan has not changed yet: its events will.
  free_capacity_.give_all_back(view.state);
  in_flight_ = round.placed();
  return round.take_plan();
}

/// The round took place: its results become a part of the memory here. The round takes nothing but
/// the memory and the view, which is that of the decision, so that a policy that did not decide
/// holds it now and comes to an equal memory. The policy that decided has done so already: `ahead_`
/// saves it the work, and is not a memory. It never outlives this event, which by the contract of
/// decide() follows at once.
void HcoopPolicy::end_round(const ClusterView& view) {
  if (!std::exchange(ahead_, false) && waiting_.size() > 0) hold_round(view);
  if (view.rents() && view.now >= next_retry_) {
    if (waiting_.size() == 0) retry_ = {};
    next_retry_ = view.now + params_.period;
  }
  // Room that comes free in a gang's turn is there for the others after it.
  if (!view.turn) free_capacity_.forget_freed();
}

}  // namespace muster::hcoop
