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
/// and a round mostly takes it: of thousands of tasks with the same few shapes one has to look. Of
/// tasks that are kept apart one of each job: an instance that has room, but its peers, may do for
/// others.
class KnownFull {
 public:
  struct Search {
    Market market;
    Shapes shapes;
    const std::vector<Slot>& apart;  ///< the jobs of those that are kept apart
  };
  bool contains(const Search& search) const {
    return search.shapes.size() <= 2 && known_.contains(key_of(search));
  }
  void add(const Search& search) {
    if (search.shapes.size() <= 2) known_.insert(key_of(search));
  }
  /// Room came free.
  void clear() { known_.clear(); }

 private:
  struct Key {
    std::uint64_t kind = 0, shapes = 0, apart = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// The jobs count, not which of the two shapes is theirs: any of them is refused by the same
  /// instances. Two tasks of one job need more room among their peers than one of them.
  static Key key_of(const Search& search) {
    const auto both = [](std::uint64_t a, std::uint64_t b) {
      return (std::max(a, b) << 32U) | std::min(a, b);
    };
    const std::uint64_t kind = 2 * search.shapes.size() + static_cast<std::uint64_t>(search.market);
    const std::vector<Slot>& apart = search.apart;
    return {
        kind, both(search.shapes.front().value, search.shapes.back().value),
        both(apart.empty() ? kNoSlot : apart.front(), apart.size() < 2 ? kNoSlot : apart.back())};
  }
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      const std::uint64_t mixed = key.shapes ^ (key.kind << 60U) ^ (key.apart << 7U);
      return static_cast<std::size_t>(mixed * 0x9e3779b97f4a7c15U);
    }
  };
  std::unordered_set<Key, Hash> known_;  // looked up only
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
  /// Likewise, where only the task may start, which is of no gang.
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
  std::vector<Slot> kept_apart(const std::vector<Slot>& tasks) const;
  RoomRule rule_for(const std::vector<Slot>& tasks, const std::vector<Slot>& jobs) const;
  Apart apart(Slot task) const { return p_.waiting.asks_of(task).apart; }
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
