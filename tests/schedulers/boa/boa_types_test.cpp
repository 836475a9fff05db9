#include <gtest/gtest.h>

#include "schedulers/boa/boa_policy.hpp"
#include "tests/schedulers/boa/two_epochs.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::figure;
using testing::two_epochs;

/// Nodes of four GPUs at a dollar an hour, and nodes whose GPUs are twice as fast and cost three
/// times as much.
Catalog two_types() {
  return Catalog({testing::type_of("slow", "t4", Resources::of(4, 48, 192), 1),
                  testing::type_of("fast", "p3", Resources::of(4, 48, 192), 3)});
}

Job any_type(std::uint64_t id) {
  const Resources worker = Resources::of(1, 4, 16);
  return JobBuilder(id)
      .demands(Demands({{"t4", worker, 1}, {"p3", worker, 2}}))
      .workload_class("net")
      .elastic(1, 4, two_epochs())
      .build();
}

/// Where a job is in its two epochs.
std::vector<std::string> places_under(const std::string& budget) {
  Cluster cluster(two_types(), "boa,budget_counts=used,rates_h=net:10,budget_usd_h=" + budget);
  cluster.submit(any_type(1));
  cluster.round();
  cluster.round();
  std::vector<std::string> places{cluster.layout()};
  cluster.progress(1, 120);
  for (int i = 0; i < 3; ++i) cluster.round();
  places.push_back(cluster.layout());
  return places;
}

TEST(Boa, RentsTheTypesOfGpuThatItsDollarsAreBestSpentOn) {
  using Places = std::vector<std::string>;
  // A job costs $0.125 and 0.139 at the slow type's best, $0.188 and 0.208 at the fast one's, where
  // the first epoch saves four times as much for a dollar.
  EXPECT_EQ(places_under("2.8"), (Places{"slow(1)", "slow(1 101 102 103)"}));
  EXPECT_EQ(places_under("3.5"), (Places{"fast(1)", "slow(1 101 102 103)"}));
  EXPECT_EQ(places_under("9"), (Places{"fast(1)", "fast(1 101 102 103)"}));
}

TEST(Boa, StaysOnATypeThatAColdStartIsNotWorthLeaving) {
  EXPECT_EQ(places_under("3.5,cold_start_s=1800")[1].substr(0, 4),
            places_under("3.5,cold_start_s=1800")[0].substr(0, 4));
}

/// Whether a policy that counts the dollars of what is there remembers the same.
bool counts_the_same_anew(Cluster& cluster, const std::string& policy) {
  const auto twin = make_policy(parse_policy(policy).value(), cluster.catalog()).value();
  const std::string words = cluster.policy().save_state(cluster.state());
  return twin->load_state(words, cluster.view()) && twin->save_state(cluster.state()) == words;
}

TEST(Boa, CountsDollarsEventByEventAsItWouldAllAtOnce) {
  const std::string policy = "boa,budget_counts=used,rates_h=net:10,budget_usd_h=9";
  Cluster cluster(two_types(), policy);
  for (std::uint64_t id = 1; id <= 9; ++id) cluster.submit(any_type(id));
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "launches and starts";
  cluster.progress(2, 120);
  cluster.round();
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "a change of width";
  cluster.reprice("fast", 4);
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "a price";
  cluster.finish(1);
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "an end";
  cluster.stop_task(3);
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "a stop";
  cluster.take_away((*cluster.state().instances().begin()).id.value);
  EXPECT_TRUE(counts_the_same_anew(cluster, policy)) << "an instance that is gone";
  for (std::uint64_t id = 2; id <= 9; ++id) cluster.submit(any_type(id + 1000));
  cluster.refuse_launches();
  cluster.round();
  EXPECT_TRUE(counts_the_same_anew(cluster, policy));
}

TEST(Boa, MovesAJobToTheTypeOfANewPlanOnlyWhereThatIsWorthAColdStart) {
  // Two kinds of jobs: while there are none of the second, dollars go on fast GPUs for the first.
  const auto place_after = [](const std::string& cold_start_s, double done) {
    Cluster cluster(two_types(),
                    "boa,budget_counts=used,recompute_s=300,window_s=3600,"
                    "budget_usd_h=3,cold_start_s=" +
                        cold_start_s);
    cluster.submit(any_type(1));
    for (int i = 0; i < 2; ++i) cluster.round();
    EXPECT_EQ(cluster.layout().substr(0, 4), "fast") << "three dollars are plenty for one job";
    for (std::uint64_t id = 2; id < 16; ++id) cluster.submit(any_type(id));
    cluster.progress(1, done);
    for (int i = 0; i < 4; ++i) cluster.round();
    const TaskRow& first = *cluster.state().find(TaskId{1});
    return cluster.catalog()[cluster.state().instance(first.target).type].name;
  };
  EXPECT_EQ(place_after("0", 110), "slow") << "fifteen jobs an hour leave each of them less";
  EXPECT_EQ(place_after("3600", 110), "fast");
}

TEST(Boa, CountsDollarsOfANodeThatWorkersFillAsUsed) {
  // Three workers fill a node of four GPUs: what the fourth costs is part of what they cost.
  Cluster cluster(Catalog({testing::type_of("node", "t4", Resources::of(4, 12, 192), 30)}),
                  "boa,rates_h=net:1,recompute_s=300,budget_usd_h=1000");
  cluster.submit(JobBuilder(1)
                     .demands(Demands({{"t4", Resources::of(1, 4, 16), 1}}))
                     .workload_class("net")
                     .elastic(3, 3, two_epochs())
                     .build());
  for (int i = 0; i < 8; ++i) cluster.round();
  EXPECT_EQ(cluster.layout(), "node(1 101 102)");
  EXPECT_NEAR(figure(cluster.round(), "budget"), 1000, 1e-3);
  cluster.finish(1);
}

TEST(Boa, PutsJobsOnAnyTypeWhileThePlannedOneIsToBeHadOnAnotherMarketAlone) {
  std::vector<InstanceType> types = two_types().types();
  types[1].spot = Price::from_usd_h(1);
  Cluster cluster(Catalog(types), "boa,budget_counts=used,rates_h=net:10,budget_usd_h=9");
  cluster.rest("fast");
  cluster.submit(any_type(1));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "slow(1)");
}

TEST(Boa, RemembersTypesAfterARestart) {
  Cluster cluster(two_types(), "boa,budget_counts=used,rates_h=net:10,budget_usd_h=3.5");
  cluster.submit(any_type(1));
  cluster.round();
  const auto spec = parse_policy("boa,budget_counts=used,rates_h=net:10,budget_usd_h=3.5");
  const auto twin = make_policy(spec.value(), cluster.catalog()).value();
  const std::string saved = cluster.policy().save_state(cluster.state());
  ASSERT_TRUE(twin->load_state(saved, cluster.view()));
  EXPECT_EQ(twin->save_state(cluster.state()), saved);
}

}  // namespace
}  // namespace muster
