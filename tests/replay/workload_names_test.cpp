#include "replay/workload_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "tests/replay/replay_setup.hpp"
#include "tests/support/builders.hpp"

namespace muster::replay {
namespace {

using muster::test::at_s;
using muster::test::JobBuilder;
using ::testing::ElementsAre;

/// Jobs 70 (tasks 500, 501) and 7 (tasks 300 to 302), as numbers 1 and 2 of the second site.
class WorkloadNamesTest : public ::testing::Test {
 protected:
  WorkloadNamesTest() {
    add(70, 500, 2);
    add(7, 300, 3);
    names_.emplace(workload_);
  }

  void add(std::uint64_t id, std::uint64_t first_task, std::size_t tasks) {
    Job job = JobBuilder(id).tasks(tasks).build();
    for (std::size_t i = 0; i < tasks; ++i) job.tasks[i].id = TaskId{first_task + i};
    workload_.jobs.push_back({std::move(job), at_s(0), {}});
  }
  /// As the master writes it when it takes the job.
  JobAccepted accepted(std::size_t rank) {
    Job job = workload_.jobs[rank].job;
    job.token = WorkloadNames::token_of(job.id);
    number_job(job, job_id_of(1, rank + 1));
    return {job};
  }
  template <class Body>
  Body renamed(Body body) {
    Event event{at_s(1), std::move(body)};
    names_->rename(event);
    return std::get<Body>(event.body);
  }
  TaskId task(std::size_t rank, std::uint32_t position) {
    return task_id_of(job_id_of(1, rank + 1), position);
  }

  Workload workload_;
  std::optional<WorkloadNames> names_;
};

TEST_F(WorkloadNamesTest, AnAcceptedJobIsTheWorkloadsAgain) {
  const Job job = renamed(accepted(1)).job;
  EXPECT_EQ(job.id, JobId{7});
  EXPECT_EQ(job.tasks.at(2).id, TaskId{302});
  EXPECT_EQ(job.token, "");
}

TEST_F(WorkloadNamesTest, APartOfAJobHasItsTasksNames) {
  JobAccepted part = accepted(1);
  part.job.tasks.erase(part.job.tasks.begin() + 1);
  const Job job = renamed(part).job;
  EXPECT_EQ(job.tasks.at(0).id, TaskId{300});
  EXPECT_EQ(job.tasks.at(1).id, TaskId{302});
}

TEST_F(WorkloadNamesTest, EventsSpeakOfJobsAndTasksByTheWorkloadsNames) {
  renamed(accepted(0));
  renamed(accepted(1));
  EXPECT_EQ(renamed(JobFinished{job_id_of(1, 1)}).job, JobId{70});
  EXPECT_EQ(renamed(TaskAssigned{task(1, 1), InstanceId{5}, {}}).task, TaskId{301});
  EXPECT_EQ(renamed(InstanceGone{InstanceId{5}}).instance, InstanceId{5});
  EXPECT_FALSE(renamed(PlanPartRefused{{}, InstanceId{5}, {}}).task.valid());
}

TEST_F(WorkloadNamesTest, MeasuredTasksAreInTheOrderOfTheirNames) {
  renamed(accepted(0));
  renamed(accepted(1));
  Measured measured;
  measured.samples = {{task(0, 0), 0.5}, {task(0, 1), 0.6}, {task(1, 0), 0.7}};
  EXPECT_THAT(renamed(measured).samples,
              ElementsAre(ThroughputSample{TaskId{300}, 0.7}, ThroughputSample{TaskId{500}, 0.5},
                          ThroughputSample{TaskId{501}, 0.6}));
}

TEST_F(WorkloadNamesTest, WhatElasticJobsSayOfTheirProgressIsToldByTheirNames) {
  renamed(accepted(0));
  renamed(accepted(1));
  Measured measured;
  measured.progress = {{task(0, 0), 10}, {task(1, 0), 20}};
  EXPECT_THAT(renamed(measured).progress,
              ElementsAre(JobProgress{TaskId{300}, 20}, JobProgress{TaskId{500}, 10}));
}

TEST(Names, TheLogAndTheResultsOfAReplayHaveTheWorkloadsIds) {
  test::SmallReplay replay;
  replay.job(0, 600, Resources::of(0, 1, 1), 2).job(10, 600, Resources::of(0, 1, 1));
  replay.job(20, 600, Resources::of(99, 1, 1));  // fits no type
  std::vector<WorkloadJob>& jobs = replay.workload().jobs;
  const std::vector<std::uint64_t> ids = {900, 70, 8};
  std::uint64_t task = 5000;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].job.id = JobId{ids[i]};
    for (TaskSpec& spec : jobs[i].job.tasks) spec.id = TaskId{task++};
  }
  const auto run = replay.run("no-packing").value();
  std::vector<std::uint64_t> finished, tasks;
  for (const Event& event : run.events) {
    if (const auto* over = std::get_if<JobFinished>(&event.body))
      finished.push_back(over->job.value);
    if (const auto* over = std::get_if<TaskFinished>(&event.body))
      tasks.push_back(over->task.value);
  }
  std::ranges::sort(finished);
  std::ranges::sort(tasks);
  EXPECT_THAT(finished, ElementsAre(8u, 70u, 900u));
  EXPECT_THAT(tasks, ElementsAre(5000u, 5001u, 5002u));
  ASSERT_EQ(run.result.not_completed.size(), 1u);
  EXPECT_EQ(run.result.not_completed[0].first, "8");
}

}  // namespace
}  // namespace muster::replay
