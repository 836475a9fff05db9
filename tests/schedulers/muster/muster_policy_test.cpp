#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <variant>

#include "schedulers/muster/rented_policy.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster::testing {
namespace {

using test::JobBuilder;

Job small(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(0, 4, 12)).build();
}
Job large(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(2, 8, 24)).build();
}

Job medium(std::uint64_t id) {
  return JobBuilder(id).demand(Resources::of(1, 4, 10)).build();
}

Catalog times_dearer(const Catalog& catalog, double factor) {
  std::vector<InstanceType> types = catalog.types();
  for (InstanceType& type : types)
    type.on_demand = Price::from_usd_h(type.on_demand.usd_h() * factor);
  return Catalog(std::move(types));
}

TEST(MusterPolicy, puts_tasks_together_that_are_worth_one_instance_together) {
  Cluster cluster(table_3(), "muster,t=0.99");
  cluster.submit(large(1));
  cluster.submit(medium(2));
  cluster.submit(small(3));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2 3)") << "$15.4 an hour of work on an instance of $12";
}

TEST(MusterPolicy, keeps_tasks_apart_that_would_lose_more_than_an_instance_costs) {
  Cluster cluster(table_3(), "muster,t=0.9");
  cluster.submit(large(1));
  cluster.submit(small(2));
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 2u) << cluster.layout();
}

TEST(MusterPolicy, moves_what_is_left_to_a_cheaper_instance) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(large(1));
  cluster.submit(medium(2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)");
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2)");
}

TEST(MusterPolicy, the_scale_of_prices_changes_no_plan) {
  std::vector<std::string> layouts;
  for (const double factor : {1.0, 0.01, 1000.0}) {
    Cluster cluster(times_dearer(table_3(), factor), "muster");
    std::string all;
    for (std::uint64_t id = 1; id <= 9; ++id) {
      cluster.submit(id % 3 == 0 ? large(id) : small(id));
      if (id % 2 == 0) cluster.round();
      all += cluster.layout() + "; ";
    }
    cluster.finish(3);
    cluster.round();
    layouts.push_back(all + cluster.layout());
  }
  EXPECT_EQ(layouts[1], layouts[0]);
  EXPECT_EQ(layouts[2], layouts[0]);
}

TEST(MusterPolicy, is_never_worth_less_than_what_it_began_with_however_little_it_may_look_at) {
  for (const std::uint64_t steps : {1U, 50U, 500U, 5000U, 0U}) {
    Cluster cluster(table_3(), "muster");
    cluster.allow(steps);
    for (std::uint64_t id = 1; id <= 12; ++id) {
      cluster.submit(id % 4 == 0 ? large(id) : small(id));
      const Plan plan = cluster.round();
      EXPECT_GE(figure(plan, "value_usd_h"), figure(plan, "greedy_usd_h") - 1e-9);
    }
  }
}

TEST(MusterPolicy, leaves_tasks_where_they_are_that_must_not_be_moved) {
  Cluster cluster(table_3(), "muster");
  Job fixed = medium(2);
  fixed.movable = false;
  cluster.submit(large(1));
  cluster.submit(fixed);
  cluster.round();
  const InstanceId before = cluster.state().instance(cluster.state().find(TaskId{2})->at).id;
  cluster.finish(1);
  cluster.round();
  EXPECT_EQ(cluster.state().instance(cluster.state().find(TaskId{2})->at).id, before);
}

TEST(MusterPolicy, the_tasks_of_a_gang_all_get_a_place_at_once) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(JobBuilder(1).tasks(3).gang(true).demand(Resources::of(1, 4, 10)).build());
  cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty());
}

TEST(MusterPolicy, a_gang_is_moved_as_a_whole_when_a_job_beside_it_ends) {
  Cluster cluster(table_3(), "muster,t=0.99");
  cluster.submit(large(1));
  cluster.submit(JobBuilder(2).tasks(2).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2 201)");
  cluster.finish(1);
  const Plan plan = cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty());
  EXPECT_EQ(cluster.layout().find("it1"), std::string::npos) << cluster.layout();
  for (const Place& place : plan.places) EXPECT_EQ(place.group, 1u) << "all or none";
}

TEST(MusterPolicy, learns_from_gangs_whom_not_to_put_together) {
  Cluster cluster(table_3(), "muster,t=0.99");
  const auto gang = [](std::uint64_t id, const std::string& cls) {
    return JobBuilder(id).tasks(2).gang(true).demand(Resources::of(1, 4, 10)).workload_class(cls);
  };
  cluster.submit(large(9));
  cluster.submit(gang(1, "a").build());
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 9 101)");
  std::map<std::uint64_t, double> slow{{9, 0.3}, {1, 0.3}, {101, 0.3}};
  for (int i = 0; i < 8; ++i) cluster.round(slow);
  EXPECT_GT(cluster.state().instances().size(), 1u) << cluster.layout();
}

