#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "schedulers/sampling/scheduler.hpp"

namespace muster::sampling {

/// Rules of the central scheduler for its group.
struct CentralRules {
  double short_partition = 0;  ///< share of the workers that it leaves alone: the first ones
  Duration network_delay{};
};

/// Eagle's central scheduler of long jobs (SoCC'16, as in Hawk): places each task at the worker
/// with the least waiting time by its own estimates, and tells each worker which others hold long
/// tasks. Of short tasks it knows nothing.
class CentralScheduler final : public Scheduler {
 public:
  explicit CentralScheduler(const CentralRules& rules) : rules_(rules) {}

  void open(const Roster& roster, Actions& out) override;
  void take(const TaskBatch& batch, Instant now, Actions& out) override;
  void asked(const TaskRequest& request, Instant now, Actions& out) override;
  void done(const TaskDone& done, Instant now, Actions& out) override;

  /// Estimated seconds until the worker would come to a task that is placed there now.
  double waiting_s(WorkerIndex worker, Instant now) const;
  bool has_long(WorkerIndex worker) const { return bits_->has_long[worker]; }

 private:
  struct Running {
    JobId job;
    Instant since;
  };
  struct Load {
    /// Estimates of the long tasks here, each times its share of the worker.
    double queued_s = 0;
    std::uint32_t tasks = 0;
    std::vector<Running> running;
  };
  struct Open {
    SharedJob job;
    std::size_t left = 0;  ///< tasks that are not over
  };

  double cost_s(const SampledJob& job, WorkerIndex worker) const;
  void mark(WorkerIndex worker, bool has_long);

  CentralRules rules_;
  Roster roster_;
  WorkerIndex first_ = 0;  ///< worker that may get long tasks
  std::vector<Load> loads_;
  std::unordered_map<JobId, Open> open_;
  std::shared_ptr<LongBits> bits_;  ///< copied before it changes when others hold it
};

}  // namespace muster::sampling
