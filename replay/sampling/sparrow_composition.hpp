#pragma once

#include "replay/sampling/composition.hpp"

namespace muster::sampling {

/// One scheduler that probes all workers.
class SparrowComposition final : public CompositionOf<SparrowParams> {
 public:
  using CompositionOf::CompositionOf;

  std::vector<std::unique_ptr<Scheduler>> make_schedulers(std::uint64_t seed) const override;
  void connect(GroupMembership& group, const std::vector<GroupScheduler>& schedulers,
               std::size_t workers) const override;
};

}  // namespace muster::sampling
