#include "schedulers/stratus/stratus_policy.hpp"

#include <gtest/gtest.h>

#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster {
namespace {

using testing::Cluster;
using testing::figure;
using testing::job_of;
using testing::m4;

/// Run times are what users say, and each round of Cluster (5 minutes) is a scheduling event.
constexpr const char* kStratus = "stratus,run_times=hinted,period_s=300";
constexpr double kHour_s = 3600;

std::string with(const std::string& params) {
  return std::string(kStratus) + "," + params;
}

TEST(Stratus, buys_an_instance_for_tasks_that_end_together) {
  Cluster cluster(m4(), kStratus);
  cluster.submit(job_of(1, kHour_s, 2, 8));
  cluster.submit(job_of(2, 1.1 * kHour_s, 2, 8));
  cluster.submit(job_of(3, 20 * kHour_s, 2, 8));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "large(3) xlarge(1 2)") << "the greatest bin first";
  EXPECT_EQ(plan.launches[0].cause.code, CauseCode::alone);
  EXPECT_EQ(plan.launches[1].cause.code, CauseCode::packed);
  EXPECT_EQ(plan.note.choice, "event");
}

TEST(Stratus, puts_tasks_on_running_instances_of_their_own_bin_first) {
  Cluster cluster(m4(), with("clearing=false"));
  cluster.submit(job_of(1, kHour_s, 3, 2));
  cluster.submit(job_of(2, 20 * kHour_s, 3, 2));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "xlarge(2) xlarge(1)");
  cluster.submit(job_of(3, kHour_s, 1, 2));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "xlarge(2) xlarge(1 3)");
  EXPECT_EQ(plan.places[0].cause.code, CauseCode::packed);
  EXPECT_DOUBLE_EQ(plan.places[0].cause.gain_usd_h, 0.1) << "an instance of its own";
  cluster.submit(job_of(4, kHour_s, 1, 2));
  EXPECT_EQ(figure(cluster.round(), "up"), 1);
  EXPECT_EQ(cluster.layout(), "xlarge(2 4) xlarge(1 3)");
}

TEST(Stratus, keeps_tasks_apart_that_want_distinct_instances_and_fills_up_with_others) {
  Cluster cluster(m4(), with("clearing=false"));
  Job apart = job_of(1, kHour_s, 1, 4, 2);
  apart.most_an_instance = 1;
  cluster.submit(apart);
  cluster.submit(job_of(5, kHour_s, 1, 4, 2));
  EXPECT_EQ(cluster.round().launches.size(), 2U);
  const std::string layout = cluster.layout();
  EXPECT_EQ(std::count(layout.begin(), layout.end(), '('), 2) << layout;
  // A new task of the same kind, in whose bin both instances are, has no room beside its peers.
  Job third = job_of(9, kHour_s, 1, 2, 3);
  third.most_an_instance = 1;
  cluster.finish_task(apart.tasks[0].id.value);
  cluster.submit(third);
  cluster.round();
  std::map<Slot, int> on;
  for (Slot slot : cluster.state().find(JobId{9})->tasks) ++on[cluster.state().task(slot).target];
  EXPECT_EQ(on.size(), 3U) << cluster.layout();
}

TEST(Stratus, refuses_for_ever_what_it_is_told_not_to_pack_where_nothing_is_rented) {
  Cluster cluster(m4(), with("packing=none"));
  cluster.add_to_fleet("4xlarge", 2);
  cluster.submit(job_of(1, kHour_s, 1, 2, 2));
  const Plan plan = cluster.ask();
  ASSERT_EQ(plan.refusals.size(), 2U);
  const Refusal nothing_rented{RefusalKind::never, RefusalCode::fixed_fleet, {}, 1, 0};
  EXPECT_EQ(plan.refusals[0].refusal, nothing_rented);
}

TEST(Stratus, keeps_peers_apart_when_it_clears_one_instance_of_a_job_after_the_other) {
  Cluster cluster(m4(), with("packing=bins"));
  Job apart = job_of(1, kHour_s, 1, 2, 6);
  apart.most_an_instance = 1;
  cluster.submit(apart);
  cluster.submit(job_of(20, kHour_s, 3, 12, 6));
  for (int round = 0; round < 8; ++round) {
    cluster.round();
    std::map<Slot, int> on;
    for (Slot slot : cluster.state().find(JobId{1})->tasks) {
      const TaskRow& task = cluster.state().task(slot);
      if (task.target == kNoSlot) continue;
      EXPECT_EQ(++on[task.target], 1) << cluster.layout();
    }
    EXPECT_EQ(on.size(), 6U);
    if (round == 1) cluster.finish(20);
  }
}

