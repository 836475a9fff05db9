#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedulers/baselines/greedy_buyer.hpp"
#include "schedulers/packing/event_policy.hpp"
#include "schedulers/packing/expected_run.hpp"
#include "schedulers/packing/rounds/moves.hpp"

namespace muster {

/// Parameters of supercloud.
struct SupercloudParams {
  EventRules events;
  RunTimeRules run_times{.source = RunTimeSource::hinted};
  MoveRules moves;
  GreedyRank rank = GreedyRank::used;
  bool dot = false;  ///< tasks go to running instances first, as in the build-up to Stratus
};

/// SuperCloud-Spot as the Stratus paper compares with: for tasks that wait at an event new
/// instances are bought by the greedy, and never join running ones; all tasks of an instance move
/// to the instances that the greedy would buy for them now when that pays.
class Supercloud final : public EventPolicy {
 public:
  /// The catalog has to outlive the policy.
  Supercloud(const Catalog& catalog, const SupercloudParams& params)
      : EventPolicy(params.events),
        params_(params),
        groups_(catalog),
        prices_(catalog, MarketChoice::any) {}

  std::unique_ptr<Policy> clone() const override { return std::make_unique<Supercloud>(*this); }

  /// Instances for which the greedy was asked again: only after their tasks, a price or an offer
  /// have changed.
  std::uint64_t looks() const { return looks_; }
  /// Tasks for which room was looked for on running instances: of equal ones that find no room,
  /// one.
  std::uint64_t searches() const { return searches_; }

 private:
  /// A scheduling event under way.
  struct Work {
    const ClusterView& view;
    const MarketOffers& offers;
    Plan& plan;
  };

  /// The instances that the greedy would buy for all tasks of one, and for which tasks.
  struct Rebuy {
    InstanceId of{0};
    std::vector<std::uint64_t> shapes{};  ///< of the tasks, as the state counts them
    MarketChoice markets = MarketChoice::any;
    std::vector<GreedyGroup> groups{};
  };

  Decision hold_event(const ClusterView& view) override;
  std::vector<std::uint32_t> place_on_running(const ClusterView& view, Plan& plan);
  void buy(const Work& work, std::span<const std::uint32_t> waiting) const;
  void buy_for(const Work& work, std::span<const std::uint32_t> tasks, MarketChoice choice) const;
  void buy_and_fill_up(const Work& work, std::span<const std::uint32_t> layer,
                       std::vector<std::uint32_t>& others, MarketChoice choice) const;
  std::vector<ShapeId> shapes_of(const Work& work, std::span<const std::uint32_t> tasks) const;
  void rent(const Work& work, std::span<const std::uint32_t> tasks, const GreedyGroup& group,
            MarketChoice choice) const;
  void keep_up(const MarketOffers& offers);
  const std::vector<GreedyGroup>* rebuy(const Work& work, const RoundInput::Instance& from);
  bool move(const Work& work, const RoundInput::Instance& from);
  GreedyBuyer buyer(const Work& work) const {
    return {prices_, groups_, params_.rank, work.offers};
  }
  Duration left_of(const ClusterView& view, std::uint32_t task) const;

  SupercloudParams params_;
  RoomGroups groups_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  RoundInput input_{true};
  std::vector<char> joined_;  ///< of each instance: a task comes
  /// By the slot of the instance, at the prices and offers below: each event looks at all instances
  /// and changes few.
  std::vector<Rebuy> rebuys_;
  std::uint64_t rebuys_prices_ = 0;
  std::vector<std::array<bool, 2>> rebuys_rests_;
  std::vector<std::uint64_t> resident_shapes_;  ///< of the instance in hand
  std::uint64_t looks_ = 0;
  std::uint64_t searches_ = 0;
};

}  // namespace muster
