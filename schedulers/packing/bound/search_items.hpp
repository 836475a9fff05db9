#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// A sum of amounts may exceed the capacity by as much as plans may; twice that, so that no
/// rounding of ours forbids what is allowed to them.
inline constexpr double kRoomForRounding = 2 * kResourceEpsilon;
/// Most rounding error of sums, as a share, with much to spare.
inline constexpr double kRounding = 1e-11;

/// A kind of task, as the search for patterns on one type sees it.
struct SearchItem {
  std::uint32_t kind = 0;
  std::uint32_t cls = 0;   ///< among SearchItems::rates
  double value_usd_h = 0;  ///< of an hour without neighbours
  std::uint32_t most = 0;  ///< of them in a pattern; 0: any number
  std::array<double, kResourceKinds> amount{};
};

/// All that may be of use in a pattern on one type.
struct SearchItems {
  std::vector<SearchItem> items;  ///< the most valuable first
  PairTable rates;                ///< of the classes that the items have
  std::array<double, kResourceKinds> capacity{};
  std::uint32_t most_tasks = 0;  ///< no pattern has more

  /// Some task runs slower beside some other.
  bool slows() const;
};

/// Leaves out kinds that do not fit or are worth nothing, and those for which another one of their
/// class takes no more room, is worth as much and may come any number of times: a best pattern does
/// without them.
SearchItems search_items(const FluidProblem& problem, std::uint32_t type,
                         const std::vector<double>& usd_per_work_h);

/// Prices of the type's resources by which a pattern's value can be judged before it is whole: at
/// them and at a price a task, equal for all, no item is worth more than it takes, and the cost of
/// `tasks` tasks and the whole capacity is least. 0 tasks: tasks have no price. `factor`: on the
/// value of each class.
std::array<double, kResourceKinds> resource_prices(const SearchItems& items,
                                                   const std::vector<double>& factor,
                                                   std::uint32_t tasks);

}  // namespace muster::bound
