#include "masters/plan/plan_application.hpp"

#include <iterator>
#include <unordered_set>
#include <utility>

#include "masters/plan/plan_resizes.hpp"
#include "model/feasible.hpp"

// Carries a plan out, slice by slice. Each slice is checked against the state of the moment, since
// between two of them anything may have happened. Refusals go on record before launches and places,
// so that a task that gets a place in the same slice does not end up with an older reason. Widths
// change before the places are looked at, which may be for tasks that had nothing to wait for until
// then; running tasks are stopped last, since they may have other places by then.

namespace muster {

PlanApplication::PlanApplication(const MasterCommands& commands, const Parts& parts)
    : commands_(commands), ends_(parts.ends), rules_(parts.rules), services_(parts.services) {}

void PlanApplication::take(std::vector<Plan>&& slices) {
  slices_ = {std::make_move_iterator(slices.begin()), std::make_move_iterator(slices.end())};
}

void PlanApplication::apply_next(Instant now) {
  if (slices_.empty()) return;
  const Plan plan = std::move(slices_.front());
  slices_.pop_front();
  apply_refusals(plan, now);
  std::vector<Slot> restarted = apply_resizes(plan, now);
  const CheckedPlan checked = check_plan(plan, state(), rules_.limits(now));
  for (const auto& refusal : checked.launches) {
    if (refusal && refusal->code == RefusalCode::malformed) refuse_part({{}, {}, *refusal}, now);
  }
  for (Slot job : apply_places(plan, checked, now)) restarted.push_back(job);
  for (Slot job : restarted) commands_.tasks.restart_peers(state().job(job), now);
  apply_stops(plan, checked, now);
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    const auto* id = std::get_if<InstanceId>(&plan.places[i].to);
    if (checked.places[i] && id != nullptr) commands_.releases.release_if_unused(*id, now);
  }
  apply_releases(plan, checked, now);
  services_.advance(now);
}

/// Whether a refusal for good ends the job. One for its constraint ends no job of which something
/// has come about: another catalog, as after a restart with other labels, would end its running
/// tasks. Nor does it where a later version knows what the constraint says.
bool PlanApplication::ends_job(const JobRow& job, const Refusal& by) const {
  if (by.kind != RefusalKind::never || job.terminal_outcome) return false;
  if (by.code != RefusalCode::constraint) return true;
  const bool has_begun = job.pending + job.withheld() < job.tasks.size();
  return !has_begun && Constraint::of(job.job.constraint).is_readable();
}

/// A task that can never run ends its job.
void PlanApplication::apply_refusals(const Plan& plan, Instant now) {
  for (const Refuse& part : plan.refusals) {
    if (const auto malformed = check_refusal(part)) {
      refuse_part({part.task, {}, *malformed}, now);
      continue;
    }
    commands_.tasks.refuse(part.task, part.refusal, now);
    const TaskRow* task = state().find(part.task);
    if (task == nullptr) continue;
    const JobRow& job = state().job(task->job);
    if (ends_job(job, part.refusal)) ends_.give_up(job.job.id, JobOutcome::refused, now);
  }
}

std::vector<Slot> PlanApplication::apply_resizes(const Plan& plan, Instant now) {
  std::vector<Slot> narrower;
  for (const Resize& resize : plan.resizes) {
    const JobRow* job = state().find(resize.job);
    if (const auto refusal = why_not_resized(state(), resize, rules_.limits(now).stay)) {
      refuse_part({job != nullptr ? state().task(job->tasks.front()).id : TaskId{}, {}, *refusal},
                  now);
      continue;
    }
    const std::uint32_t before = job->width;
    commands_.recorder.record(JobResized{resize.job, resize.width, resize.cause}, now);
    for (std::uint32_t i = resize.width; i < before; ++i) {
      commands_.tasks.stop_if_running(state().task(job->tasks[i]).id, now);
    }
    if (resize.width < before) narrower.push_back(job->slot);
  }
  return narrower;
}

std::vector<Slot> PlanApplication::apply_places(const Plan& plan, const CheckedPlan& checked,
                                                Instant now) {
  const std::vector<InstanceId> launched = commands_.cloud.launch(plan, checked, now);
  std::vector<Slot> moved_jobs;
  std::unordered_set<Slot> known_to_move;
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    const Place& part = plan.places[i];
    if (const auto& refusal = checked.places[i]) {
      // An array that waits for room is refused whole in every round.
      if (commands_.tasks.knows(part.task, *refusal)) continue;
      refuse_part({part.task, {}, *refusal}, now);
      commands_.tasks.refuse(part.task, *refusal, now);
      continue;
    }
    const TaskRow& task = *state().find(part.task);
    const JobRow& job = state().job(task.job);
    // The workers of an elastic job know their number: no further one joins those that run.
    const bool joins = job.width > 0 && job.running > 0;
    if ((task.phase == TaskPhase::running || joins) && known_to_move.insert(task.job).second) {
      moved_jobs.push_back(task.job);
    }
    const auto* id = std::get_if<InstanceId>(&part.to);
    place(part, id != nullptr ? *id : launched[std::get<LaunchIndex>(part.to).value], now);
  }
  return moved_jobs;
}

void PlanApplication::apply_stops(const Plan& plan, const CheckedPlan& checked, Instant now) {
  for (std::size_t i = 0; i < plan.stops.size(); ++i) {
    const Stop& stop = plan.stops[i];
    if (checked.stops[i]) {
      refuse_part({stop.task, {}, *checked.stops[i]}, now);
    } else if (!services_.relieve(*state().find(stop.task), stop.cause.code, now)) {
      commands_.tasks.unassign(stop.task, stop.cause, now);
    }
  }
}

void PlanApplication::apply_releases(const Plan& plan, const CheckedPlan& checked, Instant now) {
  for (std::size_t i = 0; i < plan.releases.size(); ++i) {
    const Release& release = plan.releases[i];
    const InstanceRow* row = state().find(release.instance);
    if (checked.releases[i]) {
      refuse_part({{}, release.instance, *checked.releases[i]}, now);
    } else if (!row->planned.empty()) {
      // A task that was to leave it stays for now, as a replica does until another one is ready.
      refuse_part({{}, release.instance, {RefusalKind::not_now, RefusalCode::in_transit, {}, 0, 0}},
                  now);
    } else if (!row->released) {
      commands_.recorder.record(ReleaseDecided{release.instance, release.cause}, now);
    }
  }
}

void PlanApplication::place(const Place& place, InstanceId to, Instant now) {
  const InstanceRow& there = *state().find(to);
  const TaskRow& task = *state().find(place.task);
  const Placing placing{&task, there.type, there.market, place.grant};
  const Grant grant = grant_of(state(), placing);
  TaskId comes = place.task;
  const bool is_replica = state().job(task.job).job.service() != nullptr;
  if (is_replica && task.phase == TaskPhase::running &&
      (task.at != there.slot || is_resized_by(task, there, place.grant))) {
    // The replica itself stays until the other one is ready there. The check has found one.
    const auto stands_in = services_.stand_in(placing, place.cause, now);
    if (!stands_in) {
      return refuse_part(
          {place.task, {}, {RefusalKind::not_now, RefusalCode::in_transit, {}, 0, 0}}, now);
    }
    // Its user holds the service: nothing of it comes to a place.
    if (state().find(*stands_in)->phase != TaskPhase::pending) return;
    comes = *stands_in;
  }
  commands_.tasks.assign({comes, to, place.cause, grant}, now);
}

}  // namespace muster
