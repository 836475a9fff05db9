#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/muster/fleet_memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Muster's own policy for the given instances of one market: one queue, short jobs first, in each
/// class the one that is done soonest.
class FleetPolicy final : public Policy {
 public:
  FleetPolicy(const Catalog& catalog, Market market, const MusterParams& params)
      : period_(params.period), fleet_(params.fleet, catalog, market) {}

  Cadence cadence() const override {
    return {.period = period_, .on_arrival = true, .on_capacity = true};
  }
  void observe(const Event& event, const ClusterView& view) override {
    fleet_.observe(event, view);
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override { return view.state.pending().empty(); }

  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<FleetPolicy>(*this); }

 private:
  Duration period_;
  FleetMemory fleet_;
};

}  // namespace muster::own
