#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

/// Hosts of a layout by the room that they have left, so that who looks for room passes by those
/// that are full. A change of a host costs the logarithm of the cells, a look what has room.
class RoomIndex {
 public:
  explicit RoomIndex(const RoundLayout& layout) : layout_(layout) {}

  /// All hosts with room for the task, and those to be rented, which may become larger ones. The
  /// answer stands till the next call.
  const std::vector<std::uint32_t>& with_room_for(std::uint32_t task);
  /// No more than that number of hosts, there or to be rented: those with the least room for the
  /// task, and a few that were added last. It looks at four times as many at most.
  const std::vector<std::uint32_t>& some_with_room_for(std::uint32_t task, std::size_t most);

 private:
  static constexpr std::size_t kKinds = kAllResources.size();
  /// Hosts of one type that have about as much left of each resource.
  struct Cell {
    std::uint32_t type = 0;
    std::array<std::uint8_t, kKinds> levels{};

    /// The fullest first.
    auto key() const {
      std::uint32_t sum = 0;
      for (const std::uint8_t level : levels) sum += level;
      return std::tuple(sum, type, levels);
    }
    friend bool operator==(const Cell&, const Cell&) = default;
    friend bool operator<(const Cell& a, const Cell& b) { return a.key() < b.key(); }
  };
  /// Where a host stands.
  struct Known {
    bool listed = false;
    Cell cell;
    std::uint32_t place = 0;  ///< in its cell
  };

  void take_in_changes();
  void follow(std::uint32_t host);
  void take_out(std::uint32_t host);
  bool may_hold(const Cell& cell, std::uint32_t task, std::uint32_t host) const;

  const RoundLayout& layout_;
  std::map<Cell, std::vector<std::uint32_t>> cells_;
  std::vector<Known> known_;          ///< of each host
  std::vector<std::uint32_t> fresh_;  ///< those to be rented, in the order of their numbers
  std::size_t seen_changes_ = 0;      ///< of the layout
  std::vector<std::uint32_t> found_;
};

}  // namespace muster::own
