#pragma once

#include <chrono>
#include <vector>

#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Parameters of no-packing: when rounds are held.
struct NoPackingParams {
  Duration period{std::chrono::seconds{300}};
  bool eager = false;  ///< rounds at once on arrivals and on resources that come free, too
  SpotUse spot = SpotUse::asked;
};

/// Gives every task a new instance of the cheapest type that holds it, never moves a task and never
/// uses an instance again. The baseline of the Eva paper. On a fixed fleet the oldest tasks get
/// the empty instances, one each.
class NoPacking final : public Policy {
 public:
  /// Thinks of the jobs and instances of one market.
  NoPacking(const Catalog& catalog, Market market, const NoPackingParams& params = {})
      : params_(params), prices_(catalog, only(market)) {}

  Cadence cadence() const override {
    return {.period = params_.period,
            .on_arrival = params_.eager,
            .on_capacity = params_.eager,
            .wants_throughput = true};
  }
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return true; }
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<NoPacking>(*this); }

 private:
  std::vector<char> place_on_fleet(const ClusterView& view, Plan& plan) const;

  NoPackingParams params_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_;
  bool changed_ = false;  ///< a job arrived, or a task left its place, since the last round
};

}  // namespace muster
