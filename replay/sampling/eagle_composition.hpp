#pragma once

#include "replay/sampling/composition.hpp"

namespace muster::sampling {

/// A scheduler that probes for short jobs, and a central one that places the tasks of long jobs
/// outside the short partition.
class EagleComposition final : public CompositionOf<EagleParams> {
 public:
  using CompositionOf::CompositionOf;

  std::string fault(std::size_t workers) const override;
  std::vector<std::unique_ptr<Scheduler>> make_schedulers(std::uint64_t seed) const override;
  std::size_t scheduler_for(const SampledJob& job) const override;
  bool is_reserved(WorkerIndex worker, std::size_t workers) const override;
  void connect(GroupMembership& group, const std::vector<GroupScheduler>& schedulers,
               std::size_t workers) const override;
};

}  // namespace muster::sampling
