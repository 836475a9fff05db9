#include "schedulers/packing/bound/covering_lp.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace muster::bound {
namespace {

/// A column of two rows.
struct Column {
  double cost = 0, first = 0, second = 0;
};

/// The least cost, which some choice of two columns reaches: the two, or one of them alone.
double cost_by_trying(const std::vector<Column>& columns, double first, double second) {
  double best = std::numeric_limits<double>::infinity();
  for (const Column& a : columns) {
    if (a.first > 0 && a.second > 0) {
      best = std::min(best, a.cost * std::max(first / a.first, second / a.second));
    }
    for (const Column& b : columns) {
      const double area = a.first * b.second - b.first * a.second;
      if (std::abs(area) < 1e-9) continue;
      const double x = (first * b.second - b.first * second) / area;
      const double y = (a.first * second - first * a.second) / area;
      if (x >= 0 && y >= 0) best = std::min(best, a.cost * x + b.cost * y);
    }
  }
  return best;
}

RC_GTEST_PROP(CoveringLpProperty, costs_what_the_best_pair_of_columns_costs, ()) {
  const double first = *rc::gen::inRange(1, 50) / 10.0;
  const double second = *rc::gen::inRange(1, 50) / 10.0;
  CoveringLp lp(std::vector{first, second});
  std::vector<Column> columns{{*rc::gen::inRange(1, 90) / 10.0, 1, 0},
                              {*rc::gen::inRange(1, 90) / 10.0, 0, 1}};
  const int more = *rc::gen::inRange(0, 6);
  for (int i = 0; i < more; ++i) {
    columns.push_back({*rc::gen::inRange(1, 90) / 10.0, *rc::gen::inRange(0, 30) / 10.0,
                       *rc::gen::inRange(0, 30) / 10.0});
  }
  LpSolution solution;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    lp.add_column(column.cost, std::vector<LpEntry>{{0, column.first}, {1, column.second}});
    // Solved in between too, so that it has to go on from there.
    if (i > 0) solution = lp.solve();
  }
  RC_ASSERT(solution.optimal);
  const double best = cost_by_trying(columns, first, second);
  RC_ASSERT(std::abs(solution.cost - best) < 1e-6 * best);
  RC_ASSERT(std::abs(first * solution.duals[0] + second * solution.duals[1] - best) < 1e-6 * best);
  double done_first = 0;
  double done_second = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    RC_ASSERT(column.first * solution.duals[0] + column.second * solution.duals[1] <=
              column.cost + 1e-6);
    RC_ASSERT(solution.activity[i] >= 0);
    done_first += column.first * solution.activity[i];
    done_second += column.second * solution.activity[i];
  }
  RC_ASSERT(done_first >= first - 1e-6);
  RC_ASSERT(done_second >= second - 1e-6);
}

TEST(CoveringLp, CannotCoverWhatNoColumnHas) {
  CoveringLp lp(std::vector{1.0, 1.0});
  lp.add_column(1, std::vector<LpEntry>{{0, 1}});
  EXPECT_FALSE(lp.solve().optimal);
}

}  // namespace
}  // namespace muster::bound
