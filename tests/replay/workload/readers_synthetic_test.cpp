#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "replay/workload/synthetic.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using testing::HasSubstr;

WorkloadConfig table7(std::uint32_t jobs = 100, std::uint32_t tasks_per_job = 4) {
  WorkloadConfig config;
  config.format = "synthetic";
  config.own.of<SyntheticWorkload>().workloads =
      muster::test::source_dir() / "config/workloads/eva-table7.csv";
  config.own.of<SyntheticWorkload>().jobs = jobs;
  config.own.of<SyntheticWorkload>().tasks_per_job = tasks_per_job;
  config.own.of<SyntheticWorkload>().min_duration_h = 0.5;
  config.own.of<SyntheticWorkload>().max_duration_h = 16;
  return config;
}

std::string error_of_list(const std::string& content) {
  const TempFile file("list.csv", content);
  WorkloadConfig config = table7();
  config.own.of<SyntheticWorkload>().workloads = file.path();
  return message_of(read_workload(config, 1), WorkloadError::invalid);
}

TEST(Synthetic, MakesGangsOfIdenticalTasks) {
  const Workload workload = read_workload(table7(), 1).value();
  ASSERT_EQ(workload.jobs.size(), 100U);
  std::uint64_t next_task = 0;
  for (const WorkloadJob& job : workload.jobs) {
    EXPECT_TRUE(job.job.gang);
    ASSERT_EQ(job.job.tasks.size(), 4U);
    for (const TaskSpec& task : job.job.tasks) {
      EXPECT_EQ(task.id, TaskId{next_task++});
      EXPECT_EQ(task.demands, job.job.tasks[0].demands);
    }
  }
}

TEST(Synthetic, DrawsDurationsOnALogarithmicScaleWhenAsked) {
  WorkloadConfig config = table7(4000, 1);
  config.own.of<SyntheticWorkload>().log_uniform = true;
  const Workload workload = read_workload(config, 3).value();
  double sum_h = 0;
  for (const WorkloadJob& job : workload.jobs) {
    EXPECT_GE(job.job.runtime_hint.value(), 29min);
    EXPECT_LE(job.job.runtime_hint.value(), 16h);
    sum_h += to_hours(job.job.runtime_hint.value());
  }
  // (16 - 0.5) / ln(16 / 0.5) = 4.47
  EXPECT_NEAR(sum_h / 4000, 4.47, 0.25);
}

TEST(Synthetic, KeepsDurationsWithinTheirBoundsAndWorkToThem) {
  const Workload workload = read_workload(table7(500), 3).value();
  for (const WorkloadJob& job : workload.jobs) {
    const Duration duration = job.job.runtime_hint.value();
    EXPECT_GE(duration, 30min);
    EXPECT_LE(duration, 16h);
    EXPECT_EQ(duration % 1s, 0s);
    EXPECT_EQ(job.truth.iterations, std::floor(to_seconds(duration) * job.truth.iterations_per_s));
  }
}

TEST(Synthetic, SubmitsInOrderAtTheMeanGap) {
  const Workload workload = read_workload(table7(4000, 1), 5).value();
  Instant last;
  for (const WorkloadJob& job : workload.jobs) {
    EXPECT_GE(job.submit, last);
    last = job.submit;
  }
  // The mean of 4,000 exponential gaps of 1,200 s has a standard deviation of 19 s.
  EXPECT_NEAR(to_seconds(last) / 4000, 1200, 100);
}

TEST(Synthetic, DrawsEveryWorkloadAboutAsOften) {
  const Workload workload = read_workload(table7(9000, 1), 7).value();
  std::map<std::string, int> counts;
  for (const WorkloadJob& job : workload.jobs) ++counts[job.truth.interference];
  ASSERT_EQ(counts.size(), 9U);
  // 1,000 expected, with a standard deviation of 30.
  for (const auto& [name, count] : counts) EXPECT_NEAR(count, 1000, 180) << name;
}

TEST(Synthetic, RepeatsItselfForASeedAndDiffersForAnother) {
  const auto first = test::all_text(read_workload(table7(), 1).value());
  EXPECT_EQ(test::all_text(read_workload(table7(), 1).value()), first);
  EXPECT_NE(test::all_text(read_workload(table7(), 2).value()), first);
  EXPECT_THAT(read_workload(table7(), 42).value().description, HasSubstr("seed 42"));
}

TEST(Synthetic, KnowsTheDemandsOfTable7) {
  const Workload workload = read_workload(table7(500, 1), 1).value();
  std::map<std::string, const WorkloadJob*> by_name;
  for (const WorkloadJob& job : workload.jobs) by_name[job.job.workload_class] = &job;
  const TaskSpec& a3c = by_name.at("a3c")->job.tasks[0];
  EXPECT_EQ(a3c.demands.on("p3")->amount, Resources::of(0, 10, 8));
  EXPECT_EQ(a3c.demands.on("c7i")->amount, Resources::of(0, 4, 8));
  EXPECT_EQ(a3c.demands.on("r7i")->amount, Resources::of(0, 4, 8));
  EXPECT_EQ(a3c.delays, (Delays{1s, 10s, 10s, 1s, 1s}));
  EXPECT_EQ(by_name.at("a3c")->truth.iterations_per_s, 12.736207246780396);
  const TaskSpec& gpt2 = by_name.at("gpt2")->job.tasks[0];
  EXPECT_EQ(gpt2.demands.on("p3")->amount, Resources::of(4, 4, 10));
  EXPECT_EQ(gpt2.demands.on("c7i"), nullptr);
  EXPECT_EQ(gpt2.image, "3");
}

TEST(Synthetic, RejectsABadListOfWorkloads) {
  EXPECT_THAT(error_of_list("name,families\n"),
              HasSubstr("list.csv:1: header: column 'iterations_per_s' is missing"));
  EXPECT_THAT(error_of_list("name,families,iterations_per_s\n"), IsGoldenAt("list.csv"));
  EXPECT_THAT(error_of_list("name,families,iterations_per_s\na,p3:1/1/1,0\n"),
              IsGoldenAt("list.csv:2: iterations_per_s"));
  EXPECT_THAT(error_of_list("name,families,iterations_per_s\na,p3:1,2\n"),
              IsGoldenAt("list.csv:2: families"));
  EXPECT_THAT(error_of_list("name,families,iterations_per_s\na,p3:1/1/1,1\na,p3:1/1/1,1\n"),
              IsGoldenAt("list.csv:3: name"));
  EXPECT_THAT(error_of_list("name,families,iterations_per_s,cpu\na,,1,4\n"), HasSubstr("no error"));
}

}  // namespace
}  // namespace muster::replay
