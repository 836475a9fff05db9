#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "schedulers/muster/run_times.hpp"
#include "tests/schedulers/cluster.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster::testing {
namespace {

using own::Cases;
using own::RunTimeOutlook;
using own::RunTimeRecord;

/// Rounds of Cluster are 300 s apart; an instance takes 180 s to start.
constexpr const char* kTimed = "muster,run_times=hinted,short_runs=40,t=1";
constexpr double kHour_s = 3600;

/// So many jobs that were said to run for 1000 s have run for that time's ratio.
RunTimeRecord record_of(std::map<int, double> jobs_by_octave) {
  std::map<RunTimeRecord::Key, double> counts;
  for (const auto& [octave, jobs] : jobs_by_octave) counts[{9, octave * 16}] = jobs;
  RunTimeRecord record;
  record.restore(std::move(counts));
  return record;
}

Cases left_of(const RunTimeRecord& record, std::uint64_t job, double said_s, double ran_s) {
  return RunTimeOutlook(record).left(JobId{job}, from_seconds(said_s), from_seconds(ran_s));
}

TEST(RunTimeOutlook, believes_what_has_always_been_right) {
  const RunTimeRecord record = record_of({{0, 1000}});
  for (const float left : left_of(record, 1, 1000, 0)) EXPECT_NEAR(left, 1000, 1);
  for (const float left : left_of(record, 1, 1000, 400)) EXPECT_NEAR(left, 600, 1);
}

TEST(RunTimeOutlook, knows_how_often_it_takes_twice_as_long) {
  const Cases left = left_of(record_of({{0, 500}, {1, 500}}), 1, 1000, 0);
  const auto twice = std::count_if(left.begin(), left.end(), [](float s) { return s > 1500; });
  EXPECT_EQ(twice, 16) << "half of 32 cases";
  for (const float s : left_of(record_of({{0, 500}, {1, 500}}), 1, 1000, 1001)) {
    EXPECT_NEAR(s, 999, 1) << "what would be over has not come about";
  }
}

TEST(RunTimeOutlook, expects_as_long_again_of_whom_outlives_all) {
  const Cases left = left_of(record_of({{0, 1000}}), 1, 1000, 20000);
  EXPECT_LE(*std::max_element(left.begin(), left.end()), 20000);
  EXPECT_GE(own::mean(left), 5000);
}

TEST(RunTimeOutlook, has_all_tasks_of_a_job_err_alike_and_mixes_jobs) {
  const RunTimeRecord record = record_of({{-1, 300}, {0, 400}, {1, 300}});
  EXPECT_EQ(left_of(record, 1, 1000, 0), left_of(record, 1, 1000, 0));
  Cases one = left_of(record, 1, 1000, 0), other = left_of(record, 2, 1000, 0);
  EXPECT_NE(one, other);
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  EXPECT_EQ(one, other) << "the same cases in another order";
}

RC_GTEST_PROP(RunTimeOutlook, leaves_something_of_every_task_that_runs, ()) {
  const auto draw = [](int most) { return *rc::gen::inRange(1, most); };
  const RunTimeRecord record = record_of({{draw(9) - 5, draw(50) / 10.0}, {0, 1}});
  const double said_s = draw(100'000), ran_s = draw(200'000) - 1;
  const Cases left = left_of(record, 3, said_s, ran_s);
  for (const float s : left) RC_ASSERT(s >= 1 && s <= std::max(8 * said_s, 2 * ran_s) + 1);
}

TEST(TimedTasks, that_end_together_are_put_together) {
  Cluster cluster(m4(), kTimed);
  cluster.submit(job_of(1, 1000, 2, 8, 2));
  cluster.submit(job_of(3, 4000, 2, 8, 2));
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "xlarge(3 301) xlarge(1 101)") << "not all four on one 2xlarge";
  EXPECT_EQ(plan.note.choice, "timed tasks");
  EXPECT_EQ(plan.launches[0].cause.code, CauseCode::packed);
}

TEST(TimedTasks, join_an_instance_that_outlasts_them_without_a_new_one) {
  Cluster cluster(m4(), kTimed);
  cluster.submit(job_of(1, 4000, 3, 2));
  cluster.submit(job_of(2, 3000, 3, 14));
  cluster.round();
  cluster.submit(job_of(3, 1000, 1, 2));
  const Plan plan = cluster.round();
  EXPECT_TRUE(plan.launches.empty());
  ASSERT_EQ(plan.places.size(), 1U);
  EXPECT_EQ(plan.places[0].cause.code, CauseCode::packed);
  EXPECT_EQ(figure(plan, "timed_packed"), 1);
}

