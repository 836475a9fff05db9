#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/stratus/stratus_round.hpp"

namespace muster::stratus {

/// Stratus: packs tasks that are expected to end together, buys instances for groups of such tasks
/// by cost efficiency, and clears instances that are used little.
/// schedulers/stratus/README.md says what the paper leaves open.
class StratusPolicy final : public EventPolicy {
 public:
  /// The catalog has to outlive the policy.
  StratusPolicy(const Catalog& catalog, const StratusParams& params)
      : EventPolicy(params.events),
        params_(params),
        groups_(catalog),
        prices_(catalog, MarketChoice::any) {}

  void observe(const Event& event, const ClusterView& view) override;
  /// Which instances have been used little, and at how many events, besides.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<StratusPolicy>(*this); }

 private:
  Decision hold_event(const ClusterView& view) override;
  void end_event(const ClusterView& view) override;

  StratusParams params_;
  RoomGroups groups_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_{true};
  LowCounts low_;
};

}  // namespace muster::stratus
