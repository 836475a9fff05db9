#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// The tasks of a wide job that have not ended, in their order, without a look at those that have:
/// an array of 100,000 tasks of which all but the last have ended costs a round no more than a job
/// of one task. A cache: it follows from the state alone.
class WideJob {
 public:
  WideJob(const JobRow& job, const ClusterState& state);

  JobId id() const { return id_; }
  /// All tasks ask for equal room.
  bool is_alike() const { return alike_; }
  /// The first task at or behind the position that has not ended; the number of tasks when all
  /// have.
  std::uint32_t open_from(std::uint32_t position, const JobRow& job, const ClusterState& state);

  bool is_used = true;     ///< by this round
  std::uint32_t told = 0;  ///< no waiting task before this position lacks a reason

 private:
  JobId id_;
  bool alike_ = true;
  /// Of each position one from which on the next open task stands; its own until its task has
  /// ended.
  std::vector<std::uint32_t> next_;
};

/// Data of the wide jobs of a state.
class WideJobs {
 public:
  /// Jobs of fewer tasks are walked through.
  static constexpr std::size_t kWide = 1'024;

  /// Null: the job is not wide.
  WideJob* find(const JobRow& job, const ClusterState& state);
  /// Forgets what was not asked for since the last call.
  void end_round();

 private:
  std::map<Slot, WideJob> jobs_;
};

}  // namespace muster
