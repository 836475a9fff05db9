#include "learning/bounded_minimum.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "learning/line_search.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using Vector = std::vector<double>;

/// Rosenbrock's valley, along which a minimiser has to turn.
double valley(std::span<const double> at, std::span<double> gradient) {
  double sum = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const double wall = at[i + 1] - at[i] * at[i];
    const double floor = 1 - at[i];
    sum += 100 * wall * wall + floor * floor;
    gradient[i] += -400 * wall * at[i] - 2 * floor;
    gradient[i + 1] += 200 * wall;
  }
  return sum;
}

TEST(BoundedMinimum, FollowsAValleyToItsEnd) {
  const std::vector<BoundedVariable> variables(5, {.start = -1.2});
  for (const double x : bounded_minimum(valley, variables)) EXPECT_NEAR(x, 1, 1e-4);
}

TEST(BoundedMinimum, StopsAtBounds) {
  const std::vector<BoundedVariable> variables = {{.start = -1.2, .low = -2, .high = 0.5},
                                                  {.start = 1, .low = -2, .high = 2}};
  const Vector at = bounded_minimum(valley, variables);
  EXPECT_EQ(at[0], 0.5) << "the valley goes on beyond";
  EXPECT_NEAR(at[1], 0.25, 1e-5);
}

TEST(BoundedMinimum, EndsAtTheVeryBoundOfASlopeWithoutAnEnd) {
  const auto slope = [](std::span<const double> at, std::span<double> gradient) {
    gradient[0] = -1;
    return -at[0];
  };
  // 0.2 + (0.9 - 0.2) is less than 0.9 by a rounding.
  const std::vector<BoundedVariable> variables = {{.start = 0.2, .low = 0, .high = 0.9}};
  EXPECT_EQ(bounded_minimum(slope, variables)[0], 0.9);
}

TEST(BoundedMinimum, HoldsWhatIsFixedAndBeginsWithinTheBounds) {
  const std::vector<BoundedVariable> variables = {{.start = 2, .low = 2, .high = 2},
                                                  {.start = 100, .low = 3, .high = 50}};
  const Vector at = bounded_minimum(valley, variables);
  EXPECT_EQ(at[0], 2);
  EXPECT_NEAR(at[1], 4, 1e-5);
}

TEST(BoundedMinimum, EndsWhereAFunctionHasAnEdge) {
  const auto edge = [](std::span<const double> at, std::span<double> gradient) {
    gradient[0] = at[0] > 3 ? 1 : -2;
    return at[0] > 3 ? at[0] - 3 : 2 * (3 - at[0]);
  };
  EXPECT_NEAR(bounded_minimum(edge, std::vector<BoundedVariable>(1))[0], 3, 1e-3);
}

TEST(BoundedMinimum, EndsOnFunctionsThatAreNoNumbers) {
  const auto broken = [](std::span<const double>, std::span<double> gradient) {
    gradient[0] = std::nan("");
    return std::nan("");
  };
  EXPECT_EQ(bounded_minimum(broken, std::vector<BoundedVariable>(1))[0], 0);
}

TEST(BoundedMinimum, EvaluatesNoMoreOftenThanItMay) {
  std::uint32_t calls = 0;
  const Objective counted = [&](std::span<const double> at, std::span<double> gradient) {
    ++calls;
    return valley(at, gradient);
  };
  const std::vector<BoundedVariable> variables(3, {.start = -1.2});
  const Vector at = bounded_minimum(counted, variables, {.evaluations = 7});
  EXPECT_EQ(calls, 7U);
  Vector unused(3);
  EXPECT_LT(valley(at, unused), valley(Vector(3, -1.2), unused));
}

/// A bowl with its centre anywhere, in any box: the minimum is known.
RC_GTEST_PROP(BoundedMinimum, IsTheNearestPointOfTheBoxToTheCentreOfABowl, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 8);
  const auto some = [](int low, int high) { return *rc::gen::inRange(low, high) / 10.0; };
  Vector centre;
  Vector weight;
  std::vector<BoundedVariable> variables;
  for (std::size_t i = 0; i < size; ++i) {
    centre.push_back(some(-50, 50));
    weight.push_back(some(1, 1000));
    const double low = some(-50, 50);
    variables.push_back({.start = some(-60, 60), .low = low, .high = low + some(0, 50)});
  }
  const Objective bowl = [&](std::span<const double> at, std::span<double> gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double off = at[i] - centre[i];
      sum += weight[i] * off * off;
      gradient[i] = 2 * weight[i] * off;
    }
    return sum;
  };
  const Vector at = bounded_minimum(bowl, variables, {.value_change = 0});
  for (std::size_t i = 0; i < size; ++i) {
    const double nearest = std::clamp(centre[i], variables[i].low, variables[i].high);
    RC_ASSERT(std::abs(at[i] - nearest) < 1e-4);
  }
}

TEST(LineSearch, EndsWhereItBeganIfNothingThereIsLowerOrFallsAsPromised) {
  EXPECT_FALSE(LineSearch(0, -1, 0, 10).add(1, -1)) << "it has risen";
  EXPECT_FALSE(LineSearch(0, -1, 0, 10).add(0, -1e-4)) << "it hardly falls";
}

