#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedulers/packing/index/open_rooms.hpp"
#include "schedulers/stratus/runtime_bins.hpp"

namespace muster::stratus {

/// How tasks find running instances.
enum class Packing : std::uint8_t {
  bins,  ///< by runtime bins (3.2.2)
  dot,   ///< where the dot product of need and free room is largest, whatever the run times
  none   ///< not at all: waiting tasks get new instances
};

/// The parts of the packer that are used.
struct PackerRules {
  Packing packing = Packing::bins;
  Duration unit{std::chrono::seconds{1}};  ///< of the bins
  bool up = true;                          ///< into greater bins
  bool down = true;                        ///< into lesser ones
};

/// An instance that tasks may be placed on.
struct Room {
  TypeId type;
  Market market = Market::on_demand;
  Resources free;
  Duration remaining{};  ///< the longest of its tasks
};

/// A task that looks for a room.
struct Item {
  ShapeId shape;
  MarketChoice markets = MarketChoice::any;
  Duration remaining{};

  friend bool operator==(const Item&, const Item&) = default;
};

/// Which way a task found its room.
enum class Phase : std::uint8_t { native, up, down };

/// Where a task goes.
struct Found {
  std::uint32_t room = 0;
  Phase phase = Phase::native;
};

/// The packer of Stratus: running instances in bins by the longest remaining run time of their
/// tasks. A task looks in its native bin for the instance whose remaining time is closest to its
/// own, then in greater bins, the next one first, and then in lesser bins likewise for the instance
/// with the most available.
class BinPacker {
 public:
  /// Its arguments have to outlive it.
  BinPacker(const RoomGroups& groups, const PlacementMask& mask, const PackerRules& rules)
      : groups_(groups), mask_(mask), rules_(rules) {}

  /// Rooms are numbered from 0 on.
  std::uint32_t add(const Room& room);
  const Room& room(std::uint32_t number) const { return rooms_[number].room; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(rooms_.size()); }
  /// Nothing finds the room any more, until it is opened again. True: it was open.
  bool close(std::uint32_t number);
  void open(std::uint32_t number);

  /// Where the task goes; nothing when no open room holds it.
  std::optional<Found> find(const Item& item);
  /// The task takes its part of the room, which goes to the bin of the task when that is greater.
  void put(const Item& item, std::uint32_t number) { fill({item, number, 1}); }
  /// A number of tasks like the item.
  struct Fill {
    const Item& item;
    std::uint32_t room = 0;
    std::size_t at_most = 1;
  };
  /// Likewise, for as many as the room holds; returns their number.
  std::size_t fill(const Fill& fill);
  /// The room is as it was before.
  void restore(std::uint32_t number, const Room& before);

  std::uint32_t bin_of(Duration remaining) const {
    return rules_.packing == Packing::bins ? stratus::bin_of(remaining, rules_.unit) : 0;
  }

 private:
  struct Entry {
    Room room;
    bool open = true;
  };
  /// The open rooms of a bin, in the orders in which they are looked for.
  struct Bin {
    explicit Bin(std::uint32_t groups) : rising(groups), freest(groups) {}
    OrderedRooms rising;  ///< by remaining time
    OrderedRooms freest;  ///< the one with the most available first
  };

  const GroupNeeds& needs_of(const Item& item);
  void list(std::uint32_t number);
  void unlist(std::uint32_t number);
  OrderedRooms::Key freest_key(std::uint32_t number) const;
  std::optional<std::uint32_t> closest(const Bin& bin, const GroupNeeds& needs,
                                       Duration remaining) const;

  const RoomGroups& groups_;
  const PlacementMask& mask_;
  PackerRules rules_;
  std::vector<Entry> rooms_;
  std::map<std::uint32_t, Bin> bins_;
  std::optional<Item> asked_;  ///< of whom needs_ is: the tasks of an array come one after another
  GroupNeeds needs_;
};

}  // namespace muster::stratus
