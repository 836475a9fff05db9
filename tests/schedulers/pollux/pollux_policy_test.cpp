#include "schedulers/pollux/pollux_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::figure;

/// Nodes of four GPUs at a dollar an hour.
Catalog nodes() {
  return Catalog({testing::type_of("node", "", Resources::of(4, 48, 192), 1)});
}

/// Workers of a GPU each, of which twice as many are nearly twice as fast.
Job training(std::uint64_t id, std::uint32_t least = 1, std::uint32_t most = 8) {
  std::vector<double> speedup;
  for (std::uint32_t r = 1; r <= most; ++r) speedup.push_back(r / (1 + 0.02 * (r - 1)));
  return JobBuilder(id)
      .demand(Resources::of(1, 4, 16))
      .workload_class("net")
      .elastic(least, most, ElasticEpochs({{1000, 1, speedup, {}}}))
      .build();
}

Job fixed(std::uint64_t id, std::uint32_t tasks, bool gang) {
  return JobBuilder(id).tasks(tasks).gang(gang).demand(Resources::of(1, 4, 16)).build();
}

constexpr const char* kEight = "pollux,budget=8,speedups=oracle";

std::uint32_t width_of(const Cluster& cluster, std::uint64_t job) {
  return cluster.state().find(JobId{job})->width;
}

TEST(Pollux, RentsItsClusterForElasticJobsAndGivesItBackWithTheLastOfThem) {
  Cluster cluster(nodes(), kEight);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "");
  cluster.submit(training(1));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node() node()");
  cluster.round();
  EXPECT_EQ(width_of(cluster, 1), 8U);
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "");
}

TEST(Pollux, SharesItsClusterWithWhoComes) {
  Cluster cluster(nodes(), kEight);
  cluster.submit(training(1));
  cluster.round();
  cluster.round();
  cluster.submit(training(2));
  cluster.round();
  EXPECT_EQ(width_of(cluster, 1), 4U);
  EXPECT_EQ(width_of(cluster, 2), 4U);
  EXPECT_EQ(cluster.layout(), "node(1 101 102 103) node(2 201 202 203)");
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.places.empty() && plan.resizes.empty() && plan.launches.empty());
}

TEST(Pollux, RentsMoreThanItsBudgetWhereAJobWouldNotRunOtherwise) {
  Cluster cluster(nodes(), "pollux,budget=4,speedups=oracle");
  cluster.submit(training(1, 6));
  cluster.round();
  cluster.round();
  EXPECT_GE(width_of(cluster, 1), 6U);
  EXPECT_EQ(cluster.state().find(JobId{1})->running, width_of(cluster, 1));
}

TEST(Pollux, StopsNobodyForGoodWhereThereAreMoreJobsThanWorkers) {
  Cluster cluster(nodes(), "pollux,budget=4,speedups=oracle");
  for (std::uint64_t id = 1; id <= 6; ++id) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  EXPECT_EQ(cluster.state().pending().size(), 2U);
  EXPECT_TRUE(cluster.round().stops.empty()) << "a change of turns would bring nothing";
  const TaskRow& waiting = *cluster.state().find(TaskId{cluster.state().pending().begin()->id});
  EXPECT_EQ(waiting.reason.code, RefusalCode::awaiting_capacity);
  std::set<std::uint64_t> left{1, 2, 3, 4, 5, 6};
  for (int round = 0; round < 6; ++round) {
    const auto runs = std::find_if(left.begin(), left.end(), [&](std::uint64_t id) {
      return cluster.state().find(JobId{id})->running > 0;
    });
    ASSERT_NE(runs, left.end());
    cluster.finish(*runs);
    left.erase(runs);
    cluster.round();
  }
}

/// A job that states nothing.
Job silent(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 16)).elastic(1, 8).build();
}

TEST(Pollux, BeginsWithOneWorkerAndDoublesAsTheJobShowsThatItPays) {
  Cluster cluster(nodes(), "pollux,budget=8");
  cluster.submit(silent(1));
  cluster.round();
  cluster.round();
  EXPECT_EQ(width_of(cluster, 1), 1U);
  double done = 0;
  const auto go_on = [&](double rate) {
    for (int report = 0; report < 3; ++report) {
      cluster.progress(1, done += rate);
      cluster.round();
    }
  };
  go_on(10);
  EXPECT_EQ(width_of(cluster, 1), 2U);
  go_on(20);
  EXPECT_EQ(width_of(cluster, 1), 4U);
  go_on(15);
  EXPECT_EQ(width_of(cluster, 1), 2U) << "four were slower than two";
}

