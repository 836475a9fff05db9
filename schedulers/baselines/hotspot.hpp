#pragma once

#include <memory>

#include "schedulers/baselines/rent.hpp"
#include "schedulers/packing/event_policy.hpp"
#include "schedulers/packing/expected_run.hpp"
#include "schedulers/packing/rounds/moves.hpp"
#include "schedulers/packing/rounds/round_input.hpp"

namespace muster {

/// Parameters of hotspot.
struct HotspotParams {
  EventRules events;
  RunTimeRules run_times{.source = RunTimeSource::hinted};
  MoveRules moves;
  double bid = 10;  ///< the most that a spot instance may cost, in prices on demand
};

/// HotSpot as the Stratus paper compares with: each task has an instance of its own, of the
/// cheapest type that holds it, and moves when another has become cheaper by so much that the move
/// pays.
class Hotspot final : public EventPolicy {
 public:
  /// The catalog has to outlive the policy.
  Hotspot(const Catalog& catalog, const HotspotParams& params)
      : EventPolicy(params.events),
        params_(params),
        groups_(catalog),
        prices_(catalog, MarketChoice::any) {}

  std::unique_ptr<Policy> clone() const override { return std::make_unique<Hotspot>(*this); }

 private:
  /// A scheduling event under way.
  struct Work {
    const ClusterView& view;
    const MarketOffers& offers;
    Plan& plan;
  };

  Decision hold_event(const ClusterView& view) override;
  void start(const Work& work, const TaskRow& row) const;
  void use_empty(const ClusterView& view, Plan& plan) const;
  bool move(const Work& work, const RoundInput::Instance& from) const;
  Launch launch_of(const ClusterView& view, const RentedAs& rented, const Cause& cause) const;

  HotspotParams params_;
  RoomGroups groups_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_{true};
};

}  // namespace muster
