#include <gtest/gtest.h>

#include <string>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;

/// The load that the policy plans for when ten jobs of a GPU-hour came in the first hour, on nodes
/// of four GPUs at a dollar an hour.
double load_of_ten(const std::string& policy) {
  const auto node = testing::type_of("node", "", Resources::of(4, 48, 192), 1);
  Cluster cluster(Catalog({node}), policy);
  for (std::uint64_t id = 1; id <= 10; ++id) {
    cluster.submit(JobBuilder(id)
                       .demand(Resources::of(1, 4, 16))
                       .workload_class("net")
                       .elastic(1, 1, ElasticEpochs({{3600, 1, {1}, {}}}))
                       .build());
  }
  return testing::figure(cluster.round(), "load");
}

TEST(Boa, TakesTheLoadBeforeTheFirstJobFromTheBudget) {
  // Ten jobs of a GPU-hour in the first hour are a load of ten. Before them it is taken to have
  // been four GPUs, for three hours unless told otherwise, and for a day at most, which is the
  // window.
  const auto load_of = [](const std::string& more) { return load_of_ten("boa,budget=8" + more); };
  EXPECT_NEAR(load_of(""), (10 + 3 * 4.0) / 4, 1e-9);
  EXPECT_NEAR(load_of(",load_before=0"), 10, 1e-9);
  EXPECT_NEAR(load_of(",load_before=0.25,before_s=7200"), (10 + 2 * 2.0) / 3, 1e-9);
  EXPECT_NEAR(load_of(",before_s=86400"), (10 + 23 * 4.0) / 24, 1e-9);
  EXPECT_NEAR(load_of(",window_s=3600"), 10, 1e-9) << "all of it has been seen";
  EXPECT_NEAR(load_of(",rates_h=net:3"), 3, 1e-9) << "rates are stated";
}

TEST(Boa, TakesTheLoadBeforeTheFirstJobFromABudgetOfDollars) {
  // Ten GPUs in the hour that was seen, and in the one before half of what the dollars are good
  // for.
  const auto load_of = [](const std::string& more) {
    return load_of_ten("boa,before_s=3600,budget_usd_h=" + more);
  };
  const double gpu_usd_h = 0.25;
  EXPECT_NEAR(load_of("8"), (10 + 8 / gpu_usd_h / 2) / 2 * gpu_usd_h, 1e-9);
  EXPECT_NEAR(load_of("8,load_before=1"), (10 + 8 / gpu_usd_h) / 2 * gpu_usd_h, 1e-9);
  EXPECT_NEAR(load_of("8,load_before=0"), 10 * gpu_usd_h, 1e-9);
}

}  // namespace
}  // namespace muster
