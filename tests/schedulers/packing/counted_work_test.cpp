#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "schedulers/baselines/spot_fleet.hpp"
#include "schedulers/baselines/supercloud.hpp"
#include "schedulers/baselines/synergy_round.hpp"
#include "schedulers/eva/fleet_layout.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/stratus/m4.hpp"

// How much packers look at. Counts, never times: a round costs what it places, not the number of
// equal tasks or of jobs that wait.

namespace muster {
namespace {

using testing::Cluster;
using testing::job_of;
using testing::m4;

/// The numbers of its tasks, at most ten, are no other job's.
Job kept_apart(std::uint64_t number, std::size_t tasks) {
  Job job = job_of(1'000 * number, 3600, 1, 2, tasks);
  job.most_an_instance = 1;
  return job;
}

/// A fleet on which each instance has a task that leaves nothing.
Cluster full_fleet(std::size_t instances, const char* policy = "no-packing") {
  Cluster cluster(m4(), policy);
  cluster.add_to_fleet("4xlarge", instances);
  cluster.submit(job_of(1, 3600, 16, 64, instances));
  cluster.round();
  return cluster;
}

/// The input of a round of a packing policy.
struct Gathered {
  explicit Gathered(const Cluster& cluster) : prices(cluster.catalog()) {
    input.gather({cluster.view(), MarketChoice::on_demand}, prices, kinds);
  }
  ReservationPrices prices;
  TaskKinds kinds{false};
  RoundInput input;
};

/// Looks of Eva's layout on a fleet.
std::uint64_t looks_of_layout(const Cluster& cluster, std::size_t& placed) {
  Gathered round(cluster);
  eva::FleetLayout fleet;
  Layout layout;
  std::vector<Refuse> refusals;
  fleet.run(round.input, cluster.state(), {.prices = round.prices}, round.kinds, layout, refusals);
  placed = 0;
  for (const std::uint32_t host : layout.host_of) placed += host != kUnassigned;
  return fleet.looks();
}

TEST(CountedWork, filling_a_fleet_costs_its_places_and_not_the_jobs_that_are_kept_apart) {
  for (const std::uint64_t jobs : {100, 400}) {
    Cluster cluster(m4(), "no-packing");
    cluster.add_to_fleet("4xlarge", jobs / 4);
    for (std::uint64_t number = 1; number <= jobs; ++number) cluster.submit(kept_apart(number, 2));
    std::size_t placed = 0;
    const std::uint64_t looks = looks_of_layout(cluster, placed);
    EXPECT_EQ(placed, 2 * jobs);
    // An instance of 16 tasks passes by those that it has already: 8 looks a place.
    EXPECT_LE(looks, 10 * placed);
  }
}

TEST(CountedWork, jobs_that_are_kept_apart_do_not_look_at_the_full_instances_of_a_fleet_again) {
  constexpr std::size_t kInstances = 200;
  constexpr std::uint64_t kJobs = 100;
  Cluster cluster = full_fleet(kInstances);
  for (std::uint64_t number = 1; number <= kJobs; ++number) cluster.submit(kept_apart(number, 2));
  std::size_t placed = 0;
  EXPECT_LE(looks_of_layout(cluster, placed), kInstances + kJobs);
  EXPECT_EQ(placed, kInstances);
}

/// A cluster under a policy of the type, which is seen from outside.
template <class Seen, class Params>
Cluster cluster_under(const char* name, const Seen*& seen, const Params& params) {
  PolicyModule module = *find_module(name).value();
  module.make = [&seen, params](const std::any&, const Catalog& catalog, const PolicyServices&) {
    auto policy = std::make_unique<Seen>(catalog, params);
    seen = policy.get();
    return policy;
  };
  return Cluster(m4(), module, name);
}

/// Tasks that the second round looks for room for: the first one fills the fleet.
template <class Count>
std::uint64_t looks_on_full_fleet(Cluster& cluster, const Count& count) {
  cluster.add_to_fleet("4xlarge", 2);
  cluster.submit(job_of(1, 3600, 16, 64, 2));
  cluster.round();
  cluster.submit(job_of(2, 3600, 2, 4, 500));
  for (std::uint64_t number = 1; number <= 20; ++number) cluster.submit(kept_apart(number, 10));
  const std::uint64_t before = count();
  cluster.round();
  return count() - before;
}

TEST(CountedWork, one_of_equal_tasks_looks_for_room_where_there_is_none) {
  const SpotFleet* spot_fleet = nullptr;
  Cluster one = cluster_under("spot-fleet", spot_fleet, SpotFleetParams{});
  EXPECT_EQ(looks_on_full_fleet(one, [&] { return spot_fleet->looks(); }), 1 + 20U)
      << "one of each job that is kept apart";
  const Supercloud* supercloud = nullptr;
  Cluster other = cluster_under("supercloud", supercloud, SupercloudParams{});
  EXPECT_EQ(looks_on_full_fleet(other, [&] { return supercloud->searches(); }), 1 + 20U);
}

TEST(CountedWork, spot_fleet_looks_again_as_soon_as_there_is_room) {
  const SpotFleet* seen = nullptr;
  Cluster cluster = cluster_under("spot-fleet", seen, SpotFleetParams{});
  looks_on_full_fleet(cluster, [&] { return seen->looks(); });
  cluster.finish_task(1);
  const std::uint64_t before = seen->looks();
  EXPECT_EQ(cluster.ask().places.size(), 8U) << "16 cores for tasks of 2";
  EXPECT_EQ(seen->looks() - before, 8 + 1 + 20U);
}

TEST(CountedWork, one_of_equal_tasks_looks_for_room_of_synergy_on_given_instances) {
  Cluster cluster = full_fleet(3);
  cluster.submit(job_of(2, 3600, 2, 4, 500));
  for (std::uint64_t number = 1; number <= 20; ++number) cluster.submit(kept_apart(number, 10));
  Gathered round(cluster);
  const WorthModel model{.prices = round.prices};
  const ClusterView view = cluster.view();
  Budget budget;
  SynergyRound synergy({view, round.input, model, round.kinds.all(), false}, budget);
  EXPECT_TRUE(synergy.run().places.empty());
  EXPECT_EQ(synergy.looks(), 1 + 20U);
}

TEST(CountedWork, a_round_gathers_what_has_not_ended_once_each) {
  Cluster cluster(m4(), "no-packing");
  for (std::uint64_t id = 1; id <= 50; ++id) cluster.submit(job_of(id, 3600, 1, 2, 40));
  cluster.round();
  for (std::uint64_t id = 1; id <= 40; ++id) cluster.finish(id);
  EXPECT_EQ(Gathered(cluster).input.looks(), 10 * 40U);
}

}  // namespace
}  // namespace muster
