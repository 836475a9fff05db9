#include "masters/plan_resizes.hpp"

namespace muster {
namespace {

Refusal refused(RefusalCode code, double asked = 0, double available = 0) {
  return {RefusalKind::not_now, code, {}, asked, available};
}

/// The one task of an elastic job; null for other jobs.
const TaskRow* elastic_task(const ClusterState& state, const JobRow& job) {
  const bool elastic = std::holds_alternative<ElasticSpec>(job.job.kind);
  return elastic && job.job.task_count() == 1 ? &state.task(job.tasks.front()) : nullptr;
}

}  // namespace

Place place_of(const ClusterState& state, const Resize& resize) {
  Place place{TaskId{}, InstanceId{}, resize.cause, {}, resize.expects, resize.group};
  const JobRow* job = state.find(resize.job);
  if (job == nullptr) return place;
  place.task = state.task(job->tasks.front()).id;  // refusals are told of a task
  const TaskRow* task = elastic_task(state, *job);
  if (task == nullptr || task->target == kNoSlot) return place;
  const InstanceRow& there = state.instance(task->target);
  const FamilyDemand* demand = state.demand(*task, there.type);
  if (demand == nullptr) return place;
  Grant grant{{}, resize.width};
  for (const Resource kind : kAllResources) grant.amount[kind] = demand->amount[kind] * grant.width;
  place.to = there.id;
  place.grant = grant;
  return place;
}

std::optional<Refusal> why_not_resized(const ClusterState& state, const Resize& resize) {
  const JobRow* job = state.find(resize.job);
  if (job == nullptr) return refused(RefusalCode::outdated);
  const TaskRow* task = elastic_task(state, *job);
  if (task == nullptr) return refused(RefusalCode::not_elastic);
  const auto& elastic = std::get<ElasticSpec>(job->job.kind);
  if (resize.width < elastic.min_width || resize.width > elastic.max_width) {
    const bool wide = resize.width > elastic.max_width;
    return refused(RefusalCode::width_bounds, resize.width,
                   wide ? elastic.max_width : elastic.min_width);
  }
  if (task->target == kNoSlot) return refused(RefusalCode::no_place);
  const Place place = place_of(state, resize);
  if (place.grant == task->planned) return refused(RefusalCode::unchanged, resize.width);
  return std::nullopt;
}

}  // namespace muster