TEST(Stratus, takes_a_task_that_outlives_its_estimate_to_have_run_for_half_its_time) {
  using namespace std::chrono_literals;
  const RunTimeRules rules;
  EXPECT_EQ(expected_left(100s, 40s, rules), 60s);
  EXPECT_EQ(expected_left(100s, 100s, rules), 100s);
  EXPECT_EQ(expected_left(100s, 150s, rules), 50s);
  EXPECT_EQ(expected_left(100s, 200s, rules), 200s);
  EXPECT_EQ(expected_left(100s, 150s, {.readjust = false}), 0s);
}

TEST(Stratus, believes_whom_it_is_told_to) {
  using namespace std::chrono_literals;
  Job job = job_of(1, 100, 1, 1);
  TaskSpec& task = job.tasks.front();
  job.prediction.runtime = 50s;
  EXPECT_EQ(expected_run(job, task, {}), 50s);
  EXPECT_EQ(expected_run(job, task, {.source = RunTimeSource::hinted}), 100s);
  EXPECT_EQ(expected_run(job, task, {.source = RunTimeSource::unknown, .otherwise = 7s}), 7s);
  task.runtime_hint = 70s;
  EXPECT_EQ(expected_run(job, task, {.source = RunTimeSource::hinted}), 70s);
  EXPECT_EQ(expected_run(job, task, {}), 50s);
  task.runtime_hint = job.runtime_hint = 0s;
  EXPECT_GT(expected_run(job, task, {.source = RunTimeSource::hinted}), 0s);
}

TEST(Stratus, gives_an_empty_instance_back_between_scheduling_events) {
  for (const bool at_once : {true, false}) {
    Cluster cluster(m4(),
                    at_once ? "stratus,period_s=3600" : "stratus,period_s=3600,at_once=false");
    EXPECT_EQ(cluster.policy().cadence().on_capacity, at_once);
    cluster.submit(job_of(1, 60, 2, 8));
    cluster.round();
    cluster.finish(1);
    cluster.submit(job_of(2, 60, 2, 8));
    const Plan plan = cluster.round();
    EXPECT_TRUE(plan.places.empty()) << "the next event is an hour after the first";
    EXPECT_TRUE(plan.note.choice.empty());
    EXPECT_EQ(plan.releases.size(), 1u);
    cluster.let_pass(std::chrono::hours{1});
    cluster.round();
    EXPECT_EQ(cluster.layout(), "large(2)");
  }
}

TEST(Stratus, follows_the_prices_of_the_markets_that_jobs_allow) {
  Cluster cluster(m4(true), kStratus);
  Job dear = job_of(1, kHour_s, 2, 8);
  dear.markets = MarketChoice::on_demand;
  cluster.submit(dear);
  cluster.submit(job_of(2, kHour_s, 2, 8));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].market, Market::spot);
  EXPECT_EQ(plan.launches[1].market, Market::on_demand);
  cluster.reprice("large", 5, Market::spot);
  cluster.reprice("large", 0.01);
  cluster.submit(job_of(3, kHour_s, 2, 8));
  EXPECT_EQ(cluster.round().launches[0].market, Market::on_demand);
}

/// Two instances of 4 cores, each with one long task of one core and nothing else.
struct Underused {
  explicit Underused(const std::string& policy, Catalog catalog = m4())
      : cluster(std::move(catalog), policy) {
    for (std::uint64_t i : {1, 2}) {
      cluster.submit(job_of(i, long_s, 1, 1));
      cluster.submit(job_of(10 + i, long_s, 3, 1));
      cluster.round();
    }
    for (std::uint64_t i : {11, 12}) cluster.finish(i);
  }
  double long_s = 100 * kHour_s;
  Cluster cluster;
};

