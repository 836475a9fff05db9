// The rounds of a master, from what workers measured to what stands of a plan.

#include <algorithm>
#include <set>
#include <utility>

#include "masters/master.hpp"

namespace muster {
namespace {

/// Instances that the job's tasks are at; one at least, for something of it has been measured.
std::uint32_t nodes_of(const ClusterState& state, const JobRow& job) {
  std::set<Slot> nodes;
  for (const Slot slot : job.tasks) {
    if (state.task(slot).at != kNoSlot) nodes.insert(state.task(slot).at);
  }
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(nodes.size()));
}

/// Of the cloud's clock before the one of events; while it is not known, as it was known last.
Duration cloud_ahead(const SpendGuard& guard, const MasterFacts& facts) {
  return guard.knows_day() ? guard.cloud_ahead() : facts.claims.book().cloud_ahead;
}

}  // namespace

void Master::round(std::span<const ThroughputSample> samples, Instant now) {
  auto wanted = begin_round(samples, now);
  if (!wanted) return;
  wanted->slice_parts = 0;
  PlannedRound planned = planner_->decide(*wanted);
  if (planned.failed) return;
  take_plan(std::move(planned), now);
  while (apply_slice(now)) continue;
}

std::optional<RoundWish> Master::begin_round(std::span<const ThroughputSample> samples, Instant now,
                                             std::span<const JobProgress> progress) {
  if (fleet_.is_short()) fleet_.keep(now);
  if (!busy()) return std::nullopt;
  recorder_.end_calm(now, 1);
  if (facts().claims.kept() == nullptr) {
    if (const auto turn = facts().gangs.due(state(), now)) recorder_.record(*turn, now);
  }
  if (claims_.serve(now, cloud_ahead(guard_, facts()))) reconciler_.reconcile(now);
  if (!busy()) return std::nullopt;
  Measured measured;
  for (const ThroughputSample& sample : samples) {
    const bool repeated = !measured.samples.empty() && measured.samples.back().task == sample.task;
    if (!repeated && state().find(sample.task) != nullptr) measured.samples.push_back(sample);
  }
  measured.progress.assign(progress.begin(), progress.end());
  if (measured != Measured{}) recorder_.record(std::move(measured), now);
  return wish(now);
}

RoundWish Master::wish(Instant now) const {
  return {.now = now, .rents = rules_.may_rent(), .budget = settings_.decision_budget};
}

std::vector<JobProgress> Master::of_elastic_jobs(std::vector<JobProgress> heard) const {
  std::erase_if(heard, [this](const JobProgress& each) {
    const TaskRow* task = state().find(each.task);
    return task == nullptr || task->index > 0 || state().job(task->job).width == 0;
  });
  std::ranges::sort(heard, {}, &JobProgress::task);
  const auto twice = std::ranges::unique(heard, {}, &JobProgress::task);
  heard.erase(twice.begin(), twice.end());
  for (JobProgress& each : heard) {
    if (!each.training || each.training->nodes > 0) continue;
    each.training->nodes = nodes_of(state(), state().job(state().find(each.task)->job));
  }
  return heard;
}

bool Master::note_measured(Measured heard, Instant now) {
  heard.progress = of_elastic_jobs(std::move(heard.progress));
  heard.metrics =
      facts().metrics.fitting(std::move(heard.metrics), state(), settings_.metrics.most_values);
  if (heard == Measured{}) return false;
  recorder_.record(std::move(heard), now);
  return true;
}

/// Events since the decision stand in the log before it. When one of them may change a decision,
/// nothing can be said of whether a later round would change anything.
void Master::take_plan(PlannedRound&& planned, Instant now) {
  rules_.begin_round(planned.round, now);
  const std::uint64_t behind = facts().events - planned.based_on;
  recorder_.record(
      RoundDecided{planned.round, std::move(planned.note), facts().quiet,
                   planned.settled && facts().last_change <= planned.based_on, behind,
                   now - planned.at, planned.budget.allowed(),
                   settings_.caps.max_usd_day > 0 ? cloud_ahead(guard_, facts()) : Duration{}},
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

bool Master::would_repeat(std::span<const ThroughputSample> samples,
                          std::span<const JobProgress> progress) const {
  return calm() && std::ranges::equal(progress, facts().calm->measured.progress) &&
         std::equal(samples.begin(), samples.end(), facts().calm->measured.samples.begin(),
                    facts().calm->measured.samples.end());
}

DryRun Master::dry_run(Job job, Instant now) const {
  return planner_->dry_run(std::move(job), wish(now), limits(now));
}

}  // namespace muster
