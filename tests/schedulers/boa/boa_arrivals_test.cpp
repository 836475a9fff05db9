#include <gtest/gtest.h>

#include <string>

#include "schedulers/registry.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;

/// The round in which the policy has seen ten jobs of a GPU-hour, which take so long to start, in
/// the first hour, on nodes of four GPUs at a dollar an hour.
Plan round_of_ten(const std::string& policy, Duration start = {}) {
  const auto node = testing::type_of("node", "", Resources::of(4, 48, 192), 1);
  Cluster cluster(Catalog({node}), policy);
  for (std::uint64_t id = 1; id <= 10; ++id) {
    cluster.submit(JobBuilder(id)
                       .demand(Resources::of(1, 4, 16))
                       .workload_class("net")
                       .delays({.init = start})
                       .elastic(1, 1, ElasticEpochs({{3600, 1, {1}, {}}}))
                       .build());
  }
  return cluster.round();
}

/// What the policy plans for then.
double load_of_ten(const std::string& policy, Duration start = {}) {
  return testing::figure(round_of_ten(policy, start), "load_planned_for");
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

TEST(Boa, SaysWhatIsCountedApartFromTheLoadBeforeTheFirstJob) {
  EXPECT_NEAR(testing::figure(round_of_ten("boa,budget=8"), "load"), 10, 1e-9);
}

TEST(Boa, CountsStartsInTheLoadBeforeTheFirstJob) {
  // A start of three hours makes ten jobs an hour a load of forty; what was before stays half of
  // the budget, as long starts may not fill it with jobs that nobody has seen.
  EXPECT_NEAR(load_of_ten("boa,budget=100", std::chrono::hours(3)), (40 + 3 * 50.0) / 4, 1e-9);
}

TEST(Boa, TakesTheLoadBeforeTheFirstJobFromABudgetOfDollars) {
  // Ten GPUs in the hour that was seen, and in the one before half of what the dollars are good
  // for.
  const auto load_of = [](const std::string& more) {
    return load_of_ten("boa,budget_usd_h=8," + more);
  };
  const double gpu_usd_h = 0.25;
  EXPECT_NEAR(load_of("before_s=3600"), (10 + 8 / gpu_usd_h / 2) / 2 * gpu_usd_h, 1e-9);
  EXPECT_NEAR(load_of("before_s=3600,load_before=1"), (10 + 8 / gpu_usd_h) / 2 * gpu_usd_h, 1e-9);
  EXPECT_NEAR(load_of("load_before=0"), 10 * gpu_usd_h, 1e-9);
}

TEST(Boa, RefusesWhatWouldCountForNothing) {
  const auto refused = [](const std::string& text) {
    const PolicySpec spec = parse_policy(text).value();
    const auto module = find_module(spec.name).value();
    return !module->read(spec);
  };
  EXPECT_TRUE(refused("boa,load_before=0.7,rates_h=net:3"));
  EXPECT_TRUE(refused("boa,before_s=60,rates_h=net:3"));
  EXPECT_TRUE(refused("boa,before_s=60,load_before=0"));
  EXPECT_FALSE(refused("boa,load_before=0,rates_h=net:3"));
  EXPECT_FALSE(refused("boa,load_before=0.7,before_s=60"));
}

TEST(Boa, RefusesRatesThatNoNumberHolds) {
  for (const char* twice : {"boa,rates_h=net:1+net:2", "boa,weights=net:1+net:2"}) {
    EXPECT_FALSE(find_module("boa").value()->read(parse_policy(twice).value())) << twice;
  }
  for (const char* rate : {"1e-400", "1e400", "nan", "-1", "3x", ""}) {
    const PolicySpec spec = parse_policy(std::string("boa,rates_h=net:") + rate).value();
    EXPECT_FALSE(find_module("boa").value()->read(spec)) << rate;
  }
}

TEST(Boa, GoesOnWhenAJournalTellsOfAPlanBeforeItTellsOfAJob) {
  for (const char* policy : {"boa,budget=8", "boa,budget_usd_h=8"}) {
    Cluster cluster(Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)}), policy);
    RoundDecided decided;
    decided.note.choice = "recompute";
    cluster.tell_policy(decided);
    EXPECT_TRUE(cluster.round().places.empty()) << policy;
  }
}

}  // namespace
}  // namespace muster
