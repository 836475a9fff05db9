#include "schedulers/packing/backlog.hpp"

#include <gtest/gtest.h>

#include <set>

#include "schedulers/packing/rounds/round_input.hpp"
#include "tests/schedulers/cluster.hpp"

namespace muster {
namespace {

using testing::Cluster;

constexpr std::uint64_t kOther = 1'000'000;  ///< no task of the first jobs has such an id

Job array(std::uint64_t id, std::size_t tasks, std::string workload_class = "plain") {
  return test::JobBuilder(id)
      .tasks(tasks)
      .demand(Resources::of(0, 4, 12))
      .workload_class(std::move(workload_class))
      .gang(false)
      .build();
}

/// What a round of a packing policy works on.
class Gathered {
 public:
  void gather(const Cluster& cluster) {
    input.gather({cluster.view(), prices_.types().markets()}, prices_, kinds_);
  }
  std::size_t of_job(const Cluster& cluster, std::uint64_t id) const {
    return static_cast<std::size_t>(
        std::count_if(input.tasks().begin(), input.tasks().end(), [&](const auto& task) {
          const TaskRow& row = cluster.state().task(task.slot);
          return cluster.state().job(row.job).job.id == JobId{id};
        }));
  }

  RoundInput input;

 private:
  Catalog catalog_ = test::table3_catalog();
  ReservationPrices prices_{catalog_};
  TaskKinds kinds_{false};
};

/// Has no more than the cap, as a master's check would.
void start_within(Cluster& cluster, std::size_t most) {
  Plan plan = cluster.ask();
  if (plan.launches.size() > most) plan.launches.resize(most);
  std::erase_if(plan.places, [&](const Place& place) {
    const auto* launch = std::get_if<LaunchIndex>(&place.to);
    return launch != nullptr && launch->value >= most;
  });
  cluster.apply_plan(plan);
}

TEST(Backlog, a_round_looks_at_what_could_have_a_place_however_many_tasks_wait) {
  for (const std::size_t waiting : {2'000, 20'000}) {
    Cluster cluster(testing::table_3(), "no-packing");
    cluster.cap(4);
    cluster.submit(array(1, waiting));
    Gathered round;
    round.gather(cluster);
    // Four instances of the largest type hold 16 of the tasks.
    EXPECT_EQ(round.input.tasks().size(), 16 + Backlog::kSpare);
    EXPECT_LE(round.input.looks(), 200);
    EXPECT_EQ(round.input.tasks().front().id, TaskId{1});
  }
}

TEST(Backlog, a_cap_on_money_bounds_a_round_as_one_on_instances_does) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.cap({}, 4.0);
  cluster.submit(array(1, 5'000));
  Gathered round;
  round.gather(cluster);
  // Ten of the cheapest type, each with one of the tasks.
  EXPECT_EQ(round.input.tasks().size(), 10 + Backlog::kSpare);
}

TEST(Backlog, a_round_looks_at_everything_where_nothing_bounds_what_is_rented) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(array(1, 5'000));
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.input.tasks().size(), 5'000u);
}

TEST(Backlog, bounds_a_round_where_the_cloud_has_nothing) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(array(1, 5'000));
  for (const char* type : {"it1", "it2", "it3", "it4"}) cluster.rest(type);
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.input.tasks().size(), Backlog::kSpare);
}

TEST(Backlog, a_round_costs_no_more_after_thousands_of_tasks_have_ended) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.cap(40);
  cluster.submit(array(1, 4'000));
  Gathered round;
  for (int i = 0; i < 50; ++i) {
    start_within(cluster, 40);
    std::vector<TaskId> running;
    for (const JobRow& job : cluster.state().jobs()) {
      for (const Slot slot : job.tasks) {
        const TaskRow& task = cluster.state().task(slot);
        if (task.phase == TaskPhase::running) running.push_back(task.id);
      }
    }
    round.gather(cluster);
    EXPECT_LE(round.input.looks(), 600) << "after " << i << " rounds";
    for (const TaskId task : running) cluster.finish_task(task.value);
  }
  EXPECT_GT(cluster.state().find(JobId{1})->finished, 1'500u);
  round.gather(cluster);
  const auto shown = round.input.tasks();
  EXPECT_EQ(cluster.state().task(shown.front().slot).phase, TaskPhase::pending);
  EXPECT_LE(round.input.looks(), 600);
}

TEST(Backlog, shows_what_runs_whatever_waits) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.submit(array(kOther, 300));
  cluster.round();
  cluster.cap(301);
  cluster.submit(array(1, 3'000));
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.of_job(cluster, kOther), 300u);
  EXPECT_EQ(round.of_job(cluster, 1), 4 + Backlog::kSpare);
}

TEST(Backlog, does_not_hide_other_classes_sizes_priorities_nor_jobs_that_stand_alone) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.cap(1);
  Job apart = array(1, 2'000);
  apart.most_an_instance = 1;
  cluster.submit(apart);
  cluster.submit(array(2 * kOther, 2'000));
  cluster.submit(array(3 * kOther, 10, "another"));
  Job small = array(4 * kOther, 10);
  for (TaskSpec& task : small.tasks) task.demands = Demands(Resources::of(0, 1, 1));
  cluster.submit(small);
  Job urgent = array(5 * kOther, 10);
  urgent.priority = 7;
  cluster.submit(urgent);
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.of_job(cluster, 1), 1 + Backlog::kSpare) << "one of them on an instance";
  EXPECT_EQ(round.of_job(cluster, 2 * kOther), 4 + Backlog::kSpare);
  for (const std::uint64_t other : {3, 4, 5}) {
    EXPECT_EQ(round.of_job(cluster, other * kOther), 10u) << other;
  }
}

TEST(Backlog, counts_one_place_on_an_instance_for_tasks_that_are_kept_apart) {
  Cluster cluster(testing::table_3(), "no-packing");
  Job apart = array(1, 2'000);
  apart.most_an_instance = 1;
  cluster.add_to_fleet("it1", 10);
  cluster.rent_beyond_fleet();
  cluster.cap(0);
  Job two = array(kOther, 2);
  two.most_an_instance = 1;
  cluster.submit(two);
  cluster.round();
  cluster.submit(apart);
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.of_job(cluster, 1), 10 + Backlog::kSpare);
}

TEST(Backlog, counts_as_many_places_on_an_instance_as_its_peers_leave) {
  Cluster cluster(testing::table_3(), "eva");
  cluster.add_to_fleet("it1", 10);
  cluster.rent_beyond_fleet();
  cluster.cap(0);
  Job bounded = array(1, 2'000);
  bounded.most_an_instance = 2;
  cluster.submit(bounded);
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.of_job(cluster, 1), 20 + Backlog::kSpare);
}

TEST(Backlog, finds_every_task_of_a_job_whose_tasks_differ) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.cap(1);
  Job mixed = array(1, 3'000);
  for (std::size_t i = 2'990; i < 3'000; ++i) {
    mixed.tasks[i].demands = Demands(Resources::of(0, 1, 1));
  }
  cluster.submit(mixed);
  Gathered round;
  round.gather(cluster);
  EXPECT_EQ(round.input.tasks().size(), 4 + Backlog::kSpare + 10);
}

TEST(Backlog, tells_those_that_are_left_out_once_what_the_first_of_them_waits_for) {
  Cluster cluster(testing::table_3(), "no-packing");
  cluster.cap(0);
  cluster.submit(array(1, 5'000));
  Gathered round;
  round.gather(cluster);
  EXPECT_TRUE(round.input.refusals().empty()) << "the master has not said anything yet";
  const Refusal cap{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
  Plan said;
  for (const auto& task : round.input.tasks()) said.refusals.push_back({task.id, cap});
  cluster.begin(said);
  std::set<TaskId> told;
  for (int i = 0; i < 4; ++i) {
    round.gather(cluster);
    said.refusals = round.input.refusals();
    EXPECT_LE(said.refusals.size(), 2'000u);
    for (const Refuse& part : said.refusals) {
      EXPECT_EQ(part.refusal, cap);
      EXPECT_TRUE(told.insert(part.task).second);
    }
    cluster.begin(said);
  }
  EXPECT_EQ(told.size(), 5'000 - Backlog::kSpare);
  for (const TaskRow& task : cluster.state().pending()) EXPECT_EQ(task.reason, cap);
}

TEST(Backlog, a_round_of_muster_takes_the_same_steps_for_any_number_that_waits) {
  std::set<double> steps;
  for (const std::size_t waiting : {1'000, 8'000}) {
    Cluster cluster(testing::table_3(), "muster");
    cluster.cap(4);
    cluster.submit(array(1, waiting));
    const Plan plan = cluster.ask();
    EXPECT_LE(plan.places.size(), 16 + Backlog::kSpare);
    EXPECT_GE(plan.launches.size(), 4u);
    steps.insert(testing::figure(plan, "steps"));
  }
  EXPECT_EQ(steps.size(), 1u);
}

}  // namespace
}  // namespace muster
