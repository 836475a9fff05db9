#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kHeader =
    "task_create_time, task_end_time, job_id, task_id,number_of_instances, status, "
    "number_of_cpus_requested_per_instance_in_the_task,"
    "normalized_memory_requested_per_instance_in_the_task\n";

Expected<Workload, WorkloadError> read_rows(const std::string& rows, std::uint32_t max_tasks = 0) {
  const TempFile file("batch_task.csv", std::string(kHeader) + rows);
  WorkloadConfig config = reading("alibaba-2017", file.path());
  config.max_tasks = max_tasks;
  return read_workload(config, 1);
}

TEST(Alibaba2017, MakesAJobOfTheInstancesOfATask) {
  const Workload workload =
      read_rows("-5,20,3,4,3,Terminated,50,0.25\n6,10,3,5,1, Terminated,100,0.5\n").value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  const WorkloadJob& first = workload.jobs[0];
  EXPECT_EQ(first.job.name, "3/4");
  EXPECT_EQ(first.submit, Instant{0s});
  EXPECT_EQ(first.truth.iterations, 25);
  EXPECT_EQ(first.job.runtime_hint, 25s);
  EXPECT_FALSE(first.job.gang);
  ASSERT_EQ(first.job.tasks.size(), 3U);
  EXPECT_EQ(first.job.tasks[0].demands, Demands(Resources::of(0, 0.5, 64)));
  EXPECT_EQ(workload.jobs[1].submit, Instant{11s});
}

TEST(Alibaba2017, LeavesOutWhatDidNotRunToItsEnd) {
  const Workload workload = read_rows(
                                "0,9,1,1,1,Waiting,,\n0,9,1,2,1,Failed,50,0.1\n"
                                "9,9,1,3,1,Terminated,,\n0,9,1,4,1,Terminated,50,0.1\n")
                                .value();
  ASSERT_EQ(workload.jobs.size(), 1U);
  EXPECT_EQ(workload.jobs[0].job.name, "1/4");
}

TEST(Alibaba2017, SaysHowToTakeLessOfATraceThatIsTooLarge) {
  std::string rows;
  for (int i = 0; i < 5; ++i) {
    rows += "0,9,1," + std::to_string(i) + ",1000000,Terminated,50,0.1\n";
  }
  EXPECT_THAT(message_of(read_rows(rows), WorkloadError::invalid),
              AllOf(HasSubstr("workload.max_jobs"), HasSubstr("workload.max_tasks"), IsGolden()));
  EXPECT_EQ(read_rows(rows, 7).value().jobs.at(4).job.tasks.size(), 7U);
}

TEST(Alibaba2017, NamesLineAndFieldOfWhatIsWrong) {
  const std::string error = message_of(
      read_rows("x,9,1,1,1,Terminated,50,0.1\n0,9,,1,0,Terminated,,1.5\n0,9,1,1,1,Terminated,50\n"),
      WorkloadError::invalid);
  EXPECT_THAT(error,
              IsGoldenAt("batch_task.csv:2: task_create_time", "batch_task.csv:3: job_id",
                         "batch_task.csv:3: number_of_instances",
                         "batch_task.csv:3: number_of_cpus_requested_per_instance_in_the_task",
                         "batch_task.csv:4"));
}

}  // namespace
}  // namespace muster::replay
