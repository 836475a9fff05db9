#include "tools/experiment/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tools/experiment/seed_list.hpp"

namespace muster::experiment {
namespace {

TEST(Statistics, of_known_values_are_those_of_the_textbook) {
  // Mean 5, squares 32 over 7, so a deviation of 2.138; t(7) = 2.365.
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const Statistics found = statistics_of(values);
  EXPECT_EQ(found.count, 8u);
  EXPECT_DOUBLE_EQ(found.mean, 5);
  EXPECT_NEAR(*found.deviation, 2.13809, 1e-5);
  EXPECT_NEAR(*found.half_width, 2.365 * 2.13809 / 2.8284271, 1e-4);
  EXPECT_EQ(found.min, 2);
  EXPECT_EQ(found.max, 9);
}

TEST(Statistics, of_one_value_have_no_spread) {
  const std::vector<double> values = {3};
  const Statistics found = statistics_of(values);
  EXPECT_EQ(found.mean, 3);
  EXPECT_FALSE(found.deviation);
  EXPECT_FALSE(found.half_width);
}

TEST(Statistics, use_the_quantiles_of_student) {
  EXPECT_NEAR(student_t95(1), 12.706, 1e-3);
  EXPECT_NEAR(student_t95(9), 2.262, 1e-3);
  EXPECT_NEAR(student_t95(19), 2.093, 1e-3);
  EXPECT_NEAR(student_t95(30), 2.042, 1e-3);
  EXPECT_NEAR(student_t95(31), 2.0395, 1e-3);
  EXPECT_NEAR(student_t95(60), 2.0003, 1e-3);
  EXPECT_NEAR(student_t95(120), 1.9799, 1e-3);
  EXPECT_NEAR(student_t95(1'000'000), 1.95996, 1e-4);
}

TEST(Statistics, quantiles_fall_with_the_degrees_of_freedom) {
  for (std::size_t n = 1; n < 200; ++n) EXPECT_GT(student_t95(n), student_t95(n + 1)) << n;
}

using Seeds = std::vector<std::uint64_t>;

TEST(SeedList, takes_ranges_and_single_seeds_in_their_order) {
  EXPECT_EQ(parse_seeds("1-3"), (Seeds{1, 2, 3}));
  EXPECT_EQ(parse_seeds("7, 1-2"), (Seeds{7, 1, 2}));
  EXPECT_EQ(parse_seeds("0"), (Seeds{0}));
}

TEST(SeedList, refuses_what_is_none) {
  for (const char* text : {"", "a", "3-1", "1,", "1-", "-1", "1,1", "1-3,2", "0-10000", "1.5",
                           "9223372036854775807"}) {
    EXPECT_FALSE(parse_seeds(text)) << text;
  }
}

}  // namespace
}  // namespace muster::experiment
