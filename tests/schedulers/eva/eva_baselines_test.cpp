#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "schedulers/baselines/join_index.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/support/golden.hpp"

// Synergy and Owl, as the Eva paper compares with them, and Stratus as its simulator has it. The
// types are those of Eva's Table 3: it1 (4 GPUs, 16 cores, 244 GiB, $12), it2 (1, 4, 61, $3), it3
// (0, 8, 32, $0.8) and it4 (0, 4, 16, $0.4).

namespace muster {
namespace {

using test::IsGolden;
using test::JobBuilder;
using ::testing::AllOf;
using testing::Cluster;
using testing::draw;
using testing::figure;
using ::testing::HasSubstr;
using testing::job_of_table_3;
using testing::table_3;

Job cpu_job(std::uint64_t id, double cpus, const std::string& cls = "c") {
  return JobBuilder(id).demand(Resources::of(0, cpus, cpus)).workload_class(cls).build();
}

TEST(Synergy, joins_the_tasks_that_are_worth_most_with_it_or_rents_the_cheapest_type) {
  Cluster cluster(table_3(), "synergy");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2) it3(3) it4(4)")
      << "task 4 has room on it1, and the three would be worth less than the two";
  EXPECT_EQ(plan.note.choice, "best fit");
  EXPECT_EQ(figure(plan, "joined"), 1);
  EXPECT_NEAR(figure(plan, "least ratio"), 0.95 * 15 / 12, 1e-9);
}

TEST(Synergy, of_the_artifact_asks_only_that_all_are_worth_the_instance) {
  Cluster cluster(table_3(), "synergy,artifact");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2 4) it3(3)");
}

TEST(Synergy, rents_where_joining_is_not_worth_the_instance) {
  for (const char* policy : {"synergy,t=0.7", "synergy,t=0.7,artifact"}) {
    Cluster cluster(table_3(), policy);
    for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it1(1) it2(2)") << policy << ": 0.7 x 15 < 12";
  }
}

TEST(Synergy, learns_who_slows_whom) {
  Cluster cluster(table_3(), "synergy");
  for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)");
  cluster.round({{1, 0.7}, {2, 0.8}});
  EXPECT_EQ(cluster.layout(), "it1(1 2)") << "nobody is moved";
  cluster.finish(1);
  cluster.finish(2);
  cluster.round();
  for (std::uint64_t i : {11, 12}) {
    Job job = job_of_table_3(i - 10);
    job.id = JobId{i};
    cluster.submit(JobBuilder(i)
                       .demands(testing::tasks_of_table_3()[i - 11])
                       .workload_class("c" + std::to_string(i - 10))
                       .build());
  }
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(11) it2(12)");
}

TEST(Synergy, goes_where_it_fits_best_among_equals) {
  Cluster cluster(table_3(), "synergy,artifact,t=1");
  cluster.submit(JobBuilder(1).demand(Resources::of(0, 5, 30)).build());
  cluster.submit(JobBuilder(2).demand(Resources::of(0, 7, 9)).build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it3(1) it3(2)");
  cluster.submit(JobBuilder(3).demand(Resources::of(0, 1, 2)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1) it3(2 3)") << "23 GiB are free there";
  cluster.submit(JobBuilder(4).demand(Resources::of(0, 1, 1)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 4) it3(2 3)");
}

TEST(Synergy, gives_back_what_is_empty_and_never_moves_anybody) {
  for (const char* policy : {"synergy", "synergy,artifact"}) {
    Cluster cluster(table_3(), policy);
    for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
    cluster.round();
    cluster.finish(1);
    Plan plan = cluster.round();
    EXPECT_TRUE(plan.places.empty() && plan.releases.empty()) << policy;
    cluster.finish(2);
    plan = cluster.round();
    EXPECT_EQ(plan.releases.size(), 1u) << policy;
    EXPECT_EQ(cluster.layout(), "") << policy;
  }
}

TEST(Synergy, uses_an_instance_that_has_come_empty_as_the_paper_says_and_the_artifact_does_not) {
  const auto layout_under = [](const char* policy) {
    Cluster cluster(table_3(), policy);
    cluster.submit(cpu_job(1, 4));
    cluster.round();
    cluster.finish(1);
    cluster.submit(cpu_job(2, 4));
    const Plan plan = cluster.round();
    return std::to_string(plan.launches.size()) + " " + cluster.layout();
  };
  EXPECT_EQ(layout_under("synergy"), "0 it4(2)");
  EXPECT_EQ(layout_under("synergy,artifact"), "1 it4(2)");
}

TEST(Synergy, places_a_gang_whole_or_not_at_all_on_a_fixed_fleet) {
  for (const char* policy : {"synergy", "synergy,artifact", "owl", "owl,artifact",
                             "stratus,artifact,run_times=hinted"}) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4", 2);
    cluster.submit(JobBuilder(1).tasks(3).demand(Resources::of(0, 4, 12)).gang(true).build());
    cluster.submit(cpu_job(7, 4));
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(7) it4()") << policy;
    cluster.finish(7);
    cluster.submit(JobBuilder(20).tasks(2).demand(Resources::of(0, 4, 12)).gang(true).build());
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(20) it4(2001)") << policy;
  }
}

TEST(Owl, puts_the_best_pairs_together_and_everybody_else_alone) {
  Cluster cluster(table_3(), "owl");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2) it3(3) it4(4)");
  EXPECT_EQ(plan.note.choice, "pairs");
  EXPECT_EQ(figure(plan, "pairs"), 1);
  EXPECT_NEAR(figure(plan, "best ratio"), 0.95 * 15 / 12, 1e-9);
}

TEST(Owl, never_has_three_tasks_together) {
  Cluster cluster(table_3(), "owl");
  cluster.submit(job_of_table_3(1));
  for (std::uint64_t id = 2; id <= 4; ++id) {
    cluster.submit(JobBuilder(id).demands(testing::tasks_of_table_3()[1]).build());
  }
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2) it2(3) it2(4)");
}

