#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;

Expected<Workload, WorkloadError> read_lines(const std::string& lines) {
  const TempFile file("jobs.tr", lines);
  return read_workload(reading("tr", file.path()), 1);
}

TEST(Tr, GivesEachTaskItsOwnDurationAndSchedulersTheMean) {
  const Workload workload = read_lines("100 2 3 2.5 3.5\n107.25 1 8 8\n").value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  const WorkloadJob& first = workload.jobs[0];
  EXPECT_EQ(first.submit, Instant{0s});
  EXPECT_FALSE(first.job.gang);
  EXPECT_EQ(first.job.runtime_hint, 3s);
  EXPECT_EQ(first.truth.mean_task_s(), 3);
  EXPECT_EQ(first.truth.task_iterations, (std::vector<double>{2.5, 3.5}));
  ASSERT_EQ(first.job.tasks.size(), 2U);
  EXPECT_EQ(first.job.tasks[1].demands, Demands(Resources::of(0, 1, 0)));
  EXPECT_EQ(workload.jobs[1].submit, Instant{7250ms});
  EXPECT_EQ(workload.jobs[1].job.tasks[0].id, TaskId{2});
}

TEST(Tr, AsksForWhatTheConfigSays) {
  const TempFile file("jobs.tr", "0 1 3 3\n");
  WorkloadConfig config = reading("tr", file.path());
  config.task = {.cpu = 2, .memory_gib = 4, .storage_gib = 8, .network_gbit_s = 0.5};
  Resources demand = Resources::of(0, 2, 4);
  demand[Resource::storage] = 8;
  demand[Resource::network] = 0.5;
  EXPECT_EQ(read_workload(config, 1).value().jobs[0].job.tasks[0].demands, Demands(demand));
}

TEST(Tr, TakesTabsEmptyLinesAndWindowsLineEnds) {
  EXPECT_EQ(read_lines("\n0\t1 3  3\r\n\n  5 1 3 3").value().jobs.size(), 2U);
}

TEST(Tr, NamesLineAndFieldOfWhatIsWrong) {
  const std::string error = message_of(
      read_lines("0 2 3 3\n-1 1 3 3\n0 1 3 soon\n0 0 3\n0 1 nan 3\n5\n0 1 2000000000 3\n"),
      WorkloadError::invalid);
  EXPECT_THAT(error,
              IsGoldenAt("jobs.tr:1: num_tasks", "jobs.tr:2: submit_time", "jobs.tr:3: duration",
                         "jobs.tr:4: num_tasks", "jobs.tr:5: mean_task_duration",
                         "jobs.tr:6: num_tasks", "jobs.tr:7"));
}

TEST(Tr, ReadsTheShippedHeadOfTheYahooTrace) {
  const Workload workload =
      read_workload(reading("tr", test::data_file("yahoo-tiny10.tr")), 1).value();
  EXPECT_EQ(workload.jobs.size(), 10U);
  std::size_t tasks = 0;
  for (const WorkloadJob& job : workload.jobs) tasks += job.job.tasks.size();
  EXPECT_EQ(tasks, 183U);
}

TEST(Tr, SurvivesTheConversionToMustersCsv) {
  const Workload trace =
      read_workload(reading("tr", test::data_file("yahoo-tiny10.tr")), 1).value();
  const TempFile file("jobs.csv", test::csv_of(trace));
  const Workload converted = read_workload(reading("muster-csv", file.path()), 1).value();
  EXPECT_EQ(test::all_text(converted), test::all_text(trace));
}

}  // namespace
}  // namespace muster::replay
