#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schedulers/baselines/best_pairs.hpp"
#include "schedulers/baselines/join_index.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/draw.hpp"

// Bounds, fleets and memories of the policies that the Eva paper compares with.

namespace muster {
namespace {

using test::JobBuilder;
using testing::Cluster;
using testing::draw;
using testing::job_of_table_3;
using testing::table_3;

Job own_class_job(std::uint64_t id, double cpus) {
  return JobBuilder(id)
      .demand(Resources::of(0, cpus, cpus))
      .workload_class("c" + std::to_string(id))
      .build();
}

bool is_cut_off(const Plan& plan) {
  return plan.note.choice.ends_with("cut off");
}

RC_GTEST_PROP(BestPairs, come_as_from_a_sorted_list_of_all_pairs, ()) {
  const std::uint32_t kinds = draw(1U, 60U);
  std::vector<std::size_t> left(kinds);
  for (std::size_t& one : left) one = draw(1U, 4U);
  std::vector<int> ratios(std::size_t{kinds} * kinds);
  for (int& ratio : ratios) ratio = draw(0, 6);
  std::vector<BestPairs::Pair> sorted;
  for (std::uint32_t one = 0; one < kinds; ++one) {
    for (std::uint32_t other = one; other < kinds; ++other) {
      const int ratio = ratios[one * kinds + other];
      if (ratio > 0) sorted.push_back({one, other, double(ratio)});
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
  const auto seat = [](const BestPairs::Pair& pair, std::vector<std::size_t>& of) {
    const std::size_t least = pair.one == pair.other ? 2 : 1;
    int seated = 0;
    for (; of[pair.one] >= least && of[pair.other] >= least; ++seated) {
      --of[pair.one];
      --of[pair.other];
    }
    return seated;
  };
  std::vector<std::string> expected, found;
  const auto text = [](const BestPairs::Pair& pair) {
    return std::to_string(pair.one) + "+" + std::to_string(pair.other);
  };
  std::vector<std::size_t> others = left;
  for (const BestPairs::Pair& pair : sorted) {
    if (seat(pair, others) > 0) expected.push_back(text(pair));
  }
  Budget budget;
  BestPairs pairs(kinds,
                  {[&](std::uint32_t one, std::uint32_t other) -> std::optional<double> {
                     const int ratio = ratios[one * kinds + other];
                     if (ratio == 0) return std::nullopt;
                     return ratio;
                   },
                   [&](std::uint32_t kind) { return left[kind]; }, 1},
                  budget);
  RC_ASSERT(pairs.kept() <= kinds * BestPairs::kLeastOfKind);
  while (const auto pair = pairs.next()) {
    RC_ASSERT(seat(*pair, left) > 0);
    found.push_back(text(*pair));
    RC_ASSERT(pairs.kept() <= kinds * BestPairs::kLeastOfKind);
  }
  RC_ASSERT(found == expected);
}

TEST(BestPairs, keep_a_bounded_number_of_partners) {
  constexpr std::uint32_t kKinds = 400;
  Budget budget;
  const auto ratio = [](std::uint32_t, std::uint32_t) { return std::optional<double>(1.5); };
  const auto left = [](std::uint32_t) { return std::size_t{1}; };
  const BestPairs pairs(kKinds, {ratio, left, 100}, budget);
  EXPECT_LE(pairs.kept(), kKinds * BestPairs::kLeastOfKind) << "there are 79,800 pairs";
  EXPECT_FALSE(pairs.cut_off());
}

TEST(JoinIndex, looks_at_no_group_that_cannot_hold_the_task) {
  const Catalog catalog = table_3();
  ReservationPrices prices{catalog};
  constexpr std::uint32_t kKinds = 500;
  std::vector<TaskKind> kinds;
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kKinds; ++i) {
    // One small task, so that an instance is listed for it though it is full for all others.
    const Resources demand = i + 1 < kKinds ? Resources::of(0, 3, 3) : Resources::of(0, 0.1, 0.1);
    kinds.push_back({ClassId{i}, prices.add({Demands(demand)})});
    all.push_back(i);
  }
  JoinIndex index({.prices = prices}, kinds, {});
  index.expect(all);
  Budget budget;
  const TypeId type = test::type_named(catalog, "it4");
  for (std::uint32_t i = 0; i + 1 < kKinds; ++i) {
    EXPECT_FALSE(index.best(i, budget));
    index.add(type, 0.4, catalog[type].capacity - prices.on(kinds[i].shape, type).amount,
              std::vector{i});
  }
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_EQ(index.kept(), 0u);
  EXPECT_TRUE(index.best(kKinds - 1, budget));
  EXPECT_EQ(index.kept(), 0u) << "no other task of its kind will ask";
}

TEST(Synergy, says_that_its_budget_was_spent_and_still_fills_a_fleet) {
  Cluster cluster(table_3(), "synergy");
  cluster.add_to_fleet("it4", 3);
  for (std::uint64_t id = 1; id <= 4; ++id) cluster.submit(own_class_job(id, 3));
  cluster.allow(1);
  const Plan plan = cluster.round();
  EXPECT_TRUE(is_cut_off(plan));
  EXPECT_EQ(plan.places.size(), 3u);
  EXPECT_FALSE(cluster.policy().settled(cluster.view()));
}

TEST(Synergy, rents_for_those_that_its_budget_did_not_suffice_for) {
  Cluster cluster(table_3(), "synergy");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  cluster.allow(1);
  EXPECT_TRUE(is_cut_off(cluster.round()));
  EXPECT_EQ(cluster.layout(), "it1(1) it2(2) it3(3) it4(4)");
}

TEST(Owl, says_that_its_budget_was_spent) {
  Cluster cluster(table_3(), "owl");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  cluster.allow(1);
  EXPECT_TRUE(is_cut_off(cluster.round()));
  EXPECT_EQ(cluster.layout(), "it1(1) it2(2) it3(3) it4(4)");
  EXPECT_FALSE(cluster.policy().settled(cluster.view()));
  Cluster fleet(table_3(), "owl");
  fleet.add_to_fleet("it4", 2);
  for (std::uint64_t id = 1; id <= 4; ++id) fleet.submit(own_class_job(id, 2));
  fleet.allow(1);
  EXPECT_TRUE(is_cut_off(fleet.round()));
  EXPECT_EQ(fleet.layout(), "it4(1 3) it4(2 4)") << "room is used all the same";
}

/// A gang that finds no room is refused, which is how the master knows to let room gather for it.
TEST(Gangs, that_find_no_room_on_a_fleet_are_refused) {
  for (const char* policy :
       {"synergy", "owl", "stratus,artifact,run_times=hinted", "stratus,run_times=hinted"}) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it4", 2);
    Job small = own_class_job(7, 4);
    small.runtime_hint = from_seconds(900);
    cluster.submit(small);
    cluster.round();
    Job gang = JobBuilder(20).tasks(2).demand(Resources::of(0, 4, 12)).gang(true).build();
    gang.runtime_hint = from_seconds(900);
    cluster.submit(gang);
    const Plan plan = cluster.round();
    ASSERT_EQ(plan.refusals.size(), 2u) << policy;
    for (const Refuse& refuse : plan.refusals) {
      EXPECT_EQ(refuse.refusal.code, RefusalCode::awaiting_capacity) << policy;
    }
    cluster.finish(7);
    cluster.round();
    EXPECT_EQ(cluster.layout(), "it4(20) it4(2001)") << policy;
  }
}

TEST(Owl, takes_back_a_gang_that_had_joined_tasks_on_a_fleet) {
  Cluster cluster(table_3(), "owl");
  cluster.add_to_fleet("it4", 2);
  for (std::uint64_t id : {1, 2}) cluster.submit(own_class_job(id, 2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it4(1) it4(2)");
  cluster.submit(JobBuilder(10).tasks(3).demand(Resources::of(0, 2, 2)).gang(true).build());
  cluster.submit(JobBuilder(20).tasks(2).demand(Resources::of(0, 2, 2)).gang(true).build());
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.refusals.size(), 3u);
  EXPECT_EQ(cluster.layout(), "it4(1 20) it4(2 2001)");
}

/// Where Owl sends one more task on a fleet of two it4, while the first of `running` is to end.
/// Each runs by itself where `of` says.
std::string place_beside_one_that_ends(const std::vector<Job>& running,
                                       const std::vector<std::uint64_t>& of, const Job& comes) {
  const Catalog catalog = table_3();
  ClusterState state(catalog);
  auto policy = make_policy(parse_policy("owl").value(), catalog).value();
  const auto apply = [&](auto body) { state.apply({Instant{}, std::move(body)}); };
  const TypeId type = test::type_named(catalog, "it4");
  for (std::uint64_t id : {1, 2}) {
    const InstanceId instance{id};
    apply(LaunchRequested{
        instance, type, Market::on_demand, Price::from_usd_h(0.4), {CauseCode::fleet, 0}});
    apply(InstanceUp{instance});
    apply(InstanceReady{instance});
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    const TaskId task = running[i].tasks.front().id;
    apply(JobAccepted{running[i]});
    apply(TaskAssigned{task, InstanceId{of[i]}, {CauseCode::alone, 0}});
    apply(StartIssued{task, InstanceId{of[i]}, 1});
    apply(TaskStarted{task, 1, std::chrono::seconds{1}, std::chrono::seconds{1}});
  }
  apply(JobTerminating{running.front().id, JobOutcome::cancelled});
  apply(JobAccepted{comes});
  Rng rng(1);
  Budget budget;
  std::string text;
  const Plan plan = policy->decide({state, catalog, Instant{}, nullptr}, rng, budget);
  for (const Place& place : plan.places) {
    text += std::to_string(std::get<InstanceId>(place.to).value);
  }
  return text;
}

TEST(Owl, leaves_the_room_of_a_job_that_is_to_end_until_it_has_ended) {
  EXPECT_EQ(place_beside_one_that_ends({own_class_job(1, 1)}, {1}, own_class_job(9, 4)), "2")
      << "the first instance is not empty yet";
  EXPECT_EQ(place_beside_one_that_ends({own_class_job(1, 1), own_class_job(2, 4)}, {1, 2},
                                       own_class_job(9, 4)),
            "");
  EXPECT_EQ(
      place_beside_one_that_ends({own_class_job(1, 3), own_class_job(2, 1), own_class_job(3, 4)},
                                 {1, 1, 2}, own_class_job(9, 3)),
      "")
      << "task 2 is not alone yet, and three cores are not free";
}

TEST(EvaBaselines, decide_alike_with_a_memory_that_was_saved_and_loaded) {
  for (const char* policy : {"synergy", "owl"}) {
    Cluster cluster(table_3(), policy);
    for (std::uint64_t i : {1, 2}) cluster.submit(job_of_table_3(i));
    cluster.round();
    ASSERT_EQ(cluster.layout(), "it1(1 2)") << policy;
    cluster.round({{1, 0.5}, {2, 0.5}});
    for (std::uint64_t i : {11, 12}) {
      cluster.submit(JobBuilder(i)
                         .demands(testing::tasks_of_table_3()[i - 11])
                         .workload_class("c" + std::to_string(i - 10))
                         .build());
    }
    const std::string text = cluster.policy().save_state(cluster.state());
    const auto plan_of = [&](const std::string& memory) {
      auto other = make_policy(parse_policy(policy).value(), cluster.catalog()).value();
      EXPECT_TRUE(memory.empty() || other->load_state(memory, cluster.view()));
      Rng rng(1);
      Budget budget;
      const Plan plan = other->decide(cluster.view(), rng, budget);
      EXPECT_TRUE(memory.empty() || other->save_state(cluster.state()) == memory);
      std::string said;
      for (const Launch& launch : plan.launches) said += cluster.catalog()[launch.type].name + " ";
      for (const Place& place : plan.places) said += std::to_string(place.task.value) + " ";
      return said;
    };
    EXPECT_EQ(plan_of(text), "it1 it2 11 12 ") << policy << ": 0.5 x 15 < 12";
    EXPECT_EQ(plan_of(""), "it1 11 12 ") << policy << ": nothing is known";
  }
}

TEST(EvaBaselines, run_an_elastic_job_at_its_least_width) {
  for (const char* policy : {"synergy", "owl"}) {
    for (const bool fleet : {false, true}) {
      Cluster cluster(table_3(), policy);
      if (fleet) cluster.add_to_fleet("it4", 4);
      cluster.submit(JobBuilder(1).demand(Resources::of(0, 4, 12)).elastic(2, 4).build());
      const Plan plan = cluster.round();
      EXPECT_EQ(plan.places.size(), 2u) << policy;
      EXPECT_TRUE(plan.resizes.empty()) << policy;
      EXPECT_TRUE(cluster.round().places.empty()) << policy;
    }
  }
}

}  // namespace
}  // namespace muster
