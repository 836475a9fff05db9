#include "replay/workload/service_truth.hpp"

#include <gtest/gtest.h>

namespace muster::replay {
namespace {

ServicePerformance parsed(const std::string& text) {
  const auto performance = parse_performance(text);
  EXPECT_TRUE(performance) << text;
  return *performance;
}

constexpr const char* kWeb = "web:1.2/0.95/1/0.3/0.5/0.04/0.01";
constexpr const char* kMeasured = "measured:1/2=0.4;2/4=0.8;8/8=1;x2=0.9;x4=0.5";

TEST(ServicePerformance, of_a_kind_is_that_of_its_family) {
  const FamilyService service{ServiceKind::web, 1.2, 0.95, 1, 0.3, 0.5, 0.04, 0.01};
  const ServiceSizes sizes = family_sizes();
  const ServicePerformance performance = parsed(kWeb);
  for (const std::uint32_t degree : kFamilyDegrees) {
    const PerformanceCurve curve = performance_curve(service, sizes, degree);
    for (std::uint32_t at = 0; at < sizes.size(); ++at) {
      const ReplicaPlace place{sizes[at].cores, sizes[at].memory_gib, static_cast<double>(degree)};
      EXPECT_DOUBLE_EQ(performance.at(place), curve[at]) << at << ", " << degree;
    }
  }
}

TEST(ServicePerformance, falls_as_the_load_rises) {
  const ServicePerformance performance = parsed(kWeb);
  const ReplicaPlace place{2, 4, 1};
  EXPECT_GT(performance.at(place, 0.5), performance.at(place, 1));
  EXPECT_GT(performance.at(place, 1), performance.at(place, 2));
}

TEST(ServicePerformance, that_was_measured_is_of_the_best_size_that_fits) {
  const ServicePerformance performance = parsed(kMeasured);
  EXPECT_EQ(performance.at({0.5, 16, 1}), 0);
  EXPECT_EQ(performance.at({1, 2, 1}), 0.4);
  EXPECT_EQ(performance.at({7, 7, 1}), 0.8);
  EXPECT_EQ(performance.at({8, 8, 1}), 1);
}

TEST(ServicePerformance, that_was_measured_changes_with_the_degrees_that_were) {
  const ServicePerformance performance = parsed(kMeasured);
  EXPECT_DOUBLE_EQ(performance.at({2, 4, 2}), 0.8 * 0.9);
  EXPECT_DOUBLE_EQ(performance.at({2, 4, 3}), 0.8 * 0.9);
  EXPECT_DOUBLE_EQ(performance.at({2, 4, 9}), 0.8 * 0.5);
}

TEST(ServicePerformance, has_a_right_size_that_reaches_the_goal_and_is_the_cheapest_to_do_so) {
  for (const char* text :
       {kWeb, "cache:0.4/0.8/6/1/8/0.01/0.005", "table:1/0.8/9/0.7/4/0.02/0.02"}) {
    const ServicePerformance performance = parsed(text);
    const ServiceSizes sizes = family_sizes();
    for (const double goal : {0.3, 0.6, 0.9}) {
      const ServiceSize right = performance.right_size(goal);
      EXPECT_GE(performance.at({right.cores, right.memory_gib, 1}), goal);
      for (std::uint32_t at = 0; at < sizes.size(); ++at) {
        if (sizes[at].price_usd_h >= right.price_usd_h) continue;
        EXPECT_LT(performance.at({sizes[at].cores, sizes[at].memory_gib, 1}), goal);
      }
    }
  }
}

TEST(ServicePerformance, that_was_measured_has_the_cheapest_measured_size_as_the_right_one) {
  const ServicePerformance performance = parsed(kMeasured);
  EXPECT_EQ(performance.right_size(0.4).cores, 1);
  EXPECT_EQ(performance.right_size(0.41).cores, 2);
  EXPECT_EQ(performance.right_size(1).cores, 8);
}

TEST(ServicePerformance, without_a_size_that_reaches_the_goal_has_the_largest) {
  EXPECT_EQ(parsed("measured:1/2=0.4;2/4=0.8").right_size(0.9).cores, 2);
  EXPECT_EQ(parsed(kWeb).right_size(1, 1000).cores, 8);
}

TEST(ServicePerformance, is_read_again_from_its_text) {
  for (const char* text : {kWeb, kMeasured}) EXPECT_EQ(parsed(text).text(), text);
}

TEST(ServicePerformance, is_not_read_from_another_text) {
  for (const char* text : {"",
                           "web",
                           "web:",
                           "web:1/1/1",
                           "web:0/0.95/1/0.3/0.5/0.04/0.01",
                           "web:1/0.95/1/0.3/0.5/0.04/x",
                           "web:1/0.95/1/0.3/0.5/0.04/0.01/2",
                           "mail:1/1/1/1/1/1/1",
                           "measured:",
                           "measured:x2=0.9",
                           "measured:1/2",
                           "measured:1/2=1.5",
                           "measured:1/0=0.5",
                           "measured:1/2=0.5;x1=0.9",
                           "measured:1/2=0.5;x2=0.9;x2=0.8",
                           "measured:1/2=0.5;x2.5=0.9",
                           "measured:1/2=0.5;",
                           "measured:1/2/3=0.5",
                           "measured:-1/2=0.5",
                           "measured:1/2=nan"}) {
    EXPECT_FALSE(parse_performance(text)) << text;
  }
}

}  // namespace
}  // namespace muster::replay
