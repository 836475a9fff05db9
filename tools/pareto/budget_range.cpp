#include "tools/pareto/budget_range.hpp"

#include <cmath>

#include "config/numbers.hpp"

namespace muster::pareto {
namespace {

/// Of a step: the rounding error of sums of steps.
constexpr double kSlack = 1e-9;

/// The numbers between colons; nothing when one of them is not a number.
std::optional<std::vector<double>> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t colon = text.find(':');
    const auto number = parse_number(text.substr(0, colon));
    if (!number || !(*number > 0) || *number > kMostGpus) return std::nullopt;
    numbers.push_back(*number);
    if (colon == std::string_view::npos) return numbers;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

std::optional<std::vector<double>> parse_budgets(std::string_view text) {
  auto numbers = numbers_of(text);
  if (!numbers || numbers->size() == 1) return numbers;
  if (numbers->size() != 3) return std::nullopt;
  const double from = (*numbers)[0], to = (*numbers)[1], step = (*numbers)[2];
  const double steps = std::floor((to - from) / step + kSlack);
  if (to < from || steps >= static_cast<double>(kMostBudgets)) return std::nullopt;
  std::vector<double> budgets;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(steps); ++i) {
    budgets.push_back(from + static_cast<double>(i) * step);
  }
  return budgets;
}

}  // namespace muster::pareto
