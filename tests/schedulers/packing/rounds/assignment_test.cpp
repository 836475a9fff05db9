#include "schedulers/packing/rounds/assignment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/schedulers/draw.hpp"

namespace muster {
namespace {

double weight_of(const std::vector<double>& weights, std::size_t columns,
                 const std::vector<std::uint32_t>& column_of) {
  double sum = 0;
  for (std::size_t row = 0; row < column_of.size(); ++row) {
    if (column_of[row] != kUnassigned) sum += weights[row * columns + column_of[row]];
  }
  return sum;
}

/// Tries every order in which rows (or nobodies) can be given the columns.
double best_by_trying(const std::vector<double>& weights, std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> order(std::max(rows, columns));
  std::iota(order.begin(), order.end(), 0);
  double best = 0;
  do {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      if (order[row] < columns) sum += weights[row * columns + order[row]];
    }
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(BestAssignment, gives_up_a_good_pair_for_two_better_ones) {
  const std::vector<double> weights = {5, 4,  //
                                       4, 0};
  const auto column_of = best_assignment(weights, 2, 2);
  EXPECT_EQ(column_of, (std::vector<std::uint32_t>{1, 0}));
}

TEST(BestAssignment, leaves_rows_over_when_there_are_too_few_columns) {
  const std::vector<double> weights = {1, 3, 2};
  const auto column_of = best_assignment(weights, 3, 1);
  EXPECT_EQ(column_of, (std::vector<std::uint32_t>{kUnassigned, 0, kUnassigned}));
}

TEST(BestAssignment, has_nothing_to_do_without_rows) {
  EXPECT_TRUE(best_assignment({}, 0, 5).empty());
}

RC_GTEST_PROP(BestAssignment, is_as_good_as_the_best_of_all, ()) {
  const std::size_t rows = testing::draw<std::size_t>(1, 6);
  const std::size_t columns = testing::draw<std::size_t>(1, 6);
  std::vector<double> weights(rows * columns);
  for (double& weight : weights) weight = testing::draw(0, 6);
  const auto column_of = best_assignment(weights, rows, columns);
  std::vector<int> used(columns, 0);
  std::size_t given = 0;
  for (std::uint32_t column : column_of) {
    if (column == kUnassigned) continue;
    RC_ASSERT(++used[column] == 1);
    ++given;
  }
  RC_ASSERT(given == std::min(rows, columns));
  RC_ASSERT(weight_of(weights, columns, column_of) == best_by_trying(weights, rows, columns));
}

}  // namespace
}  // namespace muster
