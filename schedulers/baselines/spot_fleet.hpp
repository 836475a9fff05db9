#pragma once

#include <cstdint>
#include <memory>

#include "schedulers/baselines/rent.hpp"
#include "schedulers/packing/event_policy.hpp"
#include "schedulers/packing/rounds/round_input.hpp"

namespace muster {

/// Parameters of spot-fleet.
struct SpotFleetParams {
  EventRules events;
  Resource packed = Resource::cpu;  ///< the resource that tasks are packed by
  PriceRank rank = PriceRank::instance;
};

/// Spot Fleet's lowestPrice with the binpack of ECS, as the Stratus paper compares with: a task
/// goes to the running instance with the least left of one resource that has room; for a task that
/// finds no room the cheapest type that holds it is bought, which takes others then. No task is
/// moved, and run times do not count.
class SpotFleet final : public EventPolicy {
 public:
  /// The catalog has to outlive the policy.
  SpotFleet(const Catalog& catalog, const SpotFleetParams& params)
      : EventPolicy(params.events),
        params_(params),
        groups_(catalog),
        prices_(catalog, MarketChoice::any) {}

  std::unique_ptr<Policy> clone() const override { return std::make_unique<SpotFleet>(*this); }

  /// Tasks for which it looked for room so far: of equal ones that find no room, one.
  std::uint64_t looks() const { return looks_; }

 private:
  Decision hold_event(const ClusterView& view) override;

  SpotFleetParams params_;
  RoomGroups groups_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster
