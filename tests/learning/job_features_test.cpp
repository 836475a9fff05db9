#include "learning/job_features.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

double value(const JobFeatures& features, Feature feature) {
  return features[static_cast<std::size_t>(feature)];
}

TEST(JobFeatures, are_the_amounts_of_the_whole_job_and_the_use_of_the_system) {
  Resources demand = Resources::of(1, 4, 16);
  demand[Resource::storage] = 100;
  const Job job = test::JobBuilder(1).demand(demand).tasks(3).build();
  const JobFeatures features =
      features_of(job, {.cpu = 0.1, .memory = 0.2, .storage = 0.3, .gpu = 0.4});
  EXPECT_EQ(features, (JobFeatures{12, 48, 300, 3, 3, 0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(value(features, Feature::memory_use), 0.2);
}

TEST(JobFeatures, count_a_task_with_demands_by_family_by_the_largest_of_each_kind) {
  const Job job = test::JobBuilder(1)
                      .demands(Demands(std::vector<FamilyDemand>{
                          {"p3", Resources::of(1, 4, 8), 2}, {"c7i", Resources::of(0, 8, 4), 1}}))
                      .build();
  EXPECT_EQ(counted_demand(job), Resources::of(1, 8, 8));
}

TEST(SystemUse, is_a_share_between_0_and_1_and_0_of_what_there_is_not) {
  const SystemUse use = SystemUse::of(Resources::of(5, 20, 10), Resources::of(0, 10, 40));
  EXPECT_EQ(use.gpu, 0);
  EXPECT_EQ(use.cpu, 1);
  EXPECT_EQ(use.memory, 0.25);
  EXPECT_EQ(use.storage, 0);
}

TEST(JobLength, is_short_up_to_and_with_the_threshold) {
  using std::chrono::seconds;
  EXPECT_EQ(length_of(seconds{90}, seconds{90}), JobLength::short_run);
  EXPECT_EQ(length_of(seconds{90} + Duration{1}, seconds{90}), JobLength::long_run);
}

TEST(FeatureScale, maps_the_range_of_the_samples_to_one_either_side_of_zero) {
  FeatureScale scale;
  scale.include({0, 7, 0, 0, 1, 0.2});
  scale.include({std::exp(2) - 1, 7, 0, 0, 1, 0.6});
  const JobFeatures middle = scale.apply({std::exp(1) - 1, 7, 0, 0, 1, 0.3});
  EXPECT_NEAR(middle[0], 0, 1e-12) << "amounts are on a logarithmic scale";
  EXPECT_EQ(middle[1], 0) << "what never varied says nothing";
  EXPECT_NEAR(middle[5], -0.5, 1e-12) << "shares are not";
  const JobFeatures outside = scale.apply({1e9, 0, 5, 0, 2, 0.1});
  EXPECT_EQ(outside[0], 1);
  EXPECT_EQ(outside[1], 0);
  EXPECT_EQ(outside[2], 0);
  EXPECT_EQ(outside[5], -1);
}

}  // namespace
}  // namespace muster
