#pragma once

#include <algorithm>
#include <utility>

// The search for a price of the budget's unit. At a price every class has a best way of its own;
// the dearer the unit, the cheaper and slower those ways.

namespace muster::boa {

/// Prices that are tried, at the most.
inline constexpr int kMostPrices = 200;
/// Of what two choices are worth at a price: a third one that is better by less is no better.
inline constexpr double kLeastGain = 1e-12;
/// Units that are worth an hour less of a job, at the most: beyond it ways are the cheapest.
inline constexpr double kHighestPrice = 1e6;
/// A lower price is free: of ways that take equal times the cheapest is enough.
inline constexpr double kLowestPrice = 1e-9;

/// The fastest choice of any price that keeps a budget, the next faster one, which does not, and
/// what nothing within the budget is better than. A choice has `hours` and `cost`.
template <class Choice>
struct ChoiceNeighbours {
  Choice within;
  Choice over;       ///< likewise, where the budget is more than enough
  double bound = 0;  ///< on the choice's hours
  double price = 0;  ///< at which `within` is best
};

/// `chooser.at(price)` is the choice of least hours + price x cost; `within` is the cheapest one,
/// which keeps the budget.
template <class Chooser, class Choice>
ChoiceNeighbours<Choice> neighbours_of(Chooser& chooser, double budget, Choice within) {
  Choice over = chooser.at(kLowestPrice);
  if (over.cost <= budget) return {over, over, over.hours, kLowestPrice};
  double bound = 0;
  double price = kHighestPrice;
  for (int i = 0; i < kMostPrices; ++i) {
    // At this price both are worth equally much.
    price = (within.hours - over.hours) / (over.cost - within.cost);
    Choice tried = chooser.at(price);
    const double worth = tried.hours + price * tried.cost;
    // The unused part of the budget is worth its price to no job: the Lagrangian bound.
    bound = std::max(bound, worth - price * budget);
    const double line = within.hours + price * within.cost;
    if (line - worth <= kLeastGain * line) break;
    (tried.cost <= budget ? within : over) = std::move(tried);
  }
  return {std::move(within), std::move(over), bound, price};
}

}  // namespace muster::boa