TEST(MusterPolicy, nobody_is_moved_or_paused_for_a_job_of_lower_priority) {
  Cluster cluster(table_3(), "muster,t=0.99,free_wait_s=100000,theta=2");
  const auto at = [&](std::uint64_t task) { return cluster.state().find(TaskId{task})->at; };
  Job first = large(1);
  first.priority = 5;
  cluster.submit(first);
  cluster.round();
  const Slot before = at(1);
  ASSERT_NE(before, kNoSlot);
  for (std::uint64_t id = 2; id <= 12; ++id) {
    cluster.submit(id % 3 == 0 ? large(id) : id % 3 == 1 ? medium(id) : small(id));
    const Plan plan = cluster.round();
    for (const Stop& stop : plan.stops) EXPECT_NE(stop.task, TaskId{1});
    EXPECT_EQ(at(1), before) << "moved in round " << id;
  }
}

TEST(MusterPolicy, a_task_that_asks_for_next_to_nothing_gets_a_place_all_the_same) {
  for (const double cpus : {1e-5, 0.0}) {
    Cluster cluster(table_3(), "muster");
    cluster.submit(JobBuilder(1).tasks(2).gang(false).demand(Resources::of(0, cpus, 0)).build());
    cluster.round();
    cluster.round();
    EXPECT_TRUE(cluster.state().pending().empty()) << cpus << ": " << cluster.layout();
  }
}

TEST(MusterPolicy, nobody_moves_to_another_instance_of_the_kind_that_he_has) {
  // Who is not worth his instance would not pay while the next one comes, and would do no work.
  InstanceType type = type_of("two", "cpu", Resources::of(0, 2, 8), 0.1);
  type.acquire = std::chrono::seconds{95};
  type.setup = {};
  Cluster cluster(Catalog({type}), "muster,patient=false");
  Job job = JobBuilder(1).tasks(2).gang(false).demand(Resources::of(0, 1.2, 2)).build();
  for (TaskSpec& task : job.tasks) task.delays = {};
  cluster.submit(job);
  cluster.round();
  const std::string before = cluster.layout();
  for (int i = 0; i < 3; ++i) {
    const Plan plan = cluster.round();
    EXPECT_TRUE(plan.launches.empty()) << cluster.layout();
  }
  EXPECT_EQ(cluster.layout(), before);
}

TEST(MusterPolicy, a_task_that_waits_for_a_better_place_is_told_so_once) {
  Cluster cluster(table_3(), "muster,theta=0,free_wait_s=100000");
  cluster.submit(medium(1));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.places.size(), 0u) << "its work is worth less than an instance of its own";
  ASSERT_EQ(plan.refusals.size(), 1u);
  EXPECT_EQ(plan.refusals[0].refusal.code, RefusalCode::better_place);
  EXPECT_TRUE(cluster.round().refusals.empty());
}

TEST(MusterPolicy, who_is_alone_does_not_wait_for_others_however_old_he_is) {
  Cluster cluster(table_3(), "muster,theta=0,wait_share=1");
  cluster.submit(medium(1));
  cluster.round();
  cluster.round();
  ASSERT_NE(cluster.state().find(TaskId{1})->at, kNoSlot) << "nobody could come beside it";
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(cluster.round().stops.empty());
}

TEST(MusterPolicy, nobody_waits_for_a_better_place_for_ever) {
  Cluster cluster(table_3(), "muster,theta=0,wait_share=1,most_wait_s=1200");
  // It takes an instance whole, so that nothing comes of it for the other one.
  cluster.submit(JobBuilder(2).demand(Resources::of(4, 16, 244)).build());
  cluster.submit(medium(1));
  for (int i = 0; i < 6; ++i) cluster.round();
  EXPECT_NE(cluster.state().find(TaskId{1})->at, kNoSlot);
}

