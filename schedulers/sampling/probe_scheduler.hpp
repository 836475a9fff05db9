#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/sampling/scheduler.hpp"
#include "schedulers/sampling/worker_sampler.hpp"

namespace muster::sampling {

/// How jobs are sampled. The defaults are Sparrow's.
struct ProbeRules {
  double probe_ratio = 2;          ///< probes a task
  std::uint32_t min_probes = 1;    ///< a job
  bool replacement = false;        ///< draws each worker from all, not from those not drawn yet
  bool cancellation = false;       ///< probes of no use any more are called back
  std::uint32_t retry_rounds = 0;  ///< rounds after a rejection before the short partition (Eagle)
  double short_partition = 0;      ///< share of the workers that take no long task (Eagle)
};

/// Number of workers for short tasks alone, of `workers`: at least one, at most all but one.
std::size_t short_workers(double share, std::size_t workers);

/// A job scheduler that samples workers and binds late: Sparrow's batch sampling (SOSP'13), and the
/// distributed schedulers of Eagle (SoCC'16), whose probes may be rejected.
class ProbeScheduler final : public Scheduler {
 public:
  ProbeScheduler(const ProbeRules& rules, std::uint64_t seed) : rules_(rules), rng_(seed) {}

  void open(const Roster& roster, Actions& out) override;
  void take(const TaskBatch& batch, Instant now, Actions& out) override;
  void asked(const TaskRequest& request, Instant now, Actions& out) override;
  void rejected(const Rejection& rejection, Actions& out) override;
  void settle(JobId id, Actions& out) override;

 private:
  /// A job with tasks that are not handed out.
  struct Open {
    TaskBatch batch;
    std::size_t next = 0;                ///< of the batch's tasks
    std::vector<WorkerIndex> probed;     ///< and not heard of since; kept for cancellation only
    SharedBits newest;                   ///< of the rejections
    std::vector<std::uint32_t> refused;  ///< rounds of the probes that were, to be settled
  };
  /// Where tasks of some shape may go.
  struct Places {
    WorkerSampler all;
    WorkerSampler short_only;
  };

  Places& places_for(const SampledJob& job);
  std::size_t probes_for(std::size_t tasks) const;
  std::vector<WorkerIndex> draw(const Open& job, std::uint32_t round, std::size_t count);
  void probe(Open& job, std::uint32_t round, std::size_t count, Actions& out);
  void call_back(const Open& job, Actions& out) const;

  ProbeRules rules_;
  Rng rng_;
  Roster roster_;
  std::size_t short_only_ = 0;  ///< number of the first workers, which take no long task
  std::map<std::vector<bool>, Places> places_;  ///< by the types that hold a task
  std::unordered_map<JobId, Open> open_;
};

}  // namespace muster::sampling
