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

constexpr std::string_view kHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

Expected<Workload, WorkloadError> read_rows(const std::string& rows) {
  const TempFile file("pods.csv", std::string(kHeader) + rows);
  return read_workload(reading("openb-csv", file.path()), 1);
}

TEST(OpenbCsv, MakesAJobOfEveryPodThatHasNotFailed) {
  const Workload workload =
      read_workload(reading("openb-csv", test::data_file("openb-pods.csv")), 1).value();
  ASSERT_EQ(workload.jobs.size(), 8U);
  const WorkloadJob& second = workload.jobs[1];
  EXPECT_EQ(second.job.name, "openb-pod-0001");
  EXPECT_EQ(second.job.id, JobId{1});
  EXPECT_EQ(second.submit, Instant{427061s});
  EXPECT_EQ(second.truth.iterations, 12902960 - 427061);
  EXPECT_EQ(second.truth.iterations_per_s, 1);
  EXPECT_EQ(second.job.runtime_hint, 12475899s);
  EXPECT_EQ(second.job.workload_class, "gpu1-cpu6-mem12");
}

TEST(OpenbCsv, RoundsCpusAndMemoryUp) {
  const Workload workload = read_rows("a,3152,5600,1,1000,,BE,Running,5,9,5\n").value();
  const TaskSpec& task = workload.jobs.at(0).job.tasks.at(0);
  EXPECT_EQ(task.demands, Demands(Resources::of(1, 4, 6)));
  EXPECT_EQ(task.delays, Delays{});
}

TEST(OpenbCsv, CountsTimeFromTheFirstPodKept) {
  const Workload workload = read_rows(
                                "failed,1000,1024,0,0,,BE,Failed,1,9,1\n"
                                "late,1000,1024,0,0,,BE,Running,70,80,1\n"
                                "first,1000,1024,0,0,,BE,Pending,50,60,\n")
                                .value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[0].job.name, "first");
  EXPECT_EQ(workload.jobs[0].submit, Instant{0s});
  EXPECT_EQ(workload.jobs[0].job.tasks[0].id, TaskId{0});
  EXPECT_EQ(workload.jobs[1].submit, Instant{20s});
  EXPECT_EQ(workload.jobs[1].job.tasks[0].id, TaskId{1});
}

TEST(OpenbCsv, GivesPodsOfEqualDemandTheSameClass) {
  const Workload workload = read_rows(
                                "a,1500,1024,0,0,,BE,Running,0,9,1\n"
                                "b,2000,1000,0,0,,BE,Running,0,9,1\n"
                                "c,2001,1000,0,0,,BE,Running,0,9,1\n")
                                .value();
  EXPECT_EQ(workload.jobs[0].job.workload_class, workload.jobs[1].job.workload_class);
  EXPECT_NE(workload.jobs[0].job.workload_class, workload.jobs[2].job.workload_class);
}

TEST(OpenbCsv, NamesLineAndFieldOfWhatIsWrong) {
  const std::string error = message_of(read_rows("a,-1,1024,0,0,,BE,Running,0,9,1\n"
                                                 "b,1000,inf,0.5,0,,BE,Running,0,9,1\n"
                                                 "b,1000,1024,0,0,,BE,Running,9,0,1\n"),
                                       WorkloadError::invalid);
  EXPECT_THAT(error,
              IsGoldenAt("pods.csv:2: cpu_milli", "pods.csv:3: memory_mib", "pods.csv:3: num_gpu",
                         "pods.csv:4: name", "pods.csv:4: deletion_time"));
}

TEST(OpenbCsv, SurvivesTheConversionToMustersCsv) {
  const Workload pods =
      read_workload(reading("openb-csv", test::data_file("openb-pods.csv")), 1).value();
  const TempFile file("jobs.csv", test::csv_of(pods));
  const Workload converted = read_workload(reading("muster-csv", file.path()), 1).value();
  EXPECT_EQ(test::all_text(converted), test::all_text(pods));
}

}  // namespace
}  // namespace muster::replay