TEST(MusterPolicy, rents_first_what_is_worth_most_for_its_price) {
  Cluster cluster(table_3(), "muster,patient=false,t=0.5");
  for (std::uint64_t id = 1; id <= 6; ++id) cluster.submit(id % 2 == 0 ? large(id) : small(id));
  Job urgent = small(7);
  urgent.priority = 1;
  cluster.submit(urgent);
  const Plan plan = cluster.ask();
  ASSERT_GT(plan.launches.size(), 2u);
  const auto first = std::find_if(plan.places.begin(), plan.places.end(),
                                  [](const Place& place) { return place.task == TaskId{7}; });
  ASSERT_NE(first, plan.places.end());
  EXPECT_EQ(std::get<LaunchIndex>(first->to).value, 0u) << "the highest priority's";
  for (std::size_t i = 2; i < plan.launches.size(); ++i) {
    const auto worth = [&](std::size_t launch) {
      const double price = cluster.price(plan.launches[launch].type).usd_h();
      return (plan.launches[launch].cause.gain_usd_h + price) / price;
    };
    EXPECT_GE(worth(i - 1), worth(i) - 1e-9);
  }
}

/// Two small tasks that share an instance, until the first one ends and small instances are cheap.
void leave_one_of_two(Cluster& cluster, const Job& stays) {
  cluster.reprice("it4", 1.5);
  cluster.submit(small(1));
  cluster.submit(stays);
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it3(1 2)");
  for (int i = 0; i < 5; ++i) cluster.round();
  cluster.finish(1);
  cluster.reprice("it4", 0.4);
  cluster.round();
}

TEST(MusterPolicy, work_that_would_be_lost_keeps_a_task_where_it_is) {
  for (const bool checkpoints : {true, false}) {
    Cluster cluster(table_3(), "muster,patient=false,horizon_s=1000");
    Job job = small(2);
    job.checkpoints = checkpoints;
    leave_one_of_two(cluster, job);
    EXPECT_EQ(cluster.layout(), checkpoints ? "it4(2)" : "it3(2)");
  }
}

TEST(MusterPolicy, who_is_nearly_done_is_not_moved) {
  for (const double runtime_s : {2200.0, 200000.0}) {
    Cluster cluster(table_3(), "muster,patient=false,run_times=hinted,short_runs=0");
    Job job = small(2);
    job.runtime_hint = from_seconds(runtime_s);
    job.tasks[0].delays.fetch = std::chrono::seconds{600};
    leave_one_of_two(cluster, job);
    EXPECT_EQ(cluster.layout(), runtime_s > 10000 ? "it4(2)" : "it3(2)");
  }
}

TEST(MusterPolicy, a_round_looks_no_further_than_it_may) {
  Cluster bounded(table_3(), "muster,steps=1");
  Cluster free(table_3(), "muster,steps=0");
  double steps[2] = {0, 0};
  for (std::uint64_t id = 1; id <= 8; ++id) {
    bounded.submit(small(id));
    free.submit(small(id));
  }
  steps[0] = figure(bounded.ask(), "steps");
  steps[1] = figure(free.ask(), "steps");
  EXPECT_LT(steps[0], steps[1]);
  // A deadline of the master's is asked for more.
  Cluster timed(table_3(), "muster,steps=1");
  for (std::uint64_t id = 1; id <= 8; ++id) timed.submit(small(id));
  timed.allow(1'000'000'000);
  EXPECT_EQ(figure(timed.ask(), "steps"), steps[1]);
}

TEST(MusterPolicy, shares_out_some_tasks_of_instances_with_more_than_it_may_take) {
  Cluster cluster(table_3(), "muster,max_tasks=2,t=0.99");
  for (std::uint64_t id = 1; id <= 5; ++id) cluster.submit(small(id));
  cluster.submit(large(6));
  for (int i = 0; i < 4; ++i) {
    const Plan plan = cluster.round();
    if (plan.note.figures.empty()) continue;  // nothing had changed
    EXPECT_GE(figure(plan, "value_usd_h"), figure(plan, "greedy_usd_h") - 1e-9);
  }
  EXPECT_TRUE(cluster.state().pending().empty());
}

TEST(MusterPolicy, rents_a_large_instance_for_many_that_alone_would_take_small_ones) {
  const Catalog sizes({type_of("two", "cpu", Resources::of(0, 2, 8), 2.2),
                       type_of("eight", "cpu", Resources::of(0, 8, 32), 6)});
  Cluster cluster(sizes, "muster,max_tasks=2,t=1");
  cluster.submit(JobBuilder(1).tasks(8).gang(false).demand(Resources::of(0, 1, 1)).build());
  cluster.round();
  EXPECT_EQ(cluster.layout(), "eight(1 101 102 103 104 105 106 107)");
}

TEST(MusterPolicy, empties_an_instance_whose_tasks_all_find_room_elsewhere) {
  const Catalog sizes({type_of("eight", "cpu", Resources::of(0, 8, 32), 6)});
  Cluster cluster(sizes, "muster,max_tasks=2,t=1");
  for (std::uint64_t id = 1; id <= 24; ++id) {
    cluster.submit(JobBuilder(id).demand(Resources::of(0, 1, 1)).build());
  }
  cluster.round();
  ASSERT_EQ(cluster.state().instances().size(), 3u);
  for (std::uint64_t id = 1; id <= 24; id += 2) cluster.finish(id);
  cluster.round();
  EXPECT_EQ(cluster.state().instances().size(), 2u) << cluster.layout();
}

RC_GTEST_PROP(MusterPolicyProperty, a_layout_is_never_worth_less_than_the_first_places, ()) {
  const auto most = std::to_string(*rc::gen::inRange(2, 7));
  Cluster cluster(table_3(), "muster,horizon_s=2000,max_tasks=" + most);
  std::uint64_t id = 1;
  for (int round = 0; round < 6; ++round) {
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i, ++id) {
      JobBuilder job(id);
      const bool gang = *rc::gen::inRange(0, 3) == 0;
      job.tasks(gang ? 2 : 1).gang(gang).workload_class(id % 2 == 0 ? "a" : "b");
      const int shape = *rc::gen::inRange(0, 3);
      job.demand(shape == 0   ? Resources::of(2, 8, 24)
                 : shape == 1 ? Resources::of(1, 4, 10)
                              : Resources::of(0, 4, 12));
      Job built = job.build();
      built.priority = *rc::gen::inRange(0, 2);
      cluster.submit(built);
    }
    const Plan plan = cluster.round();
    if (plan.note.figures.empty()) continue;
    RC_ASSERT(figure(plan, "value_usd_h") >= figure(plan, "greedy_usd_h") - 1e-6);
    if (round > 1 && cluster.state().find(JobId{std::uint64_t(round)}) != nullptr &&
        cluster.state().find(JobId{std::uint64_t(round)})->pending == 0) {
      cluster.finish(static_cast<std::uint64_t>(round));
    }
  }
}