TEST(Pollux, GivesJobsThatAreNotElasticInstancesOfTheirOwn) {
  Cluster cluster(nodes(), "pollux,budget=4,speedups=oracle");
  cluster.submit(training(1));
  cluster.submit(fixed(5, 3, true));
  cluster.submit(fixed(6, 2, false));
  cluster.round();
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(5) node(501) node(502) node(6) node(601) node(1 101 102 103)");
  cluster.finish(5);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "node(6) node(601) node(1 101 102 103)");
}

TEST(Pollux, HasElasticJobsGiveWayOnAFleetToThoseThatCannot) {
  Cluster cluster(nodes(), "pollux,speedups=oracle");
  cluster.add_to_fleet("node", 2);
  cluster.submit(training(1));
  cluster.round();
  EXPECT_EQ(width_of(cluster, 1), 8U);
  cluster.submit(fixed(2, 6, true));
  cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{2})->running, 6U);
  EXPECT_EQ(width_of(cluster, 1), 2U);
  cluster.submit(fixed(3, 3, false));
  cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{3})->running, 2U) << "as many as there is room for";
  EXPECT_EQ(cluster.state().find(JobId{1})->running, 0U);
  cluster.finish(2);
  cluster.round();
  EXPECT_EQ(cluster.state().find(JobId{3})->running, 3U);
  EXPECT_EQ(cluster.state().find(JobId{1})->running, 5U);
}

TEST(Pollux, SharesNodesAmongWorkersOfDifferentSizes) {
  Cluster cluster(nodes(), "pollux,budget=8,speedups=oracle");
  cluster.submit(training(1));
  Job large = training(2, 1, 4);
  for (TaskSpec& task : large.tasks) task.demands = Demands(Resources::of(2, 4, 16));
  cluster.submit(large);
  cluster.round();
  cluster.round();
  EXPECT_EQ(width_of(cluster, 1) + 2 * width_of(cluster, 2), 8U) << cluster.layout();
}

TEST(Pollux, NeverOverfillsANodeOrLeavesAJobsBounds) {
  for (const char* policy : {"pollux,budget=16,speedups=oracle,moves=200",
                             "pollux,budget=12,population=10,generations=5,search=genetic"}) {
    Rng rng(4);
    Cluster cluster(nodes(), policy);
    std::vector<std::uint64_t> alive;
    for (std::uint64_t step = 1; step <= 120; ++step) {
      if (rng.uniform() < 0.4) {
        const auto least = static_cast<std::uint32_t>(1 + rng.below(3));
        const double kind = rng.uniform();
        if (kind < 0.7) cluster.submit(training(step, least));
        if (kind >= 0.7) cluster.submit(fixed(step, least, kind < 0.85));
        alive.push_back(step);
      }
      for (const std::uint64_t id : alive) cluster.progress(id, static_cast<double>(step));
      cluster.round();
      for (const InstanceRow& row : cluster.state().instances()) {
        ASSERT_TRUE(row.committed.fits_in(cluster.catalog()[row.type].capacity)) << step;
      }
      for (const JobRow& job : cluster.state().jobs()) {
        if (job.width == 0) {
          ASSERT_EQ(job.pending, 0U) << step;
        } else {
          ASSERT_TRUE(job.running == 0 || job.running == job.width) << step;
          ASSERT_GE(job.width, std::get<ElasticSpec>(job.job.kind).min_width) << step;
        }
      }
      std::erase_if(alive, [&](std::uint64_t id) {
        const JobRow& job = *cluster.state().find(JobId{id});
        const bool ends = job.running > 0 && rng.uniform() < 0.1;
        if (ends) cluster.finish(id);
        return ends;
      });
    }
    EXPECT_TRUE(cluster.state().inconsistencies().empty());
  }
}

/// What it does when the instance is closed for a job that goes before others.
Plan decide_beside_a_claim(Cluster& cluster, InstanceId closed) {
  KeptRoom kept;
  kept.place = {100, Instant{}, JobId{99}};
  kept.closed = {{closed, std::nullopt}};
  ClusterView view = cluster.view();
  view.kept = &kept;
  Rng rng(1);
  Budget budget;
  return cluster.policy().decide(view, rng, budget);
}

std::size_t places_on(const Plan& plan, InstanceId instance) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.places, [&](const Place& place) {
    const auto* to = std::get_if<InstanceId>(&place.to);
    return to != nullptr && *to == instance;
  }));
}

