#include "schedulers/eva/eva_policy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/draw.hpp"

namespace muster::eva {
namespace {

using muster::testing::Cluster;
using muster::testing::figure;
using muster::testing::job_of_table_3;
using muster::testing::table_3;
using test::JobBuilder;

Job small(std::uint64_t id, const std::string& cls = "s") {
  return JobBuilder(id).demand(Resources::of(0, 4, 12)).workload_class(cls).build();
}

TEST(Eva, hosts_a_single_task_at_its_reservation_price) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(job_of_table_3(2));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it2(2)");
  EXPECT_EQ(plan.launches[0].cause, (Cause{CauseCode::alone, 0}));
  EXPECT_EQ(plan.note.choice, "partial") << "both layouts are the same";
}

TEST(Eva, rents_at_the_present_prices) {
  Cluster cluster(table_3(), "eva,rp");
  cluster.reprice("it2", 20);
  cluster.submit(job_of_table_3(2));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(2)");
}

TEST(Eva, lays_the_example_of_the_paper_out_as_the_paper_does) {
  Cluster cluster(table_3(), "eva,rp");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it1(1 2 4) it3(3)");
  EXPECT_EQ(plan.launches[0].cause.code, CauseCode::packed);
  EXPECT_NEAR(plan.launches[0].cause.gain_usd_h, 3.4, 1e-9);
}

TEST(Eva, says_why_it_chose_in_figures) {
  Cluster cluster(table_3(), "eva,rp");
  const Delays delays{.fetch = from_seconds(10),
                      .build = from_seconds(20),
                      .init = from_seconds(60),
                      .stop = from_seconds(1),
                      .upload = from_seconds(5)};
  Job job = job_of_table_3(2);
  job.tasks[0].delays = delays;
  cluster.submit(job);
  cluster.let_pass(from_seconds(300));
  const Plan plan = cluster.ask();
  EXPECT_NEAR(figure(plan, "S_F"), 0, 1e-9);
  // 90 s of a $3 task without progress, and an instance of $3 for 10 + 100 s.
  EXPECT_NEAR(figure(plan, "M_P"), 3 * 90 / 3600.0 + 3 * 110 / 3600.0, 1e-9);
  EXPECT_EQ(figure(plan, "M_F"), figure(plan, "M_P"));
  EXPECT_EQ(figure(plan, "p"), 0);
  EXPECT_EQ(figure(plan, "D"), 600) << "since the first event";
}

TEST(Eva, repairs_the_layout_when_it_may_not_look_at_all_of_it) {
  Cluster cluster(table_3(), "eva,rp");
  const auto types = static_cast<std::uint64_t>(table_3().size());
  cluster.allow(4 * types - 1);
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "partial");
  EXPECT_EQ(plan.places.size(), 4U) << "nobody goes without a place for it";
  for (const auto& [name, value] : plan.note.figures) EXPECT_NE(name, "S_F");
  EXPECT_FALSE(cluster.policy().settled(cluster.view())) << "with more to spend it might choose";
  cluster.allow(4 * types);
  EXPECT_NO_THROW(figure(cluster.ask(), "S_F"));
}

TEST(Eva, keeps_everything_when_nothing_changes) {
  Cluster cluster(table_3(), "eva,rp");
  for (std::uint64_t i = 1; i <= 4; ++i) cluster.submit(job_of_table_3(i));
  cluster.round();
  const Plan plan = cluster.ask();
  EXPECT_TRUE(plan.launches.empty() && plan.places.empty() && plan.releases.empty());
  EXPECT_EQ(plan.note.choice, "partial");
}

TEST(Eva, gives_empty_instances_back_even_when_no_job_is_left) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(small(1));
  cluster.round();
  cluster.finish(1);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "");
  EXPECT_EQ(plan.releases.at(0).cause, (Cause{CauseCode::empty, -0.4}));
  EXPECT_EQ(cluster.layout(), "");
}

TEST(Eva, partial_dissolves_an_instance_that_no_longer_pays) {
  Cluster cluster(table_3(), "eva,rp,partial-only");
  cluster.submit(job_of_table_3(1));
  cluster.submit(job_of_table_3(4));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 4)");
  cluster.finish(1);
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(4)") << "$0.4 of work do not pay for $12";
  EXPECT_EQ(plan.places.at(0).cause.code, CauseCode::partial_reconfiguration);
  EXPECT_NEAR(plan.releases.at(0).cause.gain_usd_h, 0.4 - 12, 1e-9);
}

