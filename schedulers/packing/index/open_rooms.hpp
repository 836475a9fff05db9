#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/plan.hpp"
#include "schedulers/packing/index/aside_index.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster {

/// Resources that a task takes on the instances of each group; nothing where it may not be.
using GroupNeeds = std::vector<std::optional<Resources>>;

/// Instances on which a task has one demand: those of one market and group of types (PlacementMask)
/// are a group of rooms. Groups are those of a round, as the mask learns of constraints.
class RoomGroups {
 public:
  explicit RoomGroups(const Catalog& catalog);

  static std::uint32_t size(const PlacementMask& mask) { return 2 * mask.groups(); }
  static std::uint32_t of(const PlacementMask& mask, TypeId type, Market market) {
    return 2 * mask.group_of(type) + (market == Market::spot ? 1 : 0);
  }
  /// Of a task that asks so; the mask knows its shape.
  static GroupNeeds needs(const PlacementMask& mask, const PlaceAsks& asks);
  /// The largest capacity of every kind of resource.
  const Resources& reference() const { return reference_; }
  /// One over the reference; 0 of what no type has.
  const Resources& per_unit() const { return per_unit_; }
  /// The amount as shares of the reference, summed over the kinds of resources.
  double sum_of_shares(const Resources& amount) const;

 private:
  Resources reference_, per_unit_;
};

/// Rooms in the order of a key, by groups: the first one that has room for a task is found without
/// a look at those that are too full. A room is named by its number.
class OrderedRooms {
 public:
  struct Key {
    double order = 0;
    std::uint32_t room = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  explicit OrderedRooms(std::uint32_t groups) : by_group_(groups) {}

  void insert(std::uint32_t group, const Key& key, const Resources& free) {
    by_group_[group].insert(key, free);
  }
  /// It has to be in it.
  void erase(std::uint32_t group, const Key& key) { by_group_[group].erase(key); }
  /// The free amount of the room has changed. It has to be in it.
  void replace(std::uint32_t group, const Key& key, const Resources& free) {
    by_group_[group].replace(key, free);
  }
  /// Of each resource the most that is free in any room of the group; nothing: it has no room.
  std::optional<Resources> most(std::uint32_t group) const {
    if (by_group_[group].empty()) return std::nullopt;
    return by_group_[group].all().free;
  }
  /// The first room, not before `from`, that holds what the task needs there and that it may join.
  /// O(log rooms) for each room that is passed by for the rule's sake: once while its jobs ask.
  std::optional<Key> first(const GroupNeeds& needs, const Key& from,
                           const RoomRule& may_join = {}) const;
  /// Of the rooms that hold it and whose order is at most `order` one of the greatest; of these the
  /// one with the least number.
  std::optional<Key> last(const GroupNeeds& needs, double order) const;
  /// The room that is freest of what the task needs: with the largest sum over the kinds of
  /// resources of need x free, each times `per_unit` (the dot product of Panigrahy et al.). Ties:
  /// the first. Of those that the task may join.
  std::optional<Key> most_aligned(const GroupNeeds& needs, const Resources& per_unit,
                                  const RoomRule& may_join = {}) const;

 private:
  struct Most {
    Most() = default;
    explicit Most(const Resources& room) : free(room) {}
    void add(const Most& other);
    friend bool operator==(const Most&, const Most&) = default;
    Resources free;
  };
  using Index = AsideIndex<Key, Resources, Most>;
  struct Alignment;
  struct Found {
    std::uint32_t group = 0;
    Key key;
    Resources free;
  };

  void begin_asking(const std::vector<Slot>& jobs) const;
  std::optional<Found> first_with_room(const GroupNeeds& needs, const Key& from) const;

  // Searches set aside items that they pass by for the jobs that ask, and for no others.
  mutable std::vector<Index> by_group_;
  mutable std::vector<Slot> aside_for_;
};

}  // namespace muster
