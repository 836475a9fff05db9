#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schedulers/packing/idle_instances.hpp"
#include "schedulers/stratus/stratus_round.hpp"

namespace muster::stratus {

/// Stratus: packs tasks that are expected to end together, buys instances for groups of such tasks
/// by cost efficiency, and clears instances that are used little. It decides at scheduling events,
/// one a period; in between it gives empty instances back.
/// schedulers/stratus/README.md says what the paper leaves open.
class StratusPolicy final : public Policy {
 public:
  /// The catalog has to outlive the policy.
  StratusPolicy(const Catalog& catalog, const StratusParams& params)
      : params_(params), groups_(catalog), prices_(catalog, MarketChoice::any) {}

  Cadence cadence() const override {
    return {.period = params_.period,
            .on_arrival = params_.eager,
            .on_capacity = params_.eager || params_.at_once};
  }
  /// Nothing is given back.
  Cadence fleet_cadence() const override {
    return {.period = params_.period, .on_arrival = params_.eager, .on_capacity = params_.eager};
  }
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }

  /// When the last scheduling event was, and which instances have been used little since when.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<StratusPolicy>(*this); }

 private:
  std::int64_t period_of(Instant now) const { return now.time_since_epoch() / params_.period; }
  void end_event(const ClusterView& view);

  StratusParams params_;
  RoomGroups groups_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_;
  IdleInstances idle_;
  LowCounts low_;
  std::optional<std::int64_t> last_event_;  ///< the number of its period
  bool settled_ = false;                    ///< a cache: of the last decision
};

}  // namespace muster::stratus
