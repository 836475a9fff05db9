#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/workload/google_2011.hpp"
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
using testing::HasSubstr;

constexpr std::string_view kHeader =
    "submit_us,job_id,task_index,user_hash,scheduling_class,priority,runtime_us,end_us,cpu_request,"
    "memory_request\n";

Expected<Workload, WorkloadError> read_rows(const std::string& rows,
                                            std::uint32_t max_priority = 11) {
  const TempFile file("tasks.csv", std::string(kHeader) + rows);
  WorkloadConfig config = reading("google-2011", file.path());
  config.own.of<GoogleSettings>().max_priority = max_priority;
  return read_workload(config, 1);
}

TEST(Google2011, MakesAJobOfTheTasksThatBelongTogether) {
  const Workload workload =
      read_rows("0,77,0,ann,2,1,4000000,4000000,0.25,0.5\n0,77,1,ann,2,1,2500000,-1,0.25,0.5\n")
          .value();
  ASSERT_EQ(workload.jobs.size(), 1U);
  const WorkloadJob& job = workload.jobs[0];
  EXPECT_EQ(job.job.name, "77");
  EXPECT_EQ(job.job.user, "ann");
  EXPECT_EQ(job.job.priority, 1);
  EXPECT_EQ(job.job.workload_class, "class2");
  EXPECT_FALSE(job.job.gang);
  EXPECT_EQ(job.truth.task_iterations, (std::vector<double>{4, 2.5}));
  EXPECT_EQ(job.job.runtime_hint, 3250ms);
  EXPECT_EQ(job.job.tasks[1].demands, Demands(Resources::of(0, 16, 128)));
}

TEST(Google2011, MakesTwoJobsOfTasksWithOtherRequests) {
  const Workload workload =
      read_rows("0,77,0,a,0,1,1000000,-1,0.25,0.5\n0,77,1,a,0,1,1000000,-1,0.5,0.5\n").value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[1].job.tasks[0].demands, Demands(Resources::of(0, 32, 128)));
}

TEST(Google2011, LeavesOutHigherPrioritiesWhenAsked) {
  const std::string rows = "0,1,0,a,0,9,1000000,-1,0.5,0.5\n0,2,0,a,0,2,1000000,-1,0.5,0.5\n";
  EXPECT_EQ(read_rows(rows).value().jobs.size(), 2U);
  const Workload batch = read_rows(rows, 2).value();
  ASSERT_EQ(batch.jobs.size(), 1U);
  EXPECT_EQ(batch.jobs[0].job.name, "2");
  EXPECT_THAT(batch.description, HasSubstr("priority 0 to 2"));
  EXPECT_THAT(batch.description, HasSubstr("parts of 64 CPUs and 256 GiB"));
}

TEST(Google2011, NamesLineAndFieldOfWhatIsWrong) {
  const std::string error = message_of(
      read_rows("0,1,0,a,4,12,-1,-1,1.5,x\n0,,0,a,0,0,5,-1,0.5,0.5\n"), WorkloadError::invalid);
  EXPECT_THAT(error, IsGoldenAt("tasks.csv:2: priority", "tasks.csv:2: runtime_us",
                                "tasks.csv:2: scheduling_class", "tasks.csv:2: cpu_request",
                                "tasks.csv:2: memory_request", "tasks.csv:3: job_id"));
}

}  // namespace
}  // namespace muster::replay
