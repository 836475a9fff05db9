#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/colocation_table.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Learner of how tasks slow each other. Neighbours are sorted, and `times` says for how many
/// rounds the observation stands.
class ThroughputLearner {
 public:
  virtual ~ThroughputLearner() = default;
  virtual void learn(ClassId task, std::span<const ClassId> neighbours, double throughput,
                     std::uint64_t times) = 0;
  /// The slowest of a multi-task job's tasks, which may be at any of the places, ran so fast.
  virtual void learn_gang(std::span<const GangPlace> places, double throughput,
                          std::uint64_t times) = 0;
};

/// Turns throughput reports into observations of tasks beside each other (Eva 4.3 and 4.4).
class ThroughputIntake {
 public:
  /// With `gangs` the lowest value of a multi-task job's tasks is the job's; without, each task's
  /// own value counts.
  explicit ThroughputIntake(bool gangs) : gangs_(gangs) {}

  /// Uses only the instances all of whose planned tasks run there and were measured, and the
  /// multi-task jobs all of whose tasks are on such instances. Values over 1 count as 1.
  void record(const Measured& measured, const ClusterState& state, ThroughputLearner& learner);

 private:
  struct Seen {
    std::uint64_t report = 0;  ///< number of the report that `value` is from
    double value = 1;
    std::uint64_t placed = 0;  ///< number of the report that the neighbours are from
    std::uint32_t first = 0;   ///< its neighbours, in neighbours_
    std::uint32_t count = 0;
  };

  void note_values(std::span<const ThroughputSample> samples, const ClusterState& state);
  bool observed_completely(const InstanceRow& instance, const ClusterState& state) const;
  void record_instance(const InstanceRow& instance, const ClusterState& state,
                       ThroughputLearner& learner);
  void record_gang(const JobRow& job, const ClusterState& state, ThroughputLearner& learner);
  bool is_gang(const JobRow& job) const { return gangs_ && job.job.gang && job.tasks.size() > 1; }

  bool gangs_;
  std::uint64_t reports_ = 0;
  std::uint64_t times_ = 1;  ///< rounds for which the present report stands
  bool any_gang_ = false;
  std::vector<Seen> seen_;  ///< by task slot
  std::vector<ClassId> classes_;
  std::vector<ClassId> neighbours_;
  std::vector<GangPlace> places_;
};

}  // namespace muster
