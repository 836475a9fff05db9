#include "learning/services/service_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/rng.hpp"
#include "tests/learning/learnt_text.hpp"

namespace muster {
namespace {

using testing::ElementsAre;

ServiceSizes two_by_three() {
  return ServiceSizes::grid(std::vector<double>{1, 2}, std::vector<double>{1, 2, 4});
}

Expected<ServiceSizes, LearnError> parse(std::string_view text) {
  return parse_sealed("configurations", 1, text, ServiceSizes::read);
}

TEST(ServiceSizes, come_from_the_cheapest_to_the_dearest) {
  EXPECT_THAT(two_by_three().by_price(), ElementsAre(0, 1, 2, 3, 4, 5));
  const ServiceSizes priced({{8, 1, 3}, {1, 1, 2}, {2, 16, 1}});
  EXPECT_THAT(priced.by_price(), ElementsAre(2, 1, 0));
}

TEST(ServiceSizes, of_one_price_come_by_their_dominant_share) {
  const ServiceSizes priced({{8, 1, 2}, {4, 2, 2}, {1, 16, 2}, {2, 4, 2}});
  EXPECT_THAT(priced.by_price(), ElementsAre(3, 1, 0, 2));
}

TEST(ServiceSizes, are_valid_when_each_is_more_than_nothing_and_differs) {
  EXPECT_TRUE(valid_service_sizes(std::vector<ServiceSize>{{1, 1, 0}, {1, 2, 0}}));
  EXPECT_FALSE(valid_service_sizes({}));
  EXPECT_FALSE(valid_service_sizes(std::vector<ServiceSize>{{1, 1, 0}, {1, 1, 5}}));
  EXPECT_FALSE(valid_service_sizes(std::vector<ServiceSize>{{0, 1, 0}}));
  EXPECT_FALSE(valid_service_sizes(std::vector<ServiceSize>{{1, 1, -1}}));
  std::vector<ServiceSize> many;
  for (std::uint32_t i = 0; i <= kMostPoints; ++i) many.push_back({1, 1.0 + i, 0});
  EXPECT_FALSE(valid_service_sizes(many));
}

TEST(ServiceSizes, make_values_rise_with_cores_and_with_memory) {
  std::vector<double> values{0.2, 0.4, 0.3, 0.1, 0.5, 1.2};
  two_by_three().make_monotone(values);
  EXPECT_THAT(values,
              testing::Pointwise(testing::DoubleNear(1e-9), {0.15, 0.35, 0.35, 0.15, 0.5, 1.0}));
}

TEST(ServiceSizes, leave_values_alone_that_rise) {
  std::vector<double> values{0, 0.1, 0.2, 0.1, 0.3, 0.3};
  const std::vector<double> before = values;
  two_by_three().make_monotone(values);
  EXPECT_EQ(values, before);
}

TEST(ServiceSizes, make_any_values_rise) {
  const ServiceSizes all = ServiceSizes::grid(std::vector<double>{0.5, 1, 2, 4, 8},
                                              std::vector<double>{0.5, 1, 2, 4, 8, 16});
  Rng rng(4);
  for (int run = 0; run < 200; ++run) {
    std::vector<double> values(all.size());
    for (double& value : values) value = rng.uniform();
    all.make_monotone(values);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (i % 6 > 0) {
        EXPECT_GE(values[i], values[i - 1] - 1e-3);
      }
      if (i >= 6) {
        EXPECT_GE(values[i], values[i - 6] - 1e-3);
      }
    }
  }
}

TEST(ServiceSizes, read_back_as_they_were) {
  const std::string text = sealed_text("configurations", 1, two_by_three());
  EXPECT_EQ(parse(text).value(), two_by_three());
  test::expect_damage_is_noticed(text, "configurations", parse, [](const ServiceSizes& read) {
    ASSERT_EQ(read.by_price().size(), read.size());
  });
}

TEST(ServiceSizes, that_are_alike_are_a_fault_of_the_text) {
  const std::string twice = "configurations 2\nconfiguration 1 1 1\nconfiguration 1 1 2\n";
  EXPECT_EQ(parse(seal_model("configurations", 1, twice)).error().code, LearnError::damaged);
}

}  // namespace
}  // namespace muster
