#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"

namespace muster::metrics {

/// Use that the elastic jobs of a log make of their workers: the sum of the speedups over one
/// worker, each as the job states it for its epoch and that number of workers (Pollux's efficiency,
/// before it is divided by GPUs). Starts, in which nothing goes on, count as well.
class ElasticWork {
 public:
  /// Jobs that are accepted or over, and how far they say that they have come.
  void apply(const Event& event);
  /// A task holds resources from now on, or does not any more.
  void hold(TaskId task) { change_width(task, 1); }
  void release(TaskId task) { change_width(task, -1); }

  /// Nothing when some job was not elastic, or did not state its speedups, or there was no job.
  std::optional<double> speedups() const;

 private:
  struct ElasticJob {
    ElasticEpochs epochs;
    std::vector<double> speedup{};  ///< where it states no epochs
    std::uint32_t width = 0;        ///< of its tasks, those that hold resources
    double done = 0;
    std::vector<TaskId> tasks{};

    double value() const;
  };

  void accept(const Job& job);
  void change_width(TaskId task, std::int32_t by);
  void set(ElasticJob& job, std::uint32_t width, double done);

  std::unordered_map<JobId, ElasticJob> jobs_;
  std::unordered_map<TaskId, JobId> job_of_;
  double sum_ = 0;
  bool all_state_ = true;
  bool any_ = false;
};

}  // namespace muster::metrics