TEST(Pollux, PutsNothingWhereRoomIsKeptAndLeavesWhoIsThereAlone) {
  Cluster cluster(nodes(), kEight);
  cluster.submit(training(1));
  cluster.submit(training(2));
  cluster.round();
  cluster.round();
  ASSERT_EQ(cluster.layout(), "node(2 201 202 203) node(1 101 102 103)");
  cluster.finish(1);
  Rng rng(1);
  Budget budget;
  const Plan wide = cluster.policy().decide(cluster.view(), rng, budget);
  ASSERT_GT(places_on(wide, InstanceId{2}), 0u) << "else it gets wider";
  EXPECT_EQ(places_on(decide_beside_a_claim(cluster, InstanceId{2}), InstanceId{2}), 0u);
  const Plan there = decide_beside_a_claim(cluster, InstanceId{1});
  EXPECT_TRUE(there.resizes.empty() && there.stops.empty() && there.places.empty())
      << "it runs on what closes";
}

TEST(Pollux, PutsNoJobThatIsNotElasticWhereRoomIsKept) {
  Cluster cluster(nodes(), "pollux,speedups=oracle");
  cluster.add_to_fleet("node", 2);
  cluster.submit(fixed(5, 1, false));
  EXPECT_EQ(places_on(decide_beside_a_claim(cluster, InstanceId{1}), InstanceId{2}), 1u);
  EXPECT_EQ(places_on(decide_beside_a_claim(cluster, InstanceId{2}), InstanceId{1}), 1u);
}

pollux::PolluxParams genetic() {
  pollux::PolluxParams params;
  params.budget_gpus = 8;
  params.search = pollux::SearchKind::genetic;
  params.speedups = pollux::SpeedSource::oracle;
  params.effort.population = 10;
  params.effort.generations = 4;
  return params;
}

TEST(Pollux, DecidesAfterARestartAsItWouldHave) {
  Cluster cluster(nodes(),
                  "pollux,budget=8,search=genetic,speedups=oracle,population=10,generations=4");
  for (const std::uint64_t id : {1, 2, 3}) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  cluster.progress(1, 150);
  const std::string words = cluster.policy().save_state(cluster.state());
  pollux::PolluxPolicy other(genetic());
  ASSERT_TRUE(other.load_state(words, cluster.view()));
  EXPECT_EQ(other.save_state(cluster.state()), words);
  Rng rng(1);
  Rng same(1);
  Budget budget;
  const Plan mine = cluster.policy().decide(cluster.view(), rng, budget);
  const Plan its = other.decide(cluster.view(), same, budget);
  EXPECT_EQ(figure(mine, "fitness"), figure(its, "fitness"));
  EXPECT_FALSE(other.load_state("{}", cluster.view()));
}

TEST(Pollux, RemembersASearchThatAnotherHasMade) {
  Cluster cluster(nodes(),
                  "pollux,budget=8,search=genetic,speedups=oracle,population=10,generations=4");
  for (const std::uint64_t id : {1, 2, 3}) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  pollux::PolluxPolicy other(genetic());
  ASSERT_TRUE(other.load_state(cluster.policy().save_state(cluster.state()), cluster.view()));
  Rng rng(9);
  Budget budget;
  const Plan plan = cluster.policy().decide(cluster.view(), rng, budget);
  EXPECT_EQ(plan.note.choice, "genetic");
  const Event decided{cluster.view().now, RoundDecided{7, plan.note}};
  cluster.policy().observe(decided, cluster.view());
  other.observe(decided, cluster.view());
  EXPECT_EQ(other.save_state(cluster.state()), cluster.policy().save_state(cluster.state()));
}

TEST(Pollux, RemembersTheLayoutThatItHasChosenAmongThoseOfItsSearch) {
  Cluster cluster(nodes(),
                  "pollux,budget=8,search=genetic,speedups=oracle,population=10,generations=4");
  for (const std::uint64_t id : {1, 2, 3}) cluster.submit(training(id));
  cluster.round();
  cluster.round();
  pollux::NamedLayout chosen;
  for (const std::uint64_t id : {1, 2, 3}) {
    auto& row = chosen[JobId{id}];
    for (const Slot slot : cluster.state().find(JobId{id})->tasks) {
      const Slot node = cluster.state().task(slot).target;
      if (node != kNoSlot) ++row[cluster.state().instance(node).id];
    }
  }
  pollux::PolluxMemory memory;
  ASSERT_TRUE(memory.load(cluster.policy().save_state(cluster.state())));
  EXPECT_THAT(memory.population(), ::testing::Contains(chosen));
}

}  // namespace
}  // namespace muster
