#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedulers/packing/index/aside_index.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/feasible_types.hpp"

namespace muster {

/// Numbers from here on name instances that a plan has still to launch: its launches in turn.
inline constexpr std::uint64_t kFirstPlanned = 1ULL << 63;

/// The instances of a market whose room grew since the last round. The i-th of them belongs to
/// group i modulo the number of groups; `most` is an upper bound of what any of a group has free.
struct Grown {
  std::vector<InstanceId> ids;
  std::vector<Resources> most;
};

/// Facts of the instances' room that do not follow from the state.
struct FreeCapacitySnapshot {
  std::vector<std::pair<InstanceId, Instant>> empty;  ///< since when, the longest first
  std::array<Grown, 2> grown;                         ///< of each market
};

/// The room that is free on the instances that tasks may be placed on. It follows the state's
/// events; room that a round takes in advance is given back at its end, and its plan's events take
/// it.
class FreeCapacityIndex {
 public:
  explicit FreeCapacityIndex(const FeasibleTypes& feasible_types);

  /// Only instances that are ready have room; otherwise those on their way as well.
  void set_ready_only(bool only) { ready_only_ = only; }
  /// The instance is as the state has it now, or is gone.
  void follow(const ClusterState& state, const FeasibleTypes& feasible_types, InstanceId id,
              Instant now);
  /// The market of an instance that is not gone.
  std::optional<Market> market_of(InstanceId id) const;

  /// The instance with room for all of them together that has the least room left: the sum, over
  /// the kinds of resources, of what is free as a share of the reference. Ties: the smallest id.
  /// Of those that they may join, by the numbers of their ids; O(log instances) for each that is
  /// passed by for the rule's sake: once while its jobs ask.
  std::optional<InstanceId> best_fit(Market market, Shapes shapes,
                                     const FeasibleTypes& feasible_types,
                                     const RoomRule& may_join = {}) const;
  /// A round takes the room for them. The instance has to have it.
  void take(InstanceId id, Shapes shapes, const FeasibleTypes& feasible_types);
  /// Gives back what a round took for them; for gangs that did not fit whole.
  void give_back(InstanceId id, Shapes shapes, const FeasibleTypes& feasible_types);
  /// A round keeps the instance from whoever asks.
  void close(InstanceId id);
  /// A round will launch one more instance, which the number names until the end of the round.
  InstanceId plan_launch(TypeId type, Market market, const FeasibleTypes& feasible_types);
  /// The plan is made: all is as the state has it again.
  void give_all_back(const ClusterState& state);
  /// The round is over: nothing is new.
  void forget_freed();

  FreeCapacitySnapshot snapshot() const;
  /// Takes the snapshot back; the instances have been followed.
  void restore(const FreeCapacitySnapshot& snapshot);

  /// Somewhere on the market room came free since the last round that may be enough for a demand of
  /// at least `least`.
  bool may_have_grown(Market market, const Resources& least) const;
  /// The most that is free of each kind of resource on any one instance of the market.
  Resources max_free(Market market) const;
  /// Those whose room a round took are empty no more.
  bool taken(InstanceId id) const { return taken_.contains(id); }

  /// Instances without tasks, wanted and up or not, with the time since when, the longest first.
  const std::set<std::pair<Instant, InstanceId>>& empty() const { return empty_; }

 private:
  struct Headroom {
    Market market = Market::on_demand;
    TypeId type;
    std::uint32_t group = 0;  ///< of types
    Resources capacity;
    Resources free;
    bool listed = false;                 ///< tasks may be placed there
    std::optional<Instant> empty_since;  ///< has no tasks and is wanted
  };
  struct Key {
    double remaining = -1;
    InstanceId id{0};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Most {
    Most() = default;
    explicit Most(const Resources& headroom) : free(headroom) {}
    void add(const Most& other) { free = most_of(free, other.free); }
    friend bool operator==(const Most&, const Most&) = default;
    Resources free;
  };
  using Index = AsideIndex<Key, Resources, Most>;

  void begin_asking(const std::vector<Slot>& jobs) const;
  void follow_groups(const FeasibleTypes& feasible_types) const;
  Index& index_of_headroom(const Headroom& headroom);
  Key key_of(const Headroom& headroom, InstanceId id) const;
  void list(Headroom& headroom, InstanceId id, bool listed, const Resources& free);
  void set_free(InstanceId id, const Resources& free);
  void record_freed(const Headroom& headroom, InstanceId id);
  void update_freed(const Headroom& headroom, InstanceId id);
  void set_empty(Headroom& headroom, InstanceId id, std::optional<Instant> since);

  bool ready_only_ = false;
  Resources per_unit_;  ///< one over the reference
  // Looked up; gone through only to fill indexes, whose order does not depend on it.
  mutable std::unordered_map<InstanceId, Headroom> free_capacity_;
  // By market and group of types. Searches set aside what they pass by for those who ask.
  mutable std::array<std::vector<Index>, 2> by_market_;
  mutable std::uint64_t grouping_ = 0;  ///< of types, to which these belong
  mutable std::vector<Slot> aside_for_;
  std::array<Grown, 2> grown_;
  std::unordered_map<InstanceId, std::size_t> grown_at_;  // looked up only
  std::set<InstanceId> taken_;
  std::uint64_t planned_ = 0;
  std::set<std::pair<Instant, InstanceId>> empty_;
};

}  // namespace muster
