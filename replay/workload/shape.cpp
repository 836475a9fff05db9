#include "replay/workload/shape.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "model/rng.hpp"

namespace muster::replay {
namespace {

/// How long the job takes when nothing is in its way: its longest task.
double alone_s(const JobRow& job) {
  double longest = job.iterations;
  if (job.task_iterations && !job.like->job.gang) {
    longest = *std::max_element(job.task_iterations->begin(), job.task_iterations->end());
  }
  return longest / job.iterations_per_s;
}

/// Core-seconds, as all traces have cores.
double work_of(const JobRow& job) {
  const auto& entries = job.like->job.tasks.front().demands.entries();
  const double cores = entries.empty() ? 0 : entries.front().amount[Resource::cpu];
  // The work of an elastic job is that of one worker.
  const std::uint32_t tasks = job.like->elastic ? 1 : job.tasks;
  return cores * job.iterations / job.iterations_per_s * tasks;
}

void sample(RawJobs& raw_jobs, double share, std::uint64_t seed) {
  const std::size_t all = raw_jobs.jobs.size();
  Rng rng(seed);
  // One draw a job, in their order: a greater share has the jobs of a smaller one, and more.
  std::erase_if(raw_jobs.jobs, [&](const JobRow&) { return rng.uniform() >= share; });
  raw_jobs.description +=
      fmt::format(", {} of {} jobs drawn with seed {}", raw_jobs.jobs.size(), all, seed);
}

/// Where the windows with enough jobs begin that follow each other from `window.from` on.
std::vector<Duration> busy_windows(const std::vector<JobRow>& jobs, const WorkloadWindow& window) {
  std::map<std::int64_t, std::uint32_t> count;
  for (const JobRow& job : jobs) {
    const Duration since = job.submit.time_since_epoch() - window.from;
    if (since >= Duration::zero()) ++count[since / window.length];
  }
  std::vector<Duration> begins;
  for (const auto& [number, many] : count) {
    if (many >= window.min_jobs) begins.push_back(window.from + number * window.length);
  }
  return begins;
}

/// Without a length the window goes on to the end.
RawJobs begin_at(RawJobs raw_jobs, Duration from) {
  const auto earlier = std::erase_if(
      raw_jobs.jobs, [&](const JobRow& job) { return job.submit.time_since_epoch() < from; });
  for (JobRow& job : raw_jobs.jobs) job.submit -= from;
  raw_jobs.description += fmt::format(", those from {} s on; {} that come before left out",
                                      seconds_text(from), earlier);
  return raw_jobs;
}

RawJobsResult cut_window(RawJobs raw_jobs, const WorkloadWindow& window, std::uint64_t seed) {
  Duration from = window.from;
  if (window.min_jobs > 0) {
    const std::vector<Duration> begins = busy_windows(raw_jobs.jobs, window);
    if (begins.empty()) {
      return Failure<WorkloadError>{
          WorkloadError::invalid,
          fmt::format(
              "{}: no window of {} s has the {} jobs that workload.window.min_jobs asks for",
              raw_jobs.description, seconds_text(window.length), window.min_jobs)};
    }
    from = begins[drawn_place(begins.size(), seed)];
  }
  if (window.length <= Duration::zero()) return begin_at(std::move(raw_jobs), from);
  double begun = 0;
  double left_out = 0;
  std::size_t late = 0;
  std::erase_if(raw_jobs.jobs, [&](const JobRow& job) {
    const Duration submit = job.submit.time_since_epoch() - from;
    if (submit < Duration::zero() || submit >= window.length) return true;
    begun += work_of(job);
    if (to_seconds(submit) + alone_s(job) <= to_seconds(window.length)) return false;
    left_out += work_of(job);
    ++late;
    return true;
  });
  for (JobRow& job : raw_jobs.jobs) job.submit -= from;
  raw_jobs.description += fmt::format(
      ", those of {} s from {} s on; {} that end later left out with {:.1f}% of the core-hours",
      seconds_text(window.length), seconds_text(from), late,
      begun > 0 ? 100 * left_out / begun : 0.0);
  return raw_jobs;
}

}  // namespace

RawJobsResult take_part(RawJobs raw_jobs, const WorkloadConfig& config, std::uint64_t seed) {
  if (config.sample < 1) sample(raw_jobs, config.sample, seed);
  const bool whole = config.window.length <= Duration::zero();
  if (whole && config.window.from <= Duration::zero()) return raw_jobs;
  return cut_window(std::move(raw_jobs), config.window, seed);
}

void charge_moves(RawJobs& raw_jobs, double mbit_s) {
  constexpr double kMbitInGib = 8.0 * 1024 * 1024 * 1024 / 1e6;
  // Rows share few templates: each is changed once.
  std::map<const JobTemplate*, std::shared_ptr<const JobTemplate>> changed;
  for (JobRow& job : raw_jobs.jobs) {
    if (job.like->service) continue;  // a replica starts anew elsewhere
    auto& to = changed[job.like.get()];
    if (!to) {
      JobTemplate copy = *job.like;
      TaskSpec& task = copy.job.tasks.front();
      double memory_gib = 0;
      for (const FamilyDemand& each : task.demands.entries()) {
        memory_gib = std::max(memory_gib, each.amount[Resource::memory]);
      }
      task.delays.upload = from_seconds(memory_gib * kMbitInGib / mbit_s);
      to = std::make_shared<const JobTemplate>(std::move(copy));
    }
    job.like = to;
  }
}

void want_distinct_instances(RawJobs& raw_jobs, double share, std::uint64_t seed) {
  // Another stream than that of the sample, by which the jobs themselves may be drawn.
  Rng rng(seed ^ 0x6170617274U);
  std::map<const JobTemplate*, std::shared_ptr<const JobTemplate>> changed;
  std::size_t count = 0;
  for (JobRow& job : raw_jobs.jobs) {
    if (job.tasks < 2 || rng.uniform() >= share) continue;
    ++count;
    auto& to = changed[job.like.get()];
    if (!to) {
      JobTemplate copy = *job.like;
      copy.job.most_an_instance = 1;
      to = std::make_shared<const JobTemplate>(std::move(copy));
    }
    job.like = to;
  }
  raw_jobs.description += fmt::format(", {} want distinct instances", count);
}

}  // namespace muster::replay
