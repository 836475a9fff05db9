#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/workload/swf.hpp"
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
using testing::_;
using testing::ElementsAre;
using testing::Pair;

WorkloadConfig swf(const TempFile& file, std::uint32_t processors_per_task = 1) {
  WorkloadConfig config = reading("swf", file.path());
  config.own.of<SwfSettings>().processors_per_task = processors_per_task;
  return config;
}

constexpr std::string_view kLines =
    "; Computer: a cluster\n"
    "11 100 32 3600 5 32 2048 5 7200 1048576 1 4 1 7 2 1 -1 -1\n"
    "12 160 5 -1 4 5 -1 4 7200 -1 5 4 1 7 -1 1 -1 -1\n"
    "13 170 5 60 -1 5 2097152 2 -1 -1 1 -1 1 -1 -1 1 -1 -1\n";

TEST(Swf, MakesAGangOfTheProcessorsOfAJob) {
  const TempFile file("log.swf", kLines);
  const Workload workload = read_workload(swf(file), 1).value();
  ASSERT_EQ(workload.jobs.size(), 2U);
  const WorkloadJob& first = workload.jobs[0];
  EXPECT_EQ(first.job.id, JobId{11});
  EXPECT_EQ(first.submit, Instant{0s});
  EXPECT_TRUE(first.job.gang);
  EXPECT_EQ(first.truth.iterations, 3600);
  EXPECT_EQ(first.job.runtime_hint, 7200s);
  EXPECT_EQ(first.job.user, "user4");
  EXPECT_EQ(first.job.workload_class, "executable7");
  EXPECT_EQ(first.job.name, "queue2-executable7");
  ASSERT_EQ(first.job.tasks.size(), 5U);
  EXPECT_EQ(first.job.tasks[4].demands, Demands(Resources::of(0, 1, 1)));
}

TEST(Swf, TakesWhatIsKnownWhereTheFirstChoiceIsNot) {
  const TempFile file("log.swf", kLines);
  const WorkloadJob second = read_workload(swf(file), 1).value().jobs.at(1);
  EXPECT_EQ(second.job.tasks.size(), 2U);                                   // requested processors
  EXPECT_EQ(second.job.tasks[0].demands, Demands(Resources::of(0, 1, 2)));  // used memory
  EXPECT_EQ(second.job.runtime_hint, std::nullopt);
  EXPECT_EQ(second.job.user, "");
  EXPECT_EQ(second.job.workload_class, "batch");
  EXPECT_EQ(second.job.name, "batch");
}

TEST(Swf, LeavesOutAndCountsWhatDidNotRun) {
  const TempFile file("log.swf", kLines);
  const Workload workload = read_workload(swf(file), 1).value();
  EXPECT_THAT(workload.left_out().by_reason, ElementsAre(Pair(_, 1)));
  EXPECT_THAT(workload.description, IsGolden());
}

TEST(Swf, MakesTasksForThemselvesAndLeavesOutJobsWithoutMemoryWhereItIsTold) {
  const TempFile file("log.swf",
                      std::string(kLines) + "14 180 5 60 1 5 -1 1 -1 -1 1 -1 1 -1 -1 1 -1 -1\n");
  WorkloadConfig config = swf(file);
  config.own.of<SwfSettings>().gangs = false;
  EXPECT_EQ(read_workload(config, 1)->jobs.size(), 3U);
  config.own.of<SwfSettings>().needs_memory = true;
  const Workload workload = read_workload(config, 1).value();
  EXPECT_EQ(workload.jobs.size(), 2U);
  EXPECT_FALSE(workload.jobs[0].job.gang);
  EXPECT_THAT(workload.left_out().by_reason, ElementsAre(Pair(_, 1), Pair(_, 1)));
  EXPECT_THAT(workload.description, IsGolden());
}

TEST(Swf, PutsSeveralProcessorsIntoATaskAndRoundsUp) {
  const TempFile file("log.swf", kLines);
  const Workload workload = read_workload(swf(file, 2), 1).value();
  ASSERT_EQ(workload.jobs[0].job.tasks.size(), 3U);
  EXPECT_EQ(workload.jobs[0].job.tasks[0].demands, Demands(Resources::of(0, 2, 2)));
  const Workload whole = read_workload(swf(file, 100), 1).value();
  ASSERT_EQ(whole.jobs[0].job.tasks.size(), 1U);
  EXPECT_EQ(whole.jobs[0].job.tasks[0].demands, Demands(Resources::of(0, 5, 5)));
}

TEST(Swf, NamesLineAndFieldOfWhatIsWrong) {
  const TempFile file("log.swf",
                      "1 0 0 60 1 1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
                      "1 x 0 60 many 1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
                      "2 0 0 60 1 1\n");
  const std::string error = message_of(read_workload(swf(file), 1), WorkloadError::invalid);
  EXPECT_THAT(error, IsGoldenAt("log.swf:2: job number", "log.swf:2: submit time",
                                "log.swf:2: processors", "log.swf:3"));
}

}  // namespace
}  // namespace muster::replay