TEST(MusterPolicy, after_a_refused_group_only_first_places_are_planned) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(large(1));
  cluster.submit(medium(2));
  cluster.round();
  cluster.finish(1);
  const Plan moves = cluster.ask();
  ASSERT_FALSE(moves.places.empty());
  const Refusal refused{RefusalKind::not_now, RefusalCode::group_refused, {}, 0, 0};
  cluster.refuse({TaskId{2}, {}, refused});
  cluster.submit(small(3));
  const Plan careful = cluster.ask();
  for (const Place& place : careful.places) EXPECT_EQ(place.task, TaskId{3});
  EXPECT_TRUE(careful.stops.empty());
  const Plan again = cluster.ask();
  EXPECT_FALSE(again.places.empty()) << "what was refused is tried again";
}

TEST(MusterPolicy, what_is_free_is_taken_and_a_price_of_nothing_is_no_fault) {
  Cluster cluster(table_3(), "muster");
  cluster.reprice("it4", 0);
  for (std::uint64_t id = 1; id <= 3; ++id) cluster.submit(small(id));
  const Plan plan = cluster.round();
  EXPECT_TRUE(cluster.state().pending().empty());
  EXPECT_FALSE(std::isnan(figure(plan, "value_usd_h")));
  for (const Launch& launch : plan.launches) {
    EXPECT_EQ(cluster.catalog()[launch.type].name, "it4");
  }
}

TEST(MusterPolicy, has_no_horizon_in_which_an_instance_hardly_starts) {
  const PolicyModule& module = *find_module("muster").value();
  const auto with = [&](const std::string& text) {
    return module.make_policy(parse_policy(text).value(), table_3()).has_value();
  };
  EXPECT_FALSE(with("muster,horizon_s=60"));
  EXPECT_TRUE(with("muster,horizon_s=300"));
}

TEST(MusterPolicy, strict_stands_for_four_settings) {
  std::vector<std::string> layouts;
  for (const char* policy :
       {"muster,strict", "muster,patient=false,triples=20,max_tasks=9,theta=0.074"}) {
    Cluster cluster(table_3(), policy);
    std::string all;
    for (std::uint64_t id = 1; id <= 9; ++id) {
      cluster.submit(id % 3 == 0 ? large(id) : small(id));
      cluster.round();
      EXPECT_TRUE(cluster.state().pending().empty());
      all += cluster.layout() + "; ";
    }
    layouts.push_back(all);
  }
  EXPECT_EQ(layouts[0], layouts[1]);
}

