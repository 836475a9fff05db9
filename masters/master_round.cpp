// The rounds of a master, from what workers measured to what stands of a plan.

#include <algorithm>
#include <utility>

#include "masters/master.hpp"

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
  if (fleet_.is_short()) fleet_.keep(now);
  if (!busy()) return std::nullopt;
  recorder_.end_calm(now, 1);
  if (const auto turn = facts().gangs.due(state(), now)) recorder_.record(*turn, now);
  measure(samples, now);
  return wish(now);
}

RoundWish Master::wish(Instant now) const {
  return {.now = now, .rents = rules_.may_rent(), .budget = settings_.decision_budget};
}

void Master::measure(std::span<const ThroughputSample> samples, Instant now) {
  Measured measured;
  for (const ThroughputSample& sample : samples) {
    const bool repeated = !measured.samples.empty() && measured.samples.back().task == sample.task;
    if (!repeated && state().find(sample.task) != nullptr) measured.samples.push_back(sample);
  }
  if (!measured.samples.empty()) recorder_.record(std::move(measured), now);
}

/// What has happened since the decision stands in the log before it. Then nothing can be said of
/// whether a later round would change anything.
void Master::take_plan(PlannedRound&& planned, Instant now) {
  tasks_.begin_round();
  rules_.begin_round(planned.round, now);
  const std::uint64_t behind = facts().events - planned.based_on;
  recorder_.record(RoundDecided{planned.round, std::move(planned.note), facts().quiet,
                                planned.settled && behind == 0, behind, now - planned.at,
                                planned.budget.allowed()},
                   now);
  const Refusal malformed{
      RefusalKind::broken, RefusalCode::malformed, {}, static_cast<double>(planned.dropped), 0};
  if (planned.dropped > 0) recorder_.record(PlanPartRefused{{}, {}, malformed}, now);
  application_.take(std::move(planned.slices));
}

bool Master::apply_slice(Instant now) {
  if (slices_left() == 0) return false;
  application_.apply_next(now);
  reconciler_.reconcile(now);
  return slices_left() > 0;
}

bool Master::calm() const {
  return facts().calm && state().pending().empty() && !fleet_.is_short();
}

bool Master::would_repeat(std::span<const ThroughputSample> samples) const {
  return calm() &&
         std::equal(samples.begin(), samples.end(), facts().calm->measured.samples.begin(),
                    facts().calm->measured.samples.end());
}

DryRun Master::dry_run(Job job, Instant now) const {
  return planner_->dry_run(std::move(job), wish(now), limits(now));
}

}  // namespace muster