TEST(Eva, partial_leaves_paying_instances_alone_and_full_does_not) {
  for (const std::string choice : {"partial-only", "full-only"}) {
    Cluster cluster(table_3(), "eva,rp," + choice);
    cluster.submit(small(1));
    cluster.round();
    ASSERT_EQ(cluster.layout(), "it4(1)");
    cluster.submit(small(2));
    cluster.round();
    EXPECT_EQ(cluster.layout(), choice == "partial-only" ? "it4(1) it4(2)" : "it3(1 2)");
  }
}

TEST(Eva, partial_uses_room_that_is_paid_for_before_it_rents_more) {
  // Beside a $12 task one of $0.4 is a gain only while they hardly disturb each other.
  for (const bool mild : {true, false}) {
    Cluster cluster(table_3(), mild ? "eva,t=0.99,partial-only" : "eva,t=0.95,partial-only");
    cluster.submit(job_of_table_3(1));
    cluster.round();
    cluster.submit(job_of_table_3(4));
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), mild ? "it1(1 4)" : "it1(1) it4(4)");
    if (mild) {
      EXPECT_EQ(plan.places.at(0).cause.code, CauseCode::packed);
      EXPECT_NEAR(plan.places.at(0).cause.gain_usd_h, 12.4 * 0.99 - 12, 1e-9);
    }
  }
}

TEST(Eva, takes_apart_a_pair_that_turns_out_to_disturb_each_other) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(job_of_table_3(1));
  cluster.submit(job_of_table_3(2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "it1(1 2)") << "$14.25 at the default of 0.95";
  cluster.round({{1, 0.7}, {2, 0.8}});
  EXPECT_EQ(cluster.layout(), "it1(1) it2(2)") << "$10.8 do not pay for $12";
}

TEST(Eva, migrates_only_when_what_is_saved_until_the_next_time_pays_for_it) {
  // Two tasks on it4 each cost as much together as on one it3, but a third one, packed with them
  // on a cheap big instance, saves money.
  const Catalog catalog({muster::testing::type_of("big", "c", Resources::of(0, 12, 48), 0.9),
                         muster::testing::type_of("small", "c", Resources::of(0, 4, 16), 0.4)});
  for (const double upload_s : {1.0, 100000.0}) {
    Cluster cluster(catalog, "eva,rp");
    for (std::uint64_t id : {1, 2, 3}) {
      Job job = small(id);
      job.tasks[0].delays.upload = from_seconds(upload_s);
      cluster.submit(job);
      if (id < 3) cluster.round();
    }
    cluster.let_pass(from_seconds(3600));
    const Plan plan = cluster.round();
    const bool cheap = upload_s == 1;
    EXPECT_EQ(plan.note.choice, cheap ? "full" : "partial");
    EXPECT_EQ(cluster.layout(), cheap ? "big(1 2 3)" : "small(1) small(2) small(3)");
  }
}

TEST(Eva, uses_every_instance_of_a_fixed_fleet_whatever_it_is_worth) {
  // A $0.4 task does not pay for the $12 instance, which is paid for all the same.
  for (const char* policy : {"eva", "eva,full-only", "eva,partial-only", "eva,artifact"}) {
    Cluster cluster(table_3(), policy);
    cluster.add_to_fleet("it1");
    cluster.add_to_fleet("it4");
    for (std::uint64_t id : {1, 2, 3, 4, 5}) cluster.submit(small(id));
    const Plan plan = cluster.round();
    EXPECT_EQ(cluster.layout(), "it1(1 2 3 4) it4(5)") << policy;
    EXPECT_TRUE(plan.launches.empty() && plan.releases.empty()) << policy;
  }
}

TEST(Eva, places_what_fits_on_a_fixed_fleet_however_much_tasks_disturb_each_other) {
  Cluster cluster(table_3(), "eva,t=0.4");
  cluster.add_to_fleet("it3");
  for (std::uint64_t id : {1, 2}) cluster.submit(small(id));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 2)");
  EXPECT_TRUE(cluster.round().releases.empty());
  cluster.finish(1);
  cluster.finish(2);
  EXPECT_TRUE(cluster.round().releases.empty()) << "an empty instance stays too";
}