TEST(Owl, moves_who_is_left_alone_to_the_cheapest_type) {
  for (const char* policy : {"owl", "owl,artifact"}) {
    Cluster cluster(table_3(), policy);
    for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
    cluster.round();
    cluster.finish(1);
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), "it2(2)") << policy;
    EXPECT_EQ(figure(plan, "moved"), 1) << policy;
  }
}

TEST(Owl, moves_one_that_is_alone_to_make_a_pair_and_both_in_the_artifact) {
  const auto moved_under = [](const char* policy) {
    Cluster cluster(table_3(), policy);
    cluster.submit(job_of_table_3(1));
    cluster.round();
    cluster.submit(job_of_table_3(2));
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), "it1(1 2)") << policy;
    return figure(plan, "moved");
  };
  EXPECT_EQ(moved_under("owl"), 0) << "task 1 is on the type of the pair";
  EXPECT_EQ(moved_under("owl,artifact"), 1) << "a pair always gets a new instance";
}

TEST(Owl, learns_rates_of_pairs_unless_it_is_told_them) {
  Cluster cluster(table_3(), "owl");
  for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
  cluster.round();
  cluster.round({{1, 0.5}, {2, 0.5}});
  cluster.finish(1);
  cluster.round();
  cluster.submit(
      JobBuilder(9).demands(testing::tasks_of_table_3()[0]).workload_class("c1").build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2) it1(9)");
}

TEST(Owl, is_given_true_rates_by_a_world_that_knows_them_and_by_nothing_else) {
  const Catalog catalog = table_3();
  const auto spec = parse_policy("owl,profile=given").value();
  const auto live = make_policy(spec, catalog);
  ASSERT_FALSE(live);
  EXPECT_EQ(live.error().code, PolicyError::replay_only);
  EXPECT_THAT(live.error().message, AllOf(HasSubstr("profile=given"), IsGolden()));
  std::string asked;
  const PairTruth truth = [&](const std::string& task, const std::string& neighbour) {
    asked += task + "/" + neighbour + " ";
    return 0.7;
  };
  PolicyServices services;
  services.pairs = truth;
  auto policy = make_policy(spec, catalog, 1, services).value();
  EXPECT_FALSE(policy->cadence().wants_throughput);
  ClusterState state(catalog);
  for (std::uint64_t i : {1, 2}) {
    state.apply({Instant{}, JobAccepted{job_of_table_3(i)}});
  }
  Rng rng(1);
  Budget budget;
  const ClusterView view{state, catalog, Instant{}, &state.offerings()};
  EXPECT_EQ(policy->decide(view, rng, budget).launches.size(), 2u) << "0.7 x 15 < 12";
  EXPECT_THAT(asked, HasSubstr("c1/c2"));
}

TEST(Owl, fills_the_fleet_and_joins_one_task_that_is_alone_before_who_comes_waits) {
  Cluster cluster(table_3(), "owl");
  cluster.add_to_fleet("it3");
  cluster.add_to_fleet("it4");
  for (std::uint64_t id = 1; id <= 5; ++id) cluster.submit(cpu_job(id, 2));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(2 4) it4(1 3)") << "at most two";
}