TEST(LineSearch, EndsAtItsLargestStepIfThatIsLowerAndStillFalls) {
  EXPECT_FALSE(LineSearch(0, -1, 10, 10).add(-10, -1));
  EXPECT_TRUE(LineSearch(0, -1, 9, 10).add(-9, -1)) << "it may go further";
  EXPECT_TRUE(LineSearch(0, -1, 10, 10).add(-1e-3, -1)) << "it is not low enough";
}

TEST(LineSearch, EndsWithAStepThatIsLowerAndFlatter) {
  const auto value = [](double x) { return -x / (x * x + 2); };
  const auto slope = [](double x) {
    const double under = x * x + 2;
    return (x * x - 2) / (under * under);
  };
  for (const double first : {1e-3, 0.1, 1.0, 10.0, 1e3}) {
    LineSearch line(value(0), slope(0), first, 1e10);
    int steps = 1;
    while (line.add(value(line.step()), slope(line.step()))) ++steps;
    const double end = line.step();
    EXPECT_LT(steps, 20) << first;
    EXPECT_LE(value(end), 1e-3 * end * slope(0)) << first;
    EXPECT_LE(std::abs(slope(end)), 0.9 * -slope(0)) << first;
  }
}

TEST(LineSearch, GoesToTheEndOfALineThatFallsAllTheWay) {
  LineSearch line(0, -1, 1, 8);
  while (line.add(-line.step(), -1)) {
  }
  EXPECT_EQ(line.step(), 8);
}

/// Each evaluation costs a fit of all that a job has measured: a change of the method has to leave
/// these as they are, or say why it needs more.
TEST(BoundedMinimum, TakesTheStepsOfBefore) {
  std::string taken;
  std::uint32_t calls = 0;
  const auto go = [&](const char* name, const Objective& of, std::vector<BoundedVariable> from) {
    calls = 0;
    const Objective counted = [&](std::span<const double> at, std::span<double> gradient) {
      ++calls;
      return of(at, gradient);
    };
    const Vector end = bounded_minimum(counted, from);
    taken += fmt::format("{}: {} evaluations, ends at", name, calls);
    for (const double x : end) taken += fmt::format(" {:.6g}", x);
    taken += "\n";
  };
  const Objective flat = [](std::span<const double> at, std::span<double> gradient) {
    double sum = 0;  // of fourth powers: nearly flat around the minimum
    for (std::size_t i = 0; i < at.size(); ++i) {
      gradient[i] = 4 * std::pow(at[i] - 2, 3);
      sum += std::pow(at[i] - 2, 4);
    }
    return sum;
  };
  go("valley", valley, std::vector<BoundedVariable>(5, {.start = -1.2}));
  go("valley from afar", valley, {{.start = 30}, {.start = -20}});
  go("valley in a box", valley,
     {{.start = -1.2, .low = -2, .high = 0.5},
      {.start = 1, .low = -2, .high = 2},
      {.start = 2, .low = 0.1, .high = 3}});
  go("valley beside a wall", valley,
     {{.start = 0, .low = 0, .high = 9},
      {.start = 5, .low = 3, .high = 9},
      {.start = 1, .low = 1, .high = 1},
      {.start = 0}});
  go("flat", flat, {{.start = -7}, {.start = 2.5}, {.start = 90, .low = 3, .high = 100}});
  EXPECT_THAT(taken, test::IsGolden());
}

TEST(LineSearch, TakesTheStepsOfBefore) {
  const auto rational = [](double x) {
    const double under = x * x + 2;
    return std::pair(-x / under, (x * x - 2) / (under * under));
  };
  const auto quartic = [](double x) {
    return std::pair(std::pow(x - 3, 4), 4 * std::pow(x - 3, 3));
  };
  // Equal values and slopes at whole numbers: no step is better than the one before it.
  const auto wave = [](double x) {
    const double turn = 2 * std::acos(-1.0);
    return std::pair(std::sin(turn * x) * -0.01, std::cos(turn * x) * -0.01 * turn);
  };
  // Falls ever faster before it rises: the slope says little of where the minimum is.
  const auto cliff = [](double x) {
    return std::pair(-x - x * x + std::pow(x, 4) / 50, -1 - 2 * x + 4 * std::pow(x, 3) / 50);
  };
  // Has a minimum in each of its dips, the deeper the further it goes.
  const auto dips = [](double x) {
    return std::pair(-0.5 * x + std::cos(3 * x) - 1 + x * x / 40,
                     -0.5 - 3 * std::sin(3 * x) + x / 20);
  };
  std::string taken;
  const auto go = [&](const char* name, const auto& of, double first, double largest) {
    const auto [value, slope] = of(0.0);
    LineSearch line(value, slope, first, largest);
    taken += fmt::format("{} from {:g}:", name, first);
    int steps = 0;
    for (bool more = true; more && steps < 50; ++steps) {
      const auto [at, falls] = of(line.step());
      more = line.add(at, falls);
      taken += fmt::format(" {:.6g}", line.step());
    }
    taken += "\n";
  };
  for (const double first : {1e-3, 0.1, 1.0, 10.0, 1e3}) {
    go("rational", rational, first, 1e10);
    go("quartic", quartic, first, 1e10);
    go("wave", wave, first, 20);
    go("cliff", cliff, first, 1e10);
    go("dips", dips, first, 20);
  }
  EXPECT_THAT(taken, test::IsGolden());
}

}  // namespace
}  // namespace muster