TEST(TimedTasks, do_not_share_instances_with_longer_ones_or_gangs) {
  Cluster cluster(m4(), kTimed);
  cluster.submit(job_of(1, 1000, 16, 64));
  cluster.submit(job_of(2, 100 * kHour_s, 16, 64));
  Job gang = job_of(3, 1000, 1, 4, 2);
  gang.gang = true;
  cluster.submit(gang);
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "repartition");
  for (const InstanceRow& row : cluster.state().instances()) {
    const auto is_first = [&](Slot slot) { return cluster.state().task(slot).id == TaskId{1}; };
    if (!std::any_of(row.planned.begin(), row.planned.end(), is_first)) continue;
    EXPECT_EQ(row.planned.size(), 1U) << cluster.layout();
  }
  EXPECT_EQ(plan.places.size(), 4U);
}

TEST(TimedTasks, are_small_ones_too_however_long_they_run) {
  for (const double cpu : {7.0, 8.0}) {
    Cluster cluster(m4(), kTimed);
    cluster.submit(job_of(1, 100 * kHour_s, cpu, 4));
    EXPECT_EQ(cluster.round().note.choice, cpu < 8 ? "timed tasks" : "repartition")
        << "nine of 7 CPUs fit 64";
  }
}

TEST(TimedTasks, are_none_without_run_times_or_where_the_limit_is_0) {
  for (const char* policy :
       {"muster", "muster,run_times=unknown", "muster,run_times=hinted,short_runs=0"}) {
    Cluster cluster(m4(), policy);
    cluster.submit(job_of(1, 1000, 2, 8));
    EXPECT_EQ(cluster.round().note.choice, "repartition") << policy;
  }
}

/// Jobs of a class run for that long each, one after the other.
void run_some(Cluster& cluster, std::uint64_t first, int jobs, double seconds) {
  for (std::uint64_t id = first; id < first + static_cast<std::uint64_t>(jobs); ++id) {
    cluster.submit(job_of(id, {}, 2, 8));
    cluster.round();
    cluster.let_pass(from_seconds(seconds));
    cluster.finish(id);
  }
}

TEST(TimedTasks, are_those_whose_class_has_run_for_a_short_time) {
  Cluster cluster(m4(), "muster");
  run_some(cluster, 1, 4, 30);
  cluster.submit(job_of(5, {}, 2, 8));
  EXPECT_EQ(cluster.round().note.choice, "repartition") << "four jobs do not tell";
  cluster.finish(5);
  run_some(cluster, 6, 2, 30);
  cluster.submit(job_of(8, {}, 2, 8));
  EXPECT_EQ(cluster.round().note.choice, "timed tasks");
}

TEST(TimedTasks, are_not_those_whose_class_runs_for_long) {
  for (const char* policy : {"muster", "muster,learnt_runs=0"}) {
    Cluster cluster(m4(), policy);
    run_some(cluster, 1, 8, std::string(policy) == "muster" ? 5000 : 30);
    cluster.submit(job_of(9, {}, 2, 8));
    EXPECT_EQ(cluster.round().note.choice, "repartition") << policy;
  }
}

TEST(TimedTasks, share_no_instance_where_that_slows_them_for_nothing) {
  for (const char* t : {"1", "0.95"}) {
    Cluster cluster(m4(), "muster,run_times=hinted,short_runs=40,t=" + std::string(t));
    cluster.submit(job_of(1, 1000, 2, 8, 2));
    cluster.round();
    EXPECT_EQ(cluster.layout(), t[0] == '1' ? "xlarge(1 101)" : "large(1) large(101)");
  }
}

TEST(ClassTimes, are_means_in_which_each_job_counts_as_one) {
  Cluster cluster(m4(), "muster");
  run_some(cluster, 1, 5, 30);
  run_some(cluster, 6, 5, 60);
  const std::string memory = cluster.policy().save_state(cluster.state());
  EXPECT_NE(memory.find(R"(\"class_times\":[[\"plain\",10.0,45.0]])"), std::string::npos) << memory;
}

