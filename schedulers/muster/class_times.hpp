#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/cluster_state.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/packing/forgetting.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// How long tasks of each class have run. Each job counts as one, and those
/// of long ago for less and less.
class ClassTimes {
 public:
  struct OfClass {
    double jobs = 0;    ///< that have counted, kMemory at most
    double mean_s = 0;  ///< time that their tasks have run
  };
  /// Jobs that a class's time is known by; tasks count as their share of a job.
  static constexpr double kLeastJobs = 5;
  /// Jobs that it is a mean of at most.
  static constexpr double kMemory = 50;

  /// A task has finished that is that share of its job.
  void add(const TaskRow& task, double share, const ClassTable& classes);
  /// Nothing before tasks that make up kLeastJobs jobs of the class have finished.
  std::optional<Duration> mean(ClassId cls) const;

  const std::map<ClassId, OfClass>& classes() const { return classes_; }
  void restore(std::map<ClassId, OfClass> classes) { classes_ = std::move(classes); }

 private:
  std::map<ClassId, OfClass> classes_;
  Forgetting forgetting_;
};

/// The start of an instance of that type, and a move of a task to it.
Duration change_time(const InstanceType& type, const Delays& delays);

/// The run time of a task, from its start to its end, and where that is known from.
struct KnownTime {
  Duration run{};
  bool is_learnt = false;  ///< of its class; else it was said of the job
};

/// Run times that a round goes by. Both have to outlive it.
struct KnownTimes {
  const MusterParams& params;
  const ClassTimes& classes;

  /// As was said, by the party that is believed; else that of the class. Nothing where neither is
  /// known.
  std::optional<KnownTime> of(const Job& job, const TaskSpec& spec, ClassId cls) const;
  /// Such a task is over so soon that a start of an instance, and a move, count for much: `change`
  /// is the time that both take (change_time).
  bool is_short(const KnownTime& time, Duration change) const;
};

}  // namespace muster::own
