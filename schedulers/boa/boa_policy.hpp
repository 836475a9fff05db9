#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster::boa {

/// BOA Constrictor: each job is as wide as the width plan has jobs of its class in its epoch; jobs
/// whose width does not change stay where they are, and instances follow what the widths add up to.
/// schedulers/boa/README.md says what the paper leaves open.
class BoaPolicy final : public Policy {
 public:
  explicit BoaPolicy(const BoaParams& params) : params_(params), memory_(params) {}

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override {
    memory_.observe(event, view);
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  std::string save_state(const ClusterState&) const override { return memory_.save(); }
  bool load_state(std::string_view text, const ClusterView& view) override {
    return memory_.load(text, view);
  }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<BoaPolicy>(*this); }

 private:
  BoaParams params_;
  BoaMemory memory_;
  PlacementMask mask_;  ///< a cache: follows from the state
};

}  // namespace muster::boa