TEST(TimedTasks, give_an_instance_back_when_it_is_empty) {
  Cluster cluster(m4(), kTimed);
  cluster.submit(job_of(1, 1000, 2, 8));
  cluster.submit(job_of(2, 30'000, 64, 256));
  cluster.round();
  cluster.finish(1);
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.releases.size(), 1U);
  EXPECT_EQ(plan.releases[0].cause.code, CauseCode::empty);
}

/// Two tasks of an hour on a 16xlarge of which the rest has ended.
Cluster with_little_left(const std::string& policy) {
  Cluster cluster(m4(), policy);
  cluster.submit(job_of(1, 6000, 4, 16, 16));
  cluster.round();
  for (std::uint64_t task = 102; task <= 115; ++task) cluster.finish_task(task);
  return cluster;
}

TEST(TimedTasks, leave_a_large_instance_for_a_small_one_together) {
  Cluster cluster = with_little_left(kTimed);
  ASSERT_EQ(cluster.layout(), "16xlarge(1 101)");
  const Plan plan = cluster.round();
  EXPECT_EQ(cluster.layout(), "2xlarge(1 101)");
  ASSERT_EQ(plan.places.size(), 2U);
  EXPECT_EQ(plan.places[0].cause.code, CauseCode::partial_reconfiguration);
  ASSERT_EQ(plan.releases.size(), 1U);
  EXPECT_NE(plan.places[0].group, 0U);
  EXPECT_EQ(plan.places[0].group, plan.releases[0].group);
  EXPECT_EQ(plan.launches[0].group, plan.releases[0].group);
}

TEST(TimedTasks, stay_while_they_must) {
  Cluster cluster = with_little_left(kTimed);
  cluster.set_min_stay(std::chrono::hours{2});
  EXPECT_TRUE(cluster.round().places.empty());
  cluster.set_min_stay({});
  EXPECT_EQ(cluster.round().places.size(), 2U);
}

TEST(TimedTasks, are_told_what_they_wait_for_once) {
  Cluster cluster(m4(), kTimed);
  for (const InstanceType& type : cluster.catalog().types()) cluster.rest(type.name);
  cluster.submit(job_of(1, 1000, 2, 8));
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.refusals.size(), 1U);
  EXPECT_EQ(plan.refusals[0].refusal.code, RefusalCode::cloud_capacity);
  EXPECT_TRUE(cluster.round().refusals.empty());
  cluster.end_rest();
  EXPECT_EQ(cluster.round().places.size(), 1U);
}

/// The caps had no room for what was to be rented for the task.
void refuse_for_caps(Cluster& cluster, std::uint64_t task, RefusalCode code) {
  Plan no;
  no.refusals.push_back({TaskId{task}, {RefusalKind::not_now, code, {}, 1, 0}});
  cluster.begin(no);
}

