#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schedulers/hcoop/waiting.hpp"
#include "schedulers/packing/index/free_capacity_index.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/policy.hpp"

namespace muster::hcoop {

/// Where the next tick goes on asking for what was refused.
struct RetryMark {
  std::size_t queue = 0;
  Order from = 0;
};

/// Shapes that found no instance with room for them together. A search fails until room comes free,
/// and a round mostly takes it: of thousands of tasks with the same few shapes one has to look.
class KnownFull {
 public:
  bool contains(Market market, Shapes shapes) const {
    return shapes.size() <= 2 && known_.contains(key_of(market, shapes));
  }
  void add(Market market, Shapes shapes) {
    if (shapes.size() <= 2) known_.insert(key_of(market, shapes));
  }
  /// Room came free.
  void clear() { known_.clear(); }

 private:
  static std::pair<std::uint64_t, std::uint64_t> key_of(Market market, Shapes shapes) {
    const auto [low, high] = std::minmax(shapes.front().value, shapes.back().value);
    const std::uint64_t kind = 2 * shapes.size() + static_cast<std::uint64_t>(market);
    return {kind, (std::uint64_t{high} << 32U) | low};
  }
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
      return static_cast<std::size_t>((key.second ^ (key.first << 60U)) * 0x9e3779b97f4a7c15U);
    }
  };
  std::unordered_set<std::pair<std::uint64_t, std::uint64_t>, Hash> known_;  // looked up only
};

/// One round: Algorithm 4 over the queues, each placement unit onto the most matched instance
/// (III-E).
class PlacementRound {
 public:
  struct Parts {
    const ClusterView& view;
    const HcoopParams& params;
    const FeasibleTypes& feasible_types;
    FreeCapacityIndex& free_capacity;
    WaitingTasks& waiting;
  };
  explicit PlacementRound(const Parts& parts) : p_(parts) {}

  /// Places what is fresh, and what waits where room came free since the last round: nothing else
  /// can fit that did not fit before.
  void serve(const WaitingTasks::Fresh& fresh);
  /// Places the gang whose turn it is, when it can have all its places, and nothing else.
  void serve_turn(const WaitingTasks::Fresh& fresh, PlacementUnitId gang);
  /// The same where only the task may start, which is of no gang.
  void serve_alone(const WaitingTasks::Fresh& fresh, Slot task);
  /// Asks the cloud again for what waits, for a bounded number of placement units.
  void retry(RetryMark& mark);
  /// Gives back what has had no task for long enough.
  void release_idle();

  /// The placement units that the plan has places for, all or in part.
  const std::vector<PlacementUnitId>& placed() const { return placed_; }
  /// The plan, with its figures. The last call.
  Plan take_plan();

 private:
  void serve_queue(QueueKind queue, const std::vector<PlacementUnitId>& fresh);
  void serve_in_order(QueueKind queue, const std::vector<PlacementUnitId>& fresh);
  bool may_fit(QueueKind queue, const Resources& least) const;
  bool may_ask(PlacementUnitId id) const;
  bool handle(PlacementUnitId id, bool ask);
  bool place_together(const PlacementUnit& unit, const std::vector<Slot>& tasks, bool ask);
  bool place_gang(const PlacementUnit& unit, bool ask);
  bool place_parts(const PlacementUnit& unit, bool ask);
  bool join(Market market, const std::vector<Slot>& tasks);
  bool launch(Market market, const std::vector<Slot>& tasks);
  bool has_peers_in(const std::vector<Slot>& tasks) const;
  RoomRule rule_for(const std::vector<Slot>& tasks) const;
  Slot apart(Slot task) const { return apart_of(p_.view.state.job(p_.view.state.task(task).job)); }
  void put(const std::vector<Slot>& tasks, InstanceId on, CauseCode alone);
  void keep_waiting(PlacementUnitId id);
  bool spot_is_short(const std::vector<Slot>& tasks) const;
  std::vector<ShapeId> shapes_of(const std::vector<Slot>& tasks) const;
  Refusal why_not_now(const PlacementUnit& unit, Slot slot) const;

  Parts p_;
  KnownFull known_full_;
  PeerRooms peers_;  ///< where the round has put tasks that are kept apart; rooms are instances
  Plan plan_;
  std::vector<PlacementUnitId> placed_;
  std::size_t packed_tasks_ = 0;
  std::size_t packs_ = 0;
  double deviation_sum_ = 0;
};

}  // namespace muster::hcoop
