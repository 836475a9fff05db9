#include "replay/metrics/elastic_work.hpp"

#include <algorithm>
#include <variant>

namespace muster::metrics {

double ElasticWork::ElasticJob::value() const {
  if (width == 0) return 0;
  if (!epochs.empty()) return speedup_of(epochs.all()[epochs.at(done)], width);
  return speedup[std::min<std::size_t>(width, speedup.size()) - 1];
}

void ElasticWork::apply(const Event& event) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    accept(accepted->job);
  } else if (const auto* measured = std::get_if<Measured>(&event.body)) {
    for (const JobProgress& said : measured->progress) {
      const auto job = job_of_.find(said.task);
      if (job == job_of_.end()) continue;
      ElasticJob& row = jobs_.at(job->second);
      set(row, row.width, said.done);
    }
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    const auto job = jobs_.find(over->job);
    if (job == jobs_.end()) return;
    set(job->second, 0, 0);
    for (const TaskId task : job->second.tasks) job_of_.erase(task);
    jobs_.erase(job);
    // Sums of doubles do not come back to zero by themselves.
    if (jobs_.empty()) sum_ = 0;
  }
}

void ElasticWork::accept(const Job& job) {
  const auto* elastic = std::get_if<ElasticSpec>(&job.kind);
  const bool states = elastic != nullptr &&
                      (!elastic->speedup.empty() ||
                       std::ranges::any_of(elastic->epochs.all(), [](const ElasticEpoch& epoch) {
                         return !epoch.speedup.empty();
                       }));
  all_state_ = all_state_ && states;
  if (!states) return;
  any_ = true;
  ElasticJob& row = jobs_[job.id] = {elastic->epochs, elastic->speedup};
  for (const TaskSpec& task : job.tasks) {
    job_of_[task.id] = job.id;
    row.tasks.push_back(task.id);
  }
}

void ElasticWork::change_width(TaskId task, std::int32_t by) {
  const auto job = job_of_.find(task);
  if (job == job_of_.end()) return;
  ElasticJob& row = jobs_.at(job->second);
  set(row, static_cast<std::uint32_t>(static_cast<std::int32_t>(row.width) + by), row.done);
}

void ElasticWork::set(ElasticJob& job, std::uint32_t width, double done) {
  sum_ -= job.value();
  job.width = width;
  job.done = done;
  sum_ += job.value();
}

std::optional<double> ElasticWork::speedups() const {
  if (!any_ || !all_state_) return std::nullopt;
  return sum_;
}

}  // namespace muster::metrics
