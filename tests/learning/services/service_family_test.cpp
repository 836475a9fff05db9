#include "learning/services/service_family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/learning/services/reference_data.hpp"

namespace muster {
namespace {

FamilyService service_of(const test::FamilyRow& row) {
  FamilyService service;
  service.kind = *std::ranges::find(kServiceKinds, row.kind, name_of);
  service.load_cores = row.numbers[0];
  service.exponent = row.numbers[1];
  service.working_set_gib = row.numbers[2];
  service.hit_exponent = row.numbers[3];
  service.miss_penalty = row.numbers[4];
  service.contention = row.numbers[5];
  service.locality = row.numbers[6];
  return service;
}

/// The numbers of the table have five digits, and a utilisation near 0.9 takes a third power.
auto nearly(double value) {
  return testing::DoubleNear(value, std::max(1e-9, 5e-4 * value));
}

TEST(ServiceFamily, performs_as_the_reference_does) {
  const ServiceSizes sizes = family_sizes();
  for (const test::FamilyRow& row : test::family_rows()) {
    const FamilyService service = service_of(row);
    const PerformanceCurve curve = performance_curve(service, sizes);
    ASSERT_EQ(curve.size(), row.sizes.size());
    for (std::size_t i = 0; i < curve.size(); ++i) EXPECT_THAT(curve[i], nearly(row.sizes[i]));
    for (std::size_t i = 0; i < kFamilyDegrees.size(); ++i) {
      const PerformanceCurve together = performance_curve(service, sizes, kFamilyDegrees[i]);
      EXPECT_THAT(together[21], nearly(row.degrees[i])) << "4 cores and 4 GiB";
    }
  }
}

TEST(ServiceFamily, draws_equal_services_for_equal_seeds) {
  Rng one(3), other(3), third(4);
  const FamilyService first = draw_service(one);
  EXPECT_EQ(first, draw_service(other));
  EXPECT_NE(first, draw_service(third));
}

TEST(ServiceFamily, draws_each_kind_as_often_and_with_its_own_numbers) {
  Rng rng(1);
  std::array<int, kServiceKinds.size()> counts{};
  for (int i = 0; i < 4000; ++i) {
    const FamilyService service = draw_service(rng);
    ++counts[static_cast<std::size_t>(service.kind)];
    if (service.kind != ServiceKind::web) continue;
    EXPECT_GE(service.load_cores, 0.4);
    EXPECT_LE(service.load_cores, 4);
    EXPECT_GE(service.exponent, 0.9);
    EXPECT_LE(service.contention, 0.08);
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(ServiceFamily, has_the_mean_performance_and_spread_that_it_is_known_for) {
  Rng rng(2);
  const ServiceSizes sizes = family_sizes();
  double sum = 0, squares = 0, count = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const double value : performance_curve(draw_service(rng), sizes)) {
      sum += value;
      squares += value * value;
      ++count;
    }
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 0.34, 0.015);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 0.38, 0.015);
}

TEST(ServiceFamily, measures_with_noise_relative_to_the_value) {
  Rng rng(6);
  double squares = 0;
  for (int i = 0; i < 4000; ++i) {
    const double off = std::log(noisy_performance(0.5, 0.05, rng) / 0.5);
    squares += off * off;
  }
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.05, 0.003);
  for (int i = 0; i < 100; ++i) EXPECT_LE(noisy_performance(1, 0.05, rng), 1);
}

}  // namespace
}  // namespace muster
