#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/market_view.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Gives jobs that run on spot instances and all others a policy of the same kind each, which
/// thinks of its own market only (MarketView). Policies whose papers know both markets do not need
/// this.
///
/// A job that takes any market runs on demand, or, where such jobs are allowed on spot instances,
/// on the market on which its first task alone would cost least now; once a task of it has a place,
/// on that one's market.
class MarketSplit final : public Policy {
 public:
  using Make = std::function<std::unique_ptr<Policy>(Market)>;

  /// `make` is called for both markets.
  explicit MarketSplit(const Make& make, SpotUse use = SpotUse::asked);
  MarketSplit(const MarketSplit& other);
  MarketSplit& operator=(const MarketSplit&) = delete;

  Cadence cadence() const override { return on_demand_->cadence(); }
  Cadence fleet_cadence() const override { return on_demand_->fleet_cadence(); }
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override {
    return on_demand_->settled(view) && (!spot_wanted_ || spot_->settled(view));
  }
  /// The memories of both.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  /// The one that sees everything but spot instances.
  const Policy& on_demand() const { return *on_demand_; }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<MarketSplit>(*this); }

 private:
  void look_once(const ClusterView& view);
  bool wants_spot(const Job& job) const;
  std::vector<char> choose_markets(const ClusterView& view);
  bool is_cheaper_on_spot(const JobRow& job, const ClusterView& view) const;
  void observe_round(const Event& event, const ClusterView& view);

  std::unique_ptr<Policy> on_demand_, spot_;
  SpotUse use_;
  std::optional<ReservationPrices> prices_;  ///< of both markets, once they are compared
  bool spot_wanted_ = false;  ///< some job has asked for it, or may be there: both observe
  bool looked_ = false;       ///< at what was there before the first event
};

}  // namespace muster
