#include "masters/plan/plan_resizes.hpp"

#include <cmath>

namespace muster {
namespace {

Refusal refused(RefusalCode code, double asked = 0, double available = 0) {
  return {RefusalKind::not_now, code, {}, asked, available};
}

}  // namespace

std::optional<Refusal> why_not_resized(const ClusterState& state, const Resize& resize,
                                       StayRule stay) {
  if (!std::isfinite(resize.cause.gain_usd_h)) {
    return Refusal{RefusalKind::broken, RefusalCode::malformed, {}, 0, 0};
  }
  const JobRow* job = state.find(resize.job);
  if (job == nullptr || job->terminal_outcome) return refused(RefusalCode::outdated);
  const auto* elastic = std::get_if<ElasticSpec>(&job->job.kind);
  if (elastic == nullptr) return refused(RefusalCode::not_elastic);
  if (resize.width < elastic->min_width || resize.width > elastic->max_width) {
    const bool wide = resize.width > elastic->max_width;
    return refused(RefusalCode::width_bounds, resize.width,
                   wide ? elastic->max_width : elastic->min_width);
  }
  if (resize.width == job->width) return refused(RefusalCode::unchanged, resize.width);
  // Attempts of two widths must not meet; those that have ended say that the others will.
  if (job->in_transit()) return refused(RefusalCode::in_transit);
  for (Slot slot : job->tasks) {
    const TaskRow& task = state.task(slot);
    // The obstacle of one task stands for all: a gang is stopped as a whole.
    if (task.phase == TaskPhase::running) return why_it_stays(state, task, stay);
  }
  return std::nullopt;
}

}  // namespace muster
