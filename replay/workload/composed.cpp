#include "replay/workload/composed.hpp"

#include <fmt/format.h>

#include <optional>

#include "model/rng.hpp"

// A workload of two traces: when jobs come, how long and how wide they are from one, what they ask
// for from the other, where neither trace says all of it. Or one of whole jobs drawn from one
// trace: each seed is another trace of the same kind.

namespace muster::replay {
namespace {

/// One of the two traces, read by its own format; not without a job.
RawJobsResult read_part(const WorkloadConfig& config, const std::string& format) {
  auto raw_jobs = read_trace(format, config);
  if (!raw_jobs) return raw_jobs;
  leave_out_small(raw_jobs.value(), config.min_tasks);
  if (!raw_jobs->jobs.empty()) return raw_jobs;
  return Failure<WorkloadError>{
      WorkloadError::invalid, fmt::format("{}: has no job of at least {} tasks to take or to draw",
                                          config.path.string(), config.min_tasks)};
}

/// The demands of a job, and its user.
void take_demands(const Job& from, Job& to) {
  to.tasks[0].demands = from.tasks[0].demands;
  to.user = from.user;
}

/// The trace whose jobs give their demands to others.
RawJobsResult read_donors(const WorkloadConfig& config) {
  const auto& how = config.own.of<ComposedWorkload>();
  WorkloadConfig other = config;
  other.path = how.demands;
  // The bound is on the jobs that run; a donor of demands may have any number of tasks.
  other.min_tasks = 1;
  return read_part(other, how.demands_format);
}

/// Puts arrivals, durations and tasks of one trace and demands of another together; the same seed
/// gives the same jobs.
RawJobsResult compose(const WorkloadConfig& config, std::uint64_t seed) {
  const auto& how = config.own.of<ComposedWorkload>();
  auto base = read_part(config, how.format);
  if (!base) return base.error();
  std::erase_if(base->jobs,
                [&](const JobRow& job) { return job.submit.time_since_epoch() < how.from; });
  if (base->jobs.empty()) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("{}: has no job that comes {} s after the first (workload.composed.from)",
                    config.path.string(), seconds_text(how.from))};
  }
  std::optional<RawJobs> demands;
  if (!how.demands.empty()) {
    auto read = read_donors(config);
    if (!read) return read.error();
    demands = std::move(read).value();
  }
  Rng rng(seed);
  RawJobs raw_jobs;
  const std::vector<JobRow>& from = base->jobs;
  const std::size_t jobs = how.jobs > 0 ? how.jobs : from.size();
  double arrival_s = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    // The draws of a job in this order: job, gap, demands.
    JobDraft draft = draft_of(from[how.jobs > 0 ? rng.below(from.size()) : i]);
    draft.job.job.id = JobId{i};
    if (how.mean_gap_s > 0) {
      // The first job comes at 0, as in all workloads.
      if (i > 0) arrival_s += rng.exponential(how.mean_gap_s);
      draft.job.submit = Instant{from_seconds(arrival_s)};
    }
    if (demands) {
      take_demands(demands->jobs[rng.below(demands->jobs.size())].like->job, draft.job.job);
    }
    raw_jobs.add(std::move(draft));
  }
  raw_jobs.description = fmt::format("composed with seed {}: {}", seed, base->description);
  if (how.jobs > 0) raw_jobs.description += fmt::format(", {} jobs drawn from it", how.jobs);
  if (how.mean_gap_s > 0) {
    raw_jobs.description += fmt::format(", Poisson arrivals every {} s on average", how.mean_gap_s);
  }
  if (demands) {
    raw_jobs.description +=
        fmt::format("; demands of each job drawn from {}", demands->description);
  }
  return raw_jobs;
}

std::vector<KeyFault> check_composed(const ReplayConfig& config) {
  const auto& how = config.workload.own.of<ComposedWorkload>();
  if (config.workload.format != "composed") return {};
  if (how.jobs == 0 && how.demands.empty()) {
    return {{"workload.composed.demands",
             "is missing; without it whole jobs are drawn, and workload.composed.jobs says how "
             "many"}};
  }
  if (how.jobs == 0 || how.mean_gap_s > 0) return {};
  return {{"workload.composed.mean_gap_s",
           "has to be > 0 when jobs are drawn (workload.composed.jobs), as those have no times of "
           "their own; it is 0"}};
}

}  // namespace

WorkloadFormat composed_format() {
  using config::format_key, config::word_key;
  using Number = config::NumberKeyOf<ReplayConfig>;
  using Whole = config::WholeKeyOf<ReplayConfig>;
  using Path = config::PathKeyOf<ReplayConfig>;
  const std::vector<std::string> traces = names_of(trace_formats());
  WorkloadFormat format{{.name = "composed", .needs = {"workload.path"}}, compose};
  format.part.keys = {
      {"workload.composed.format",
       "of workload.path, which a composed workload has arrivals, durations and tasks from",
       word_key<ReplayConfig>(traces, format_key<&ComposedWorkload::format>)},
      {"workload.composed.demands",
       "trace that the demands of each job are drawn from; not given: jobs keep their own",
       Path{format_key<&ComposedWorkload::demands>}},
      {"workload.composed.demands_format", "of that trace",
       word_key<ReplayConfig>(traces, format_key<&ComposedWorkload::demands_format>)},
      {"workload.composed.jobs",
       "how many jobs to draw from workload.path, each as likely; 0: its own, in their order",
       Whole{format_key<&ComposedWorkload::jobs>, 0, kMostJobs}},
      {"workload.composed.from", "jobs of workload.path that come earlier are not drawn",
       config::TimeKeyOf<ReplayConfig>{format_key<&ComposedWorkload::from>, Duration{}, kLongest}},
      {"workload.composed.mean_gap_s",
       "mean of exponential gaps between arrivals; 0: arrivals as in workload.path",
       Number{format_key<&ComposedWorkload::mean_gap_s>, {0, 1e8}}}};
  format.part.check = check_composed;
  return format;
}

}  // namespace muster::replay
