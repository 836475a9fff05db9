#include "tools/train/history.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "model/check.hpp"

// A workload as a site would have seen it: each job with the use of the system at its submission.
// Jobs are taken to run at once and alone, for no cluster is known here; use is relative to a
// capacity that is estimated from the same jobs.

namespace muster::train {
namespace {

// Not the maximum, which a single burst sets; values above it are a full system.
constexpr double kCapacityQuantile = 0.95;

/// The mean time that one of the job's tasks runs.
Duration mean_task_duration(const replay::JobTruth& truth) {
  return from_seconds(truth.iterations / truth.iterations_per_s);
}

/// Resources in use at each submission by the jobs before it.
std::vector<Resources> use_at_submissions(const std::vector<PastJob>& jobs) {
  using End = std::pair<Instant, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::vector<Resources> result;
  Resources in_use;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    while (!running.empty() && running.top().first <= jobs[i].submit) {
      in_use -= counted_demand(*jobs[running.top().second].job);
      running.pop();
    }
    // A rest by rounding is not in use.
    if (running.empty()) in_use = {};
    result.push_back(in_use);
    in_use += counted_demand(*jobs[i].job);
    running.emplace(jobs[i].end(), i);
  }
  return result;
}

Resources capacity_of(const std::vector<Resources>& in_use, std::size_t count) {
  Resources capacity;
  if (count == 0) return capacity;
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(kCapacityQuantile * static_cast<double>(count)) - 1);
  for (const Resource kind : kAllResources) {
    std::vector<double> amounts;
    for (std::size_t i = 0; i < count; ++i) amounts.push_back(in_use[i][kind]);
    std::nth_element(amounts.begin(), amounts.begin() + rank, amounts.end());
    capacity[kind] = amounts[static_cast<std::size_t>(rank)];
  }
  return capacity;
}

}  // namespace

Instant History::trained_at() const {
  return first_test < jobs.size() ? jobs[first_test].submit : Instant::max();
}

History make_history(const replay::Workload& workload, double test_share) {
  MUSTER_CHECK(test_share >= 0 && test_share < 1, "something is left to learn from");
  History history;
  for (const replay::WorkloadJob& job : workload.jobs) {
    if (job.truth.service) continue;  // its end says nothing of how long others take
    history.jobs.push_back({&job.job, job.submit, mean_task_duration(job.truth), {}});
  }
  const auto count = static_cast<double>(history.jobs.size());
  history.first_test = static_cast<std::size_t>(std::ceil(count * (1 - test_share)));
  const std::vector<Resources> in_use = use_at_submissions(history.jobs);
  // Of the first part only: the later one must not be known to what is learnt.
  history.capacity = capacity_of(in_use, history.first_test);
  for (std::size_t i = 0; i < in_use.size(); ++i) {
    history.jobs[i].use = SystemUse::of(in_use[i], history.capacity);
  }
  return history;
}

std::vector<std::size_t> known_jobs(const History& history, Duration threshold) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < history.first_test; ++i) {
    const PastJob& job = history.jobs[i];
    // A job that still runs is known to be long once it has run for the threshold.
    if (job.end() <= history.trained_at() || job.submit + threshold < history.trained_at()) {
      known.push_back(i);
    }
  }
  return known;
}

}  // namespace muster::train
