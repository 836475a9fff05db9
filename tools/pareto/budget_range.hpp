#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::pareto {

/// Budgets of one range, at the most.
inline constexpr std::size_t kMostBudgets = 1000;
/// Most GPUs of a budget: the bound of `boa`.
inline constexpr double kMostGpus = 1'000'000;

/// The right form, for error messages.
inline constexpr const char* kBudgetsWanted =
    "GPUs above 0 as FROM:TO:STEP, such as 40:120:10, or one number, at most 1000 of them";

/// The budgets of FROM:TO:STEP, both ends included where the steps meet them, or the one of a
/// number. Nothing when the text is neither, or has more budgets than there may be.
std::optional<std::vector<double>> parse_budgets(std::string_view text);

}  // namespace muster::pareto