TEST(MusterPolicy, on_a_fixed_fleet_the_job_with_the_fewest_unstarted_tasks_goes_first) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4");
  cluster.submit(JobBuilder(1).tasks(5).gang(false).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(small(2));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_EQ(plan.places[0].task, TaskId{2});
  EXPECT_TRUE(plan.launches.empty());
}

TEST(MusterPolicy, on_a_fixed_fleet_a_gang_takes_room_for_all_of_it_or_none) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4");
  cluster.submit(JobBuilder(1).tasks(2).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(JobBuilder(5).tasks(3).gang(false).demand(Resources::of(0, 4, 12)).build());
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_NE(plan.places[0].task, TaskId{1});
}

TEST(MusterPolicy, on_a_fixed_fleet_what_a_gang_gives_back_is_there_for_the_next_of_its_shape) {
  Cluster cluster(table_3(), "muster");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(JobBuilder(1).tasks(3).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(JobBuilder(5).tasks(4).gang(false).demand(Resources::of(0, 4, 12)).build());
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 2u);
  EXPECT_NE(plan.places[0].to, plan.places[1].to) << "each instance holds one";
}

TEST(MusterPolicy, another_one_that_was_given_its_memory_decides_as_it_does) {
  Cluster cluster(table_3(), "muster");
  for (std::uint64_t id = 1; id <= 6; ++id) {
    cluster.submit(id % 3 == 0 ? large(id) : small(id));
    cluster.round({{1, 0.8}});
  }
  const std::string memory = cluster.policy().save_state(cluster.state());
  const auto other = find_module("muster").value()->make_policy({"muster", {}}, cluster.catalog());
  ASSERT_TRUE(other.value()->load_state(memory, cluster.view()));
  EXPECT_EQ(other.value()->save_state(cluster.state()), memory);
  EXPECT_FALSE(other.value()->load_state("{\"rates\":[]}", cluster.view()));
  EXPECT_FALSE(other.value()->load_state("something else", cluster.view()));
}

/// The order of the members of each line is on disk: stores that earlier masters wrote have it.
TEST(MusterPolicy, reads_and_writes_its_memory_of_rented_instances_as_it_is_stored) {
  Cluster cluster(table_3(), "muster");
  cluster.submit(JobBuilder(1).workload_class("a").build());
  cluster.submit(JobBuilder(2).workload_class("b").build());
  const std::string text =
      R"({"again":false,"changed":true,"class_times":[["a",7.5,12.0]],"dirty":[3,5],)"
      R"("emptied":[[2,[8,9],[0.25,1.0]]],"empty_since":[],"held_at":7,"news":false,)"
      R"("place_usd_h":1.5,"rates":[["a","b",-0.25]],)"
      R"("refused":false,"run_times":[[10,-3,2.0]],"waits":[[1,5,null,null],[2,0,9,4]],)"
      R"("waits_until":45})";
  own::RentedPolicy policy(cluster.catalog(), own::MusterParams{});
  ASSERT_TRUE(policy.load_state(text, cluster.view()));
  EXPECT_EQ(policy.save_state(cluster.state()), text);
}

TEST(MusterPolicy, reads_the_memory_of_masters_that_knew_nothing_of_empty_instances) {
  Cluster cluster(table_3(), "muster");
  own::RentedPolicy policy(cluster.catalog(), own::MusterParams{});
  EXPECT_TRUE(policy.load_state(
      R"({"changed":true,"dirty":[],"last_round":7,"rates":[],"refused":false,"waits":[]})",
      cluster.view()));
}

/// The only type is twice as large as a task of 1 core and 4 GiB.
Catalog half_used() {
  return Catalog({type_of("large", "m4", Resources::of(0, 2, 8), 0.1)});
}

TEST(MusterPolicy, stops_no_task_for_a_better_time_that_would_lose_all_it_has_run) {
  for (const bool saves : {true, false}) {
    Cluster cluster(half_used(), "muster,free_wait_s=7200");
    for (const std::uint64_t id : {1, 2}) {
      Job job = JobBuilder(id).demand(Resources::of(0, 1, 4)).build();
      job.checkpoints = saves;
      cluster.submit(job);
    }
    // Where there was no other job it would wait for nobody; this one fills its instance.
    cluster.submit(JobBuilder(3).demand(Resources::of(0, 2, 8)).build());
    cluster.round();
    cluster.finish(2);
    std::size_t stops = 0;
    for (int i = 0; i < 60; ++i) stops += cluster.round().stops.size();
    EXPECT_EQ(stops > 0, saves) << "alone on its instance it is worth less than its instance";
  }
}

}  // namespace
}  // namespace muster::testing