TEST(StratusOfTheArtifact, packs_by_whole_run_times_and_dissolves_what_is_used_little) {
  Cluster cluster(table_3(), "stratus,artifact,run_times=hinted");
  const auto submit = [&](std::uint64_t id, const Resources& demand, double seconds) {
    Job job = JobBuilder(id).demand(demand).build();
    job.runtime_hint = from_seconds(seconds);
    cluster.submit(job);
  };
  // Groups of one and of two, the longest first. A GPU counts for more than anything, so that of
  // the types that have some the catalog's first is taken, dissolved, and taken again.
  submit(1, Resources::of(1, 2, 2), 5000);
  submit(2, Resources::of(0, 4, 8), 4000);
  submit(3, Resources::of(0, 4, 8), 3000);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(2 3) it1(1)");
  // It goes to the instance of its bin, [4096, 8192) s, and leaves it again as that is dissolved.
  submit(4, Resources::of(0, 2, 2), 4500);
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(2 3) it1(1) it4(4)");
  EXPECT_EQ(figure(plan, "packed"), 1);
  EXPECT_EQ(figure(plan, "cleared"), 1);
  EXPECT_EQ(figure(plan, "moved"), 1);
}

/// The same by a look at every host.
struct PlainJoins {
  struct Host {
    TypeId type;
    double price = 0;
    Resources free;
    std::vector<std::uint32_t> kinds;
  };
  const WorthModel& model;
  std::vector<TaskKind> kinds;
  JoinIndex::Rules rules;
  std::vector<Host> hosts;

  double worth_of(const Host& host, std::vector<std::uint32_t> tasks) const {
    InstanceWorth set;
    set.clear(model);
    for (std::uint32_t kind : tasks) set.add(entrant_of(model, kinds[kind], host.type));
    return set.usd_h();
  }
  /// Ratio and alignment of the best, and none where there is none.
  std::optional<std::pair<double, double>> best(std::uint32_t kind) const {
    std::optional<std::pair<double, double>> best;
    for (const Host& host : hosts) {
      const ShapeOnType& on = model.prices.on(kinds[kind].shape, host.type);
      if (!on.fits || !on.amount.fits_in(host.free)) continue;
      std::vector<std::uint32_t> tasks = host.kinds;
      const double before = worth_of(host, tasks);
      tasks.push_back(kind);
      const double with = worth_of(host, tasks);
      if (with / host.price < rules.least_ratio) continue;
      if (!rules.may_fall && with < before - kWorthEpsilon_usd_h) continue;
      double alignment = 0;
      for (Resource one : kAllResources) {
        const double has = model.prices.types()[host.type].capacity[one];
        if (has > 0) alignment += on.amount[one] / has * host.free[one] / has;
      }
      const std::pair<double, double> score{with / host.price, alignment};
      const bool better = !best || score.first > best->first + 1e-12 ||
                          (score.first > best->first - 1e-12 && score.second > best->second);
      if (better) best = score;
    }
    return best;
  }
};

RC_GTEST_PROP(JoinIndex, finds_what_a_look_at_every_host_finds, ()) {
  const Catalog catalog = table_3();
  ReservationPrices prices{catalog};
  std::vector<TaskKind> kinds;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const Resources demand = Resources::of(draw(0, 2), draw(1, 5), draw(1, 9));
    kinds.push_back({ClassId{i % 4}, prices.add({Demands(demand)})});
  }
  ColocationTable rates;
  for (int i = 0; i < 6; ++i) {
    const std::vector<ClassId> neighbour{ClassId{draw(0U, 4U)}};
    rates.record(ClassId{draw(0U, 4U)}, neighbour, draw(50, 100) / 100.0);
  }
  const WorthModel model{.prices = prices, .rates = &rates, .form = GangForm::plain};
  const JoinIndex::Rules rules{.least_ratio = draw(0, 2) == 0 ? 1.0 : 0.3,
                               .may_fall = draw(0, 2) == 0};
  JoinIndex index(model, kinds, rules);
  PlainJoins plain{model, kinds, rules, {}};
  std::vector<std::uint32_t> all(kinds.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  index.expect(all);
  Budget budget;
  for (int step = 0; step < 60; ++step) {
    const std::uint32_t kind = draw(0U, 12U);
    const auto found = index.best(kind, budget);
    const auto expected = plain.best(kind);
    RC_ASSERT(found.has_value() == expected.has_value());
    if (found) {
      RC_ASSERT(std::abs(found->ratio - expected->first) < 1e-9);
      RC_ASSERT(std::abs(found->alignment - expected->second) < 1e-9);
    }
    if (found && draw(0, 4) > 0) {
      const JoinIndex::Before before = index.join(found->host, kind);
      if (draw(0, 3) == 0) {
        index.take_back(found->host, before);
        continue;
      }
      PlainJoins::Host& host = plain.hosts[found->host];
      host.free -= prices.on(kinds[kind].shape, host.type).amount;
      host.kinds.push_back(kind);
      continue;
    }
    const TypeId type = prices.of(kinds[kind].shape).type;
    const Resources free = catalog[type].capacity - prices.on(kinds[kind].shape, type).amount;
    index.add(type, prices.types().usd_h(type), free, std::vector{kind});
    plain.hosts.push_back({type, prices.types().usd_h(type), free, {kind}});
  }
}

}  // namespace
}  // namespace muster
