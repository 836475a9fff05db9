#include <fmt/format.h>

#include "model/rng.hpp"
#include "tools/replay/workload/readers.hpp"

namespace muster::replay {
namespace {

/// One of the two traces, read by its own format; not without a job.
DraftsResult read_part(const WorkloadConfig& config, const std::string& format) {
  auto drafts = read_trace(format, config);
  if (!drafts) return drafts;
  leave_out_small(drafts.value(), config.min_tasks);
  if (!drafts->jobs.empty()) return drafts;
  return Failure<WorkloadError>{
      WorkloadError::invalid, fmt::format("{}: has no job of at least {} tasks to take or to draw",
                                          config.path.string(), config.min_tasks)};
}

/// What a job asks for, and who asks for it.
void take_demands(const Job& from, Job& to) {
  to.tasks[0].demands = from.tasks[0].demands;
  to.user = from.user;
}

}  // namespace

DraftsResult compose(const WorkloadConfig& config, std::uint64_t seed) {
  const ComposedWorkload& how = config.composed;
  const auto base = read_part(config, how.format);
  if (!base) return base.error();
  WorkloadConfig other = config;
  other.path = how.demands;
  other.min_tasks = 1;
  const auto demands = read_part(other, how.demands_format);
  if (!demands) return demands.error();
  Rng rng(seed);
  Drafts drafts;
  const std::vector<JobRow>& from = base->jobs;
  const std::size_t jobs = how.jobs > 0 ? how.jobs : from.size();
  double arrival_s = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    // The draws of a job in this order: job, gap, demands.
    JobDraft draft = draft_of(from[how.jobs > 0 ? rng.below(from.size()) : i]);
    draft.job.job.id = JobId{i};
    if (how.mean_gap_s > 0) {
      if (i > 0) arrival_s += rng.exponential(how.mean_gap_s);
      draft.job.submit = Instant{from_seconds(arrival_s)};
    }
    take_demands(demands->jobs[rng.below(demands->jobs.size())].like->job, draft.job.job);
    drafts.add(std::move(draft));
  }
  drafts.description = fmt::format("composed with seed {}: {}", seed, base->description);
  if (how.jobs > 0) drafts.description += fmt::format(", {} jobs drawn from it", how.jobs);
  if (how.mean_gap_s > 0) {
    drafts.description += fmt::format(", Poisson arrivals every {} s on average", how.mean_gap_s);
  }
  drafts.description += fmt::format("; demands of each job drawn from {}", demands->description);
  return drafts;
}

}  // namespace muster::replay
