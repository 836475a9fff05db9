#pragma once

#include "replay/sampling/composition.hpp"

namespace muster::sampling {

/// A distributor, and behind it a master for each group of workers. Workers send no requests: the
/// master sends tasks that they have room for, and with the distributor hears of every end.
class PigeonComposition final : public CompositionOf<PigeonParams> {
 public:
  using CompositionOf::CompositionOf;

  std::string fault(std::size_t workers) const override;
  std::vector<std::unique_ptr<Scheduler>> make_schedulers(std::uint64_t seed) const override;
  bool is_reserved(WorkerIndex worker, std::size_t workers) const override;
  void connect(GroupMembership& group, const std::vector<GroupScheduler>& schedulers,
               std::size_t workers) const override;
  bool schedulers_end_jobs() const override { return true; }
};

}  // namespace muster::sampling
