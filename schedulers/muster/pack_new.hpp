#pragma once

#include <cstdint>
#include <span>

#include "schedulers/muster/repartition.hpp"

namespace muster::own {

/// Ways to fill instances, and how often a task was looked at, or at it beside another.
struct Packing {
  Partition partition;
  std::uint64_t looks = 0;
};

/// Packs pieces of no gang on new instances: fills one of each offer with the pieces in the order
/// of their value, takes the one that saves most of what its pieces are worth over each of them on
/// an instance of its own, and goes on with the rest. For many small tasks, which one by one never
/// pay for a larger instance. A piece that no offer holds waits, and so do those that may,
/// where the best instance for them is worth no more than that. O(new instances x offers x (kinds +
/// pieces of an instance)) steps.
Packing pack_new(const ValueModel& model, std::span<const Piece> pieces);

}  // namespace muster::own