TEST(Eva, waits_for_nobody_who_is_on_his_way_on_a_fixed_fleet) {
  Cluster cluster(table_3(), "eva");
  cluster.add_to_fleet("it3");
  cluster.submit(JobBuilder(1).tasks(2).gang(false).demand(Resources::of(0, 6, 12)).build());
  cluster.begin(cluster.ask());
  EXPECT_EQ(cluster.layout(), "it3(1)");
  cluster.submit(JobBuilder(2).demand(Resources::of(0, 2, 4)).build());
  cluster.add_to_fleet("it3");
  cluster.begin(cluster.ask());
  EXPECT_EQ(cluster.layout(), "it3(1 2) it3(101)")
      << "beside one, and of the job of one, that starts";
}

TEST(Eva, says_what_a_fixed_fleet_lacks_for_a_task) {
  Cluster cluster(table_3(), "eva");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(small(1));
  cluster.submit(small(2));
  cluster.submit(small(3));
  cluster.submit(JobBuilder(4).demand(Resources::of(0, 6, 12)).build());
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 2u);
  EXPECT_EQ(plan.refusals[0].task, TaskId{3});
  EXPECT_EQ(plan.refusals[0].refusal,
            (Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity, Resource::cpu, 4, 0}));
  EXPECT_EQ(plan.refusals[1].task, TaskId{4});
  EXPECT_EQ(plan.refusals[1].refusal,
            (Refusal{RefusalKind::not_now, RefusalCode::fixed_fleet, Resource::cpu, 6, 4}));
  EXPECT_TRUE(cluster.ask().refusals.empty()) << "it is told once";
}

TEST(Eva, a_gang_that_does_not_fit_on_a_fixed_fleet_takes_no_room_from_others) {
  Cluster cluster(table_3(), "eva");
  cluster.add_to_fleet("it4", 2);
  cluster.submit(JobBuilder(1).tasks(3).gang(true).demand(Resources::of(0, 4, 12)).build());
  cluster.submit(small(2));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "it4(2) it4()");
  ASSERT_EQ(plan.refusals.size(), 3u);
  for (const Refuse& part : plan.refusals) {
    EXPECT_EQ(part.refusal, (Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity,
                                     Resource::cpu, 12, 4}));
  }
}

TEST(Eva, of_two_gangs_that_would_rather_mix_on_a_fixed_fleet_the_first_has_its_places_whole) {
  const auto pair = [](std::uint64_t id, const std::string& cls) {
    return JobBuilder(id).workload_class(cls).demand(Resources::of(0, 4, 12)).build();
  };
  Cluster cluster(table_3(), "eva");
  cluster.add_to_fleet("it3");
  std::uint64_t id = 11;
  for (const auto& [one, other, rate] :
       {std::tuple{"a", "a", 0.5}, std::tuple{"b", "b", 0.5}, std::tuple{"a", "b", 1.0}}) {
    cluster.submit(pair(id, one));
    cluster.submit(pair(id + 1, other));
    cluster.round();
    cluster.round({{id, rate}, {id + 1, rate}});
    cluster.finish(id);
    cluster.finish(id + 1);
    id += 2;
  }
  cluster.add_to_fleet("it3");
  const auto gang = [](std::uint64_t number, const std::string& cls) {
    return JobBuilder(number)
        .tasks(3)
        .gang(true)
        .workload_class(cls)
        .demand(Resources::of(0, 4, 12))
        .build();
  };
  cluster.submit(gang(1, "a"));
  cluster.submit(gang(2, "b"));
  cluster.round();
  EXPECT_EQ(cluster.layout(), "it3(1 102) it3(101)");
}