TEST(Clearing, waits_for_more_than_three_events_without_a_break) {
  Underused u(kStratus);
  ASSERT_EQ(u.cluster.layout(), "xlarge(1) xlarge(2)");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(u.cluster.round().releases.empty()) << i;
    EXPECT_FALSE(u.cluster.policy().settled(u.cluster.view())) << i;
  }
  const Plan plan = u.cluster.round();
  EXPECT_EQ(u.cluster.layout(), "xlarge(1 2)");
  EXPECT_EQ(figure(plan, "cleared"), 1);
  EXPECT_EQ(figure(plan, "moved"), 1);
  ASSERT_EQ(plan.releases.size(), 1u);
  EXPECT_NE(plan.releases[0].group, 0u);
  EXPECT_EQ(plan.places[0].group, plan.releases[0].group) << "all or none";
}

TEST(Clearing, counts_anew_after_an_event_at_which_the_instance_was_used) {
  Underused u(kStratus);
  for (int i = 0; i < 3; ++i) u.cluster.round();
  u.cluster.submit(job_of(3, u.long_s, 3, 1));
  u.cluster.submit(job_of(4, u.long_s, 3, 1));
  u.cluster.round();
  ASSERT_EQ(u.cluster.layout(), "xlarge(1 4) xlarge(2 3)");
  u.cluster.finish(3);
  u.cluster.finish(4);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(u.cluster.round().releases.empty());
  EXPECT_FALSE(u.cluster.round().releases.empty());
}

TEST(Clearing, is_of_what_is_used_less_than_half_in_every_dimension) {
  const auto layout_under = [](const std::string& policy) {
    Cluster cluster(m4(), policy);
    for (std::uint64_t i : {1, 2}) {
      cluster.submit(job_of(i, 100 * kHour_s, 1, 8));
      cluster.submit(job_of(10 + i, 100 * kHour_s, 3, 8));
      cluster.round();
    }
    for (std::uint64_t i : {11, 12}) cluster.finish(i);
    for (int i = 0; i < 6; ++i) cluster.round();
    return cluster.layout();
  };
  EXPECT_EQ(layout_under(kStratus), "xlarge(1) xlarge(2)") << "half of the memory is in use";
  EXPECT_EQ(layout_under(with("clear_below=0.51")), "xlarge(1 2)");
  EXPECT_EQ(layout_under(with("clear_below=0.51,clearing=false")), "xlarge(1) xlarge(2)");
}

TEST(Clearing, moves_all_tasks_or_none) {
  for (const double others : {6, 7}) {
    Cluster cluster(m4(), kStratus);
    cluster.submit(job_of(1, 100 * kHour_s, 1, 1));
    cluster.submit(job_of(2, 100 * kHour_s, 1, 1));
    cluster.submit(job_of(3, 100 * kHour_s, 6, 1));
    cluster.round();
    cluster.submit(job_of(4, 100 * kHour_s, others, 1));
    cluster.round();
    ASSERT_EQ(cluster.layout(), "2xlarge(1 2 3) 2xlarge(4)");
    cluster.finish(3);
    for (const char* smaller : {"large", "xlarge"}) cluster.reprice(smaller, 5);
    for (int i = 0; i < 6; ++i) cluster.round();
    EXPECT_EQ(cluster.layout(), others == 6 ? "2xlarge(1 2 4)" : "2xlarge(1 2) 2xlarge(4)");
  }
}

TEST(Clearing, buys_a_cheaper_instance_for_all_where_nothing_that_runs_has_room) {
  Cluster cluster(m4(), kStratus);
  cluster.submit(job_of(1, 100 * kHour_s, 1, 1));
  cluster.submit(job_of(2, 100 * kHour_s, 3, 1));
  cluster.round();
  cluster.finish(2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cluster.round().launches.empty());
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "large(1)");
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_DOUBLE_EQ(plan.launches[0].cause.gain_usd_h, 0.1);
  EXPECT_EQ(plan.launches[0].group, plan.releases.at(0).group);
  EXPECT_EQ(plan.places.at(0).group, plan.releases[0].group);
  EXPECT_TRUE(cluster.round().launches.empty()) << "half of a smaller one is in use";
}

/// Runs the task of 1 GiB until 300 s x 5 after its start, when its instance may first be cleared.
Plan plan_with_left(double left_s, bool onto_running) {
  Cluster cluster(m4(), with("readjust=false"));
  cluster.submit(job_of(1, 1500 + left_s, 1, 1));
  cluster.submit(job_of(2, 1500 + left_s, 3, 1));
  cluster.round();
  // An instance of its own, which is used too much to be cleared.
  if (onto_running) cluster.submit(job_of(3, 100 * kHour_s, 3, 1));
  cluster.round();
  cluster.finish(2);
  for (int i = 0; i < 3; ++i) cluster.round();
  return cluster.round();
}

