#pragma once

#include <cstdint>
#include <span>

#include "schedulers/muster/round_layout.hpp"

namespace muster::own {

/// Outcome, and how often a task was looked at, or at it beside another.
struct Emptied {
  bool is_better = false;
  std::uint64_t looks = 0;
};

/// Moves all tasks of an instance elsewhere, if the whole is worth more without it: each to the
/// target where it gains most, and what finds no place there to new instances packed with them. A
/// repartition shares few tasks among few instances exactly; this one gives many tasks to many.
/// Nothing changes otherwise. `host` has no tasks of gangs, no tasks that stay, and tasks of one
/// priority, or it is left alone. O(tasks x tasks on the targets).
Emptied empty_host(RoundLayout& layout, std::uint32_t host, std::span<const std::uint32_t> targets);

}  // namespace muster::own
