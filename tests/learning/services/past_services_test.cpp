#include "learning/services/past_services.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

PastService web() {
  return {{1, 2, 4}, {2, 8}, {0.2, 0.3, 0.4, 0.6, 0.5, 1}};
}

ServiceSizes grid(const std::vector<double>& cores, const std::vector<double>& memory_gib) {
  return ServiceSizes::grid(cores, memory_gib);
}

TEST(PastServices, do_at_shares_of_the_largest_size_what_they_did_at_those_of_theirs) {
  EXPECT_EQ(curve_of(web(), grid({1, 2, 4}, {2, 8})), web().values);
  EXPECT_EQ(curve_of(web(), grid({10, 20, 40}, {1, 4})), web().values);
}

TEST(PastServices, lie_between_their_sizes_as_amounts_that_double_do) {
  const PerformanceCurve curve = curve_of(web(), grid({std::sqrt(8.0), 4}, {4, 8}));
  const std::vector<double> expected{(0.4 + 0.5 + 0.6 + 1) / 4, (0.6 + 1) / 2, (0.5 + 1) / 2, 1};
  EXPECT_THAT(curve, Pointwise(DoubleNear(1e-9), expected));
}

TEST(PastServices, do_less_in_proportion_below_the_least_that_was_measured) {
  const PerformanceCurve curve = curve_of(web(), grid({0.5, 4}, {1, 8}));
  EXPECT_THAT(curve, Pointwise(DoubleNear(1e-9), std::vector{0.2 / 4, 0.3 / 2, 0.5 / 2, 1.0}));
}

TEST(PastServices, come_back_from_their_text) {
  const std::vector services{web(), PastService{{0.1}, {1e-3}, {1}}};
  const auto read = parse_past_services(past_services_text(services));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value(), services);
}

TEST(PastServices, of_another_version_are_refused_by_that_word) {
  const std::string other = seal_model("past-services", 2, "services 0\n");
  const auto read = parse_past_services(other);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, LearnError::other_version);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("version 2"), HasSubstr("reads version 1")));
}

TEST(PastServices, that_cannot_be_are_refused) {
  const auto refused = [](const std::string& text) {
    const auto read = parse_past_services(seal_model("past-services", 1, text));
    return !read && read.error().code == LearnError::damaged;
  };
  const std::string one = "services 1\ncores 1 2\nmemory_gib 1 4\nvalues 1\n";
  EXPECT_FALSE(refused(one));
  EXPECT_TRUE(refused("services 0\n"));
  EXPECT_TRUE(refused("services 2\ncores 1 2\nmemory_gib 1 4\nvalues 1\n"));
  EXPECT_TRUE(refused("services 1\ncores 2 2 1\nmemory_gib 1 4\nvalues 1 1\n")) << "falling";
  EXPECT_TRUE(refused("services 1\ncores 1 2\nmemory_gib 1 4\nvalues 0\n")) << "nothing at best";
  EXPECT_TRUE(refused("services 1\ncores 1 2\nmemory_gib 1 4\nvalues 2\n"));
  EXPECT_TRUE(refused("services 1\ncores 0\nmemory_gib 1 4\nvalues 1\n"));
  EXPECT_TRUE(parse_past_services("web").error().code == LearnError::damaged);
}

}  // namespace
}  // namespace muster
