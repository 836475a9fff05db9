#include "replay/workload_names.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <variant>

#include "model/check.hpp"
#include "model/live_ids.hpp"

// Sites number jobs in the order in which they accept them. These numbers become the workload's own
// again, by way of the token that a job carries, so that logs of different policies name the same
// jobs alike.

namespace muster::replay {
namespace {

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

}  // namespace

JobIndex::JobIndex(const JobSource& jobs) : jobs_(jobs), by_id_(jobs.size()) {
  std::iota(by_id_.begin(), by_id_.end(), 0U);
  std::sort(by_id_.begin(), by_id_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return jobs.id(a) < jobs.id(b); });
}

std::size_t JobIndex::of(JobId id) const {
  const auto found =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [&](std::uint32_t at, JobId wanted) { return jobs_.id(at) < wanted; });
  MUSTER_CHECK(found != by_id_.end() && jobs_.id(*found) == id, "only the workload has jobs");
  return *found;
}

void WorkloadNames::learn(const Job& accepted) {
  const std::string& token = accepted.token;
  JobId id;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), id.value);
  MUSTER_CHECK(read.ec == std::errc{} && read.ptr == token.data() + token.size(),
               "the token of a job is its id in the workload");
  const std::uint32_t site = site_of(accepted.id);
  // Numbers of a site are dense, so that a vector is smaller than a map for millions of jobs.
  if (ranks_.size() <= site) ranks_.resize(site + 1);
  std::vector<std::uint32_t>& ranks = ranks_[site];
  const std::uint64_t number = number_of(accepted.id);
  if (ranks.size() <= number) ranks.resize(number + 1, kNoRank);
  ranks[number] = static_cast<std::uint32_t>(index_.of(id));
}

std::size_t WorkloadNames::rank(JobId number) const {
  const std::uint32_t site = site_of(number);
  const std::uint64_t place = number_of(number);
  MUSTER_CHECK(
      site < ranks_.size() && place < ranks_[site].size() && ranks_[site][place] != kNoRank,
      "nothing happens to a job before a master has it");
  return ranks_[site][place];
}

TaskId WorkloadNames::name(TaskId number) const {
  return TaskId{jobs_.first_task(rank(job_of(number))).value + position_of(number)};
}

/// Sites number jobs as they come, which need not be the order of their names.
template <class Said>
void WorkloadNames::rename_all(std::vector<Said>& of_tasks) {
  for (Said& said : of_tasks) said.task = name(said.task);
  if (std::ranges::is_sorted(of_tasks, {}, &Said::task)) return;
  std::ranges::sort(of_tasks, {}, &Said::task);
}

void WorkloadNames::rename(Event& event) {
  if (auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    Job& job = accepted->job;
    learn(job);
    for (TaskSpec& task : job.tasks) task.id = name(task.id);
    job.id = name(job.id);
    job.token.clear();
    return;
  }
  if (auto* measured = std::get_if<Measured>(&event.body)) {
    rename_all(measured->samples);
    rename_all(measured->progress);
    rename_all(measured->metrics);
    return;
  }
  std::visit(
      [this](auto& body) {
        if constexpr (requires { body.job.value; }) {
          body.job = name(body.job);
        } else if constexpr (requires { body.task.value; }) {
          if (body.task.valid()) body.task = name(body.task);
        }
      },
      event.body);
}

}  // namespace muster::replay