TEST(Eva, counts_how_often_full_was_chosen) {
  const Catalog catalog({muster::testing::type_of("big", "c", Resources::of(0, 8, 32), 0.5),
                         muster::testing::type_of("small", "c", Resources::of(0, 4, 16), 0.4)});
  Cluster cluster(catalog, "eva,rp");
  cluster.submit(small(1));
  cluster.round();
  cluster.let_pass(from_seconds(36000));
  cluster.submit(small(2));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.note.choice, "full");
  const Plan next = cluster.ask();
  EXPECT_EQ(figure(next, "p"), 0.5) << "one of two events";
  EXPECT_DOUBLE_EQ(figure(next, "lambda"), 1 / 36300.0);
  EXPECT_DOUBLE_EQ(figure(next, "D"), 36300 / std::log(2.0));
}

TEST(Eva, leaves_instances_alone_that_a_task_is_on_its_way_to) {
  Cluster cluster(table_3(), "eva,rp,full-only");
  cluster.submit(small(1));
  cluster.begin(cluster.ask());
  cluster.submit(small(2));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_EQ(plan.places[0].task, TaskId{2});
  EXPECT_EQ(plan.launches.size(), 1u) << "next to the task on its way, not with it";
  EXPECT_TRUE(plan.releases.empty());
}

TEST(Eva, gives_tasks_of_an_array_the_room_of_others_while_some_are_on_their_way) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(JobBuilder(1)
                     .tasks(4)
                     .demand(Resources::of(0, 4, 12))
                     .workload_class("s")
                     .gang(false)
                     .build());
  const auto only = [](Plan plan, std::uint64_t task) {
    std::erase_if(plan.places, [&](const Place& place) { return place.task != TaskId{task}; });
    const auto on = std::get<LaunchIndex>(plan.places[0].to).value;
    plan.launches = {plan.launches[on]};
    plan.places[0].to = LaunchIndex{0};
    return plan;
  };
  cluster.apply_plan(only(cluster.ask(), 1));
  cluster.begin(only(cluster.ask(), 101));
  cluster.finish_task(1);
  const Plan plan = cluster.ask();
  EXPECT_EQ(plan.places.size(), 2u) << "all that wait";
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_TRUE(plan.releases.empty()) << "what has come free is used again";
}

TEST(Eva, keeps_an_instance_that_does_not_pay_while_a_task_is_on_its_way_to_it) {
  Cluster cluster(table_3(), "eva,rp");
  cluster.submit(job_of_table_3(1));
  cluster.submit(job_of_table_3(4));
  Plan both = cluster.ask();
  ASSERT_EQ(both.places.size(), 2u);
  both.places.erase(both.places.begin());  // the master could not place the $12 task
  cluster.begin(both);
  const Plan plan = cluster.ask();
  EXPECT_TRUE(plan.releases.empty());
  ASSERT_EQ(plan.places.size(), 1u);
  EXPECT_EQ(plan.places[0].task, TaskId{1});
}

TEST(Eva, uses_an_empty_instance_of_the_right_type_again) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(small(1));
  cluster.round();
  cluster.finish(1);
  cluster.submit(small(2));
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
  EXPECT_EQ(cluster.layout(), "it4(2)");
}

TEST(Eva, never_uses_an_instance_that_was_given_back) {
  Cluster cluster(table_3(), "eva");
  cluster.submit(small(1));
  cluster.round();
  cluster.finish(1);
  cluster.begin(cluster.ask());
  cluster.submit(small(2));
  const Plan plan = cluster.ask();
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_TRUE(plan.releases.empty()) << "it is given back already";
}

TEST(Eva, charges_the_move_of_one_task_to_all_of_its_job) {
  Cluster cluster(table_3(), "eva,partial-only");
  Job job = JobBuilder(1).tasks(2).demand(Resources::of(0, 4, 12)).workload_class("g").build();
  job.tasks[1].delays.init = from_seconds(90);
  cluster.submit(job);
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_NEAR(figure(plan, "M_P"), 0.8 * 90 / 3600 + 2 * 0.4 * 110 / 3600, 1e-12);
}

TEST(Eva, charges_a_running_task_for_its_stop_and_upload_too) {
  Cluster cluster(table_3(), "eva,rp,full-only");
  for (std::uint64_t id : {1, 2}) {
    Job job = small(id);
    job.tasks[0].delays.stop = from_seconds(30);
    job.tasks[0].delays.upload = from_seconds(60);
    cluster.submit(job);
    if (id == 1) cluster.round();
  }
  const Plan plan = cluster.round();
  ASSERT_EQ(cluster.layout(), "it3(1 2)");
  EXPECT_NEAR(figure(plan, "M_F"), 0.4 * 90 / 3600 + 0.8 * 110 / 3600, 1e-12)
      << "the new task has nothing to stop";
}