// T_mig of 1 GiB over 160 Mbit/s is 53.7 s; these instances take 180 s to be ready.
TEST(Clearing, pays_only_for_tasks_that_last_longer_than_their_move) {
  EXPECT_TRUE(plan_with_left(53, true).releases.empty());
  EXPECT_EQ(plan_with_left(54, true).releases.size(), 1u);
  EXPECT_TRUE(plan_with_left(233, false).releases.empty());
  EXPECT_EQ(plan_with_left(234, false).releases.size(), 1u);
}

TEST(Clearing, begins_with_the_instance_whose_used_resources_cost_most) {
  Cluster cluster(m4(), kStratus);
  cluster.submit(job_of(1, 100 * kHour_s, 1.5, 1));
  cluster.submit(job_of(2, 100 * kHour_s, 2.5, 1));
  cluster.round();
  cluster.submit(job_of(3, 100 * kHour_s, 0.5, 1));
  cluster.submit(job_of(4, 100 * kHour_s, 3.5, 1));
  cluster.round();
  ASSERT_EQ(cluster.layout(), "xlarge(1 2) xlarge(3 4)");
  cluster.finish(2);
  cluster.finish(4);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.round().places.at(0).task, TaskId{3});
  EXPECT_EQ(cluster.layout(), "xlarge(1 3)");
}

TEST(Clearing, leaves_gangs_and_what_may_not_or_cannot_be_moved_where_they_are) {
  for (const std::string why : {"gang", "not movable", "no checkpoints", "movable"}) {
    Cluster cluster(m4(), kStratus);
    Job job = job_of(1, 100 * kHour_s, 0.5, 1, why == "gang" ? 2 : 1);
    job.gang = why == "gang";
    job.movable = why != "not movable";
    job.checkpoints = why != "no checkpoints";
    cluster.submit(job);
    cluster.submit(job_of(2, 100 * kHour_s, 3, 1));
    cluster.round();
    cluster.finish(2);
    for (int i = 0; i < 6; ++i) cluster.round();
    EXPECT_EQ(cluster.layout() == "large(1)", why == "movable") << why << cluster.layout();
  }
}

TEST(Clearing, is_over_when_nothing_can_be_cleared_that_time_would_change) {
  Cluster cluster(m4(), kStratus);
  cluster.submit(job_of(1, 100 * kHour_s, 0.1, 1));
  for (int i = 0; i < 6; ++i) cluster.round();
  ASSERT_EQ(cluster.layout(), "large(1)") << "the smallest there is";
  EXPECT_TRUE(cluster.policy().settled(cluster.view()));
}

TEST(Stratus, places_gangs_of_a_fixed_fleet_whole_and_gives_nothing_back) {
  Cluster cluster(m4(), kStratus);
  cluster.add_to_fleet("xlarge", 2);
  Job gang = job_of(1, kHour_s, 4, 4, 3);
  gang.gang = true;
  cluster.submit(gang);
  cluster.submit(job_of(2, kHour_s, 2, 2));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "xlarge(2) xlarge()");
  EXPECT_TRUE(plan.launches.empty() && plan.releases.empty());
}

TEST(Stratus, remembers_what_was_used_little_over_a_restart) {
  Underused u(kStratus);
  for (int i = 0; i < 3; ++i) u.cluster.round();
  const std::string words = u.cluster.policy().save_state(u.cluster.state());
  const auto twin = make_policy(parse_policy(kStratus).value(), u.cluster.catalog()).value();
  ASSERT_TRUE(twin->load_state(words, u.cluster.view()));
  EXPECT_EQ(twin->save_state(u.cluster.state()), words);
  u.cluster.let_pass(std::chrono::seconds{300});
  Rng rng(1);
  Budget budget;
  EXPECT_EQ(twin->decide(u.cluster.view(), rng, budget).releases.size(), 1u);
  for (const char* damaged : {"x", "[]", R"({"low":[[1]]})", R"({"low":[["a",1]]})"}) {
    EXPECT_FALSE(twin->load_state(damaged, u.cluster.view())) << damaged;
  }
}

}  // namespace
}  // namespace muster
