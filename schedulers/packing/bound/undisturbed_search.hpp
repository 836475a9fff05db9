#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedulers/packing/bound/pattern_search.hpp"
#include "schedulers/packing/bound/search_items.hpp"

namespace muster::bound {

/// The patterns of a type that are worth the most where no task slows another: a knapsack of
/// several dimensions. Depth first by falling worth for the room that is taken, where the room has
/// one price for each resource; judged by what the rest of the room, taken together, can hold.
/// Finds only what is worth more than `enough_usd_h`; the last few that it came upon, the best one
/// first.
TypeFinds find_undisturbed(const SearchItems& all, std::uint32_t type, double enough_usd_h,
                           std::uint64_t nodes);

/// Patterns that are near to being worth their type's price, for who needs whole instances: of
/// these a cheaper choice has to be made up.
struct NearPatterns {
  std::vector<Pattern> patterns;
  bool complete = true;  ///< there are no others
};

/// All patterns of the type that are worth no more than `slack_usd_h` less than it costs, and on
/// which no task more fits; `most` of them at most, found by looking at `nodes` sets of tasks. For
/// problems in which no task slows another.
NearPatterns find_near(const FluidProblem& problem, std::uint32_t type,
                       const std::vector<double>& usd_per_work_h, double slack_usd_h,
                       std::size_t most, std::uint64_t nodes);

}  // namespace muster::bound