TEST(Eva, refuses_all_of_a_job_when_one_of_its_tasks_fits_nowhere) {
  Cluster cluster(table_3(), "eva");
  Job job = JobBuilder(1).tasks(2).build();
  job.tasks[1].demands = Demands(Resources::of(0, 17, 1));
  cluster.submit(job);
  cluster.submit(small(5));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 2u);
  for (const Refuse& refuse : plan.refusals) {
    EXPECT_EQ(refuse.refusal.kind, RefusalKind::never);
    EXPECT_EQ(refuse.refusal.binding, Resource::cpu);
  }
  EXPECT_EQ(cluster.layout(), "it4(5)");
}

TEST(Eva, keeps_the_tasks_of_a_job_apart_from_others_unless_single) {
  // Beside a $12 task a task of $3 loses 0.15: of its own worth, or of that of all four.
  for (const bool single : {false, true}) {
    Cluster cluster(table_3(), single ? "eva,t=0.85,single" : "eva,t=0.85");
    cluster.submit(job_of_table_3(1));
    cluster.submit(
        JobBuilder(2).tasks(4).demand(Resources::of(1, 4, 10)).workload_class("g").build());
    cluster.round();
    EXPECT_EQ(cluster.layout(), single ? "it1(1 2 201) it2(202) it2(203)"
                                       : "it1(1) it2(2) it2(201) it2(202) it2(203)");
  }
}

// --- any history: what is planned is sound ---

struct Invariants {
  const Cluster& cluster;

  void hold() const {
    const ClusterState& state = cluster.state();
    RC_ASSERT(state.inconsistencies().empty());
    for (const InstanceRow& row : state.instances()) {
      RC_ASSERT(row.committed.fits_in(cluster.catalog()[row.type].capacity));
      RC_ASSERT(!row.planned.empty());
    }
    for (const JobRow& job : state.jobs()) {
      for (Slot slot : job.tasks) RC_ASSERT(state.task(slot).phase == TaskPhase::running);
    }
  }
};

RC_GTEST_PROP(Eva, places_every_task_within_capacity_whatever_happens, ()) {
  const std::vector<std::string> variants = {"eva",
                                             "eva,artifact",
                                             "eva,full-only",
                                             "eva,partial-only",
                                             "eva,rp",
                                             "eva,single",
                                             "eva,artifact,full-only",
                                             "eva,artifact,partial-only",
                                             "eva,artifact,single",
                                             "eva,t=0.7"};
  Cluster cluster(table_3(), *rc::gen::elementOf(variants));
  std::set<std::uint64_t> jobs;
  std::uint64_t next = 1;
  for (int i = muster::testing::draw(1, 25); i > 0; --i) {
    if (!jobs.empty() && muster::testing::draw(0, 2) == 0) {
      const auto gone = std::next(
          jobs.begin(),
          static_cast<std::ptrdiff_t>(muster::testing::draw<std::size_t>(0, jobs.size())));
      cluster.finish(*gone);
      jobs.erase(gone);
    }
    for (int n = muster::testing::draw(0, 3); n > 0; --n) {
      const std::uint64_t number = muster::testing::draw<std::uint64_t>(0, 4);
      Job job = JobBuilder(next)
                    .tasks(muster::testing::draw<std::size_t>(1, 4))
                    .demands(muster::testing::tasks_of_table_3()[number])
                    .workload_class("c" + std::to_string(number))
                    .build();
      cluster.submit(job);
      jobs.insert(next++);
    }
    std::map<std::uint64_t, double> throughput;
    for (std::uint64_t job : jobs) throughput[job] = muster::testing::draw(5, 11) / 10.0;
    const Plan plan = cluster.round(throughput);
    std::set<TaskId> placed;
    for (const Place& place : plan.places) RC_ASSERT(placed.insert(place.task).second);
    Invariants{cluster}.hold();
  }
}

}  // namespace
}  // namespace muster::eva
