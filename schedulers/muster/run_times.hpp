#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/event.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Stated run time of a task of the job alone, from the party that `source` believes; nothing
/// without a statement.
std::optional<Duration> said_run_time(const Job& job, const TaskSpec& task, RunTimes source);

/// The task that the event finishes, after some run; null: it finishes no such task.
const TaskRow* finished_run(const Event& event, const ClusterState& state);

/// Number of equally likely cases that stand for an unknown run time.
inline constexpr std::size_t kCases = 32;
/// Seconds until something ends, in each case.
using Cases = std::array<float, kCases>;

/// Of all cases, each as likely.
double mean(const Cases& cases);
/// How much longer `one` lasts than `other` on average, counting only the cases in which it does.
double mean_excess(const Cases& one, const Cases& other);
/// All cases that number of seconds later.
Cases later(Cases cases, double seconds);
/// Raises each case to that of `least`, as the end of an instance by one of its tasks.
void raise(Cases& cases, const Cases& least);

/// How many times as long as was said tasks have run. Each job counts as one. Kept by the octave of
/// what was said, since who says little errs otherwise than who says much.
class RunTimeRecord {
 public:
  /// Octave of the seconds that were said, and the ratio in sixteenths of an octave.
  using Key = std::pair<std::int32_t, std::int32_t>;

  /// A task has finished that was expected to run for `expected`, and is that share of its job.
  void add(const TaskRow& task, Duration expected, double share);
  const std::map<Key, double>& counts() const { return counts_; }
  void restore(std::map<Key, double> counts) { counts_ = std::move(counts); }

 private:
  std::map<Key, double> counts_;
};

/// Expectation of tasks' run times by the record. Made for a round, whose sums it keeps.
class RunTimeOutlook {
 public:
  /// The record has to outlive it, and must not change.
  explicit RunTimeOutlook(const RunTimeRecord& record) : record_(record) {}

  /// The rest of a task that was said to run for `said` and has run for `ran`. In each case all
  /// tasks of a job err by the same factor, and the cases of different jobs are mixed anew.
  Cases left(JobId job, Duration said, Duration ran);

 private:
  struct Step {
    double ratio = 1;
    double until = 0;  ///< share of tasks with no greater ratio
  };
  using Curve = std::vector<Step>;

  const Curve& curve_of(std::int32_t octave);
  const std::array<std::uint8_t, kCases>& order_of(JobId job);

  const RunTimeRecord& record_;
  std::map<std::int32_t, Curve> curves_;
  std::optional<JobId> ordered_;  ///< whose order_ is: the tasks of a job come together
  std::array<std::uint8_t, kCases> order_{};
};

}  // namespace muster::own