/// A task of three hours waits, and an instance whose other tasks end soon has room for it.
Cluster with_room_that_ends_soon() {
  Cluster cluster(m4(), kTimed);
  cluster.submit(job_of(1, 1000, 48, 192));
  cluster.round();
  cluster.submit(job_of(2, 40'000, 2, 8));
  return cluster;
}

TEST(TimedTasks, take_any_room_when_caps_refuse_them_an_instance) {
  Cluster cluster = with_room_that_ends_soon();
  Plan plan = cluster.ask();
  ASSERT_EQ(plan.launches.size(), 1U) << "a large instance is not to stay for a small task";
  for (const RefusalCode code :
       {RefusalCode::instance_cap, RefusalCode::spend_cap, RefusalCode::day_cap}) {
    Cluster capped = with_room_that_ends_soon();
    refuse_for_caps(capped, 2, code);
    plan = capped.round();
    EXPECT_TRUE(plan.launches.empty());
    EXPECT_EQ(capped.layout(), "16xlarge(1 2)");
  }
}

TEST(TimedTasks, find_empty_instances_kept_when_a_round_ends_before_looking_at_them) {
  Cluster cluster(m4(), kTimed);
  for (std::uint64_t id = 1; id <= 8; ++id) cluster.submit(job_of(id, 3000, 64, 256));
  cluster.round();
  for (std::uint64_t id = 1; id <= 8; ++id) cluster.finish(id);
  cluster.submit(job_of(11, 3000, 64, 256));
  cluster.submit(job_of(12, 4000, 64, 256));
  cluster.allow(1);
  EXPECT_TRUE(cluster.ask().releases.empty());
  cluster.allow(0);
  const Plan plan = cluster.ask();
  EXPECT_TRUE(plan.launches.empty());
  EXPECT_EQ(plan.releases.size(), 6U);
}

TEST(TimedTasks, count_what_a_round_looks_at_where_there_is_no_room_yet) {
  Cluster cluster(m4(), kTimed);
  for (std::uint64_t id = 1; id <= 40; ++id) {
    cluster.submit(job_of(2 * id, 1000.0 + 100 * static_cast<double>(id), 2, 8));
  }
  Rng rng(1);
  Budget budget;
  cluster.policy().decide(cluster.view(), rng, budget);
  EXPECT_GE(budget.used(), 40U) << "a step is a few types or tasks looked at";
}

TEST(TimedTasks, stay_timed_whatever_spot_instances_cost) {
  Catalog catalog = m4(true);
  std::vector<InstanceType> types = catalog.types();
  for (InstanceType& type : types) {
    type.setup = from_seconds(type.name == "16xlarge" ? 100'000 : 100);
  }
  Cluster cluster(Catalog(std::move(types)), "muster,run_times=hinted,short_runs=1");
  cluster.submit(job_of(1, 2000, 10, 40));
  EXPECT_EQ(cluster.ask().note.choice, "repartition") << "long for what a 4xlarge takes to start";
  cluster.reprice("16xlarge", 0.001, Market::spot);
  EXPECT_EQ(cluster.ask().note.choice, "repartition");
}

TEST(TimedTasks, go_by_priority) {
  Cluster cluster(m4(), kTimed);
  Job first = job_of(1, 1000, 2, 8), second = job_of(2, 1000, 2, 8);
  second.priority = 5;
  cluster.submit(first);
  cluster.submit(second);
  const Plan plan = cluster.round();
  ASSERT_EQ(plan.places.size(), 2U);
  EXPECT_EQ(plan.places[0].task, TaskId{2});
}

TEST(TimedTasks, an_empty_instance_goes_back_between_rounds_where_that_is_asked_for) {
  Cluster cluster(m4(),
                  "muster,run_times=hinted,short_runs=40,eager=false,keep=0,at_once,period_s=3000");
  cluster.submit(job_of(1, 1000, 2, 8));
  cluster.round();
  cluster.finish(1);
  cluster.submit(job_of(2, 1000, 2, 8));
  const Plan plan = cluster.round();
  EXPECT_EQ(plan.note.choice, "at once");
  EXPECT_EQ(plan.releases.size(), 1U);
  EXPECT_TRUE(plan.places.empty()) << "tasks wait for the regular round";
  cluster.let_pass(std::chrono::seconds{3000});
  EXPECT_EQ(cluster.round().places.size(), 1U);
}

TEST(TimedTasks, another_policy_that_was_given_the_memory_decides_as_the_first) {
  Cluster cluster(m4(), kTimed);
  for (std::uint64_t id = 1; id <= 12; ++id) {
    cluster.submit(job_of(2 * id, 700.0 * static_cast<double>(id % 5 + 1), 2, 8, 2));
    cluster.round();
    if (id > 3) cluster.finish(2 * (id - 3));
  }
  const std::string memory = cluster.policy().save_state(cluster.state());
  EXPECT_NE(memory.find("run_times"), std::string::npos);
  const auto other = make_policy(parse_policy(kTimed).value(), cluster.catalog()).value();
  ASSERT_TRUE(other->load_state(memory, cluster.view()));
  EXPECT_EQ(other->save_state(cluster.state()), memory);
  cluster.submit(job_of(99, 1500, 2, 8, 3));
  Rng rng(1), same(1);
  Budget budget, equal;
  const Plan one = cluster.policy().decide(cluster.view(), rng, budget);
  const Plan two = other->decide(cluster.view(), same, equal);
  ASSERT_EQ(one.places.size(), two.places.size());
  for (std::size_t i = 0; i < one.places.size(); ++i) {
    EXPECT_EQ(one.places[i].task, two.places[i].task);
    EXPECT_EQ(one.places[i].to, two.places[i].to);
  }
}

}  // namespace
}  // namespace muster::testing
