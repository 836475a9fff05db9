#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/market_split.hpp"
#include "schedulers/muster/fleet_policy.hpp"
#include "schedulers/muster/rented_policy.hpp"

namespace muster::own {

/// Muster's own policy. Rented instances of both markets are decided on together, given ones by
/// market. schedulers/muster/README.md has the objectives and what was measured.
class MusterPolicy final : public Policy {
 public:
  MusterPolicy(const Catalog& catalog, const MusterParams& params);

  Cadence cadence() const override { return rented_.cadence(); }
  Cadence fleet_cadence() const override { return fleet_.cadence(); }
  void observe(const Event& event, const ClusterView& view) override {
    used(view).observe(event, view);
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override {
    return used(view).decide(view, rng, budget);
  }
  bool settled(const ClusterView& view) const override { return used(view).settled(view); }

  /// The memories of both: that of the unused one is empty but for defaults.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<MusterPolicy>(*this); }

 private:
  /// A master's instances are given or rented for as long as it runs.
  Policy& used(const ClusterView& view) {
    return view.rents() ? static_cast<Policy&>(rented_) : fleet_;
  }
  const Policy& used(const ClusterView& view) const {
    return view.rents() ? static_cast<const Policy&>(rented_) : fleet_;
  }

  RentedPolicy rented_;
  MarketSplit fleet_;
};

}  // namespace muster::own
