#pragma once

#include <functional>
#include <memory>

#include "schedulers/policy.hpp"

namespace muster {

/// Gives jobs that want spot instances and all others a policy of the same kind each, which thinks
/// of its own market only (MarketView). Policies whose papers know both markets do not need this.
class MarketSplit final : public Policy {
 public:
  using Make = std::function<std::unique_ptr<Policy>(Market)>;

  /// `make` is called for both markets.
  explicit MarketSplit(const Make& make);
  MarketSplit(const MarketSplit& other);
  MarketSplit& operator=(const MarketSplit&) = delete;

  Cadence cadence() const override { return on_demand_->cadence(); }
  Cadence fleet_cadence() const override { return on_demand_->fleet_cadence(); }
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override {
    return on_demand_->settled(view) && (!spot_wanted_ || spot_->settled(view));
  }
  /// What both remember.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  /// The one that sees everything but spot instances.
  const Policy& on_demand() const { return *on_demand_; }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<MarketSplit>(*this); }

 private:
  void look_once(const ClusterView& view);
  void observe_round(const Event& event, const ClusterView& view);

  std::unique_ptr<Policy> on_demand_, spot_;
  bool spot_wanted_ = false;  ///< some job has asked for it: from then on both observe
  bool looked_ = false;       ///< at what was there before the first event
};

}  // namespace muster
