#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/workload/openb_csv.hpp"
#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

// No row of a trace is lost without a word, and none is made up.

namespace muster::replay {
namespace {

using namespace std::chrono_literals;
using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::_;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Expected<Workload, WorkloadError> read_text(const std::string& format, const std::string& text,
                                            bool skip_bad = false) {
  const TempFile file("trace", text);
  WorkloadConfig config = reading(format, file.path());
  config.skip_bad = skip_bad;
  return read_workload(config, 1);
}

/// A line of a log with some of its fields.
std::string swf(const std::string& number, const std::string& submit,
                const std::string& run_and_processors, const std::string& status = "1") {
  return number + " " + submit + " 3 " + run_and_processors + " -1 -1 2 900 -1 " + status +
         " 7 1 5 1 -1 -1 -1\n";
}

std::vector<Instant> submissions(const Workload& workload) {
  std::vector<Instant> times;
  for (const WorkloadJob& job : workload.jobs) times.push_back(job.submit);
  return times;
}

const std::string kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time\n";
const std::string kJobs = "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class\n";

TEST(LeftOut, RowsOfALogAreCountedByReason) {
  const auto workload = read_text("swf", swf("1", "0", "0 4") + swf("2", "4", "70 -1") +
                                             swf("3", "-1", "70 4") + swf("4", "9", "-1 4"));
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->jobs.size(), 1U);
  EXPECT_THAT(workload->left_out().by_reason, ElementsAre(Pair(_, 2), Pair(_, 1)));
  EXPECT_THAT(workload->description, IsGolden());
}

TEST(LeftOut, StretchesOfASwappedJobAreItsSummarys) {
  const auto workload = read_text("swf", swf("8", "0", "40 2") + swf("8", "-1", "10 2", "2") +
                                             swf("8", "-1", "30 2", "3") + swf("9", "7", "20 2"));
  ASSERT_TRUE(workload) << workload.error().message;
  ASSERT_EQ(workload->jobs.size(), 2U);
  EXPECT_EQ(workload->jobs[0].truth.iterations, 40);
  EXPECT_THAT(workload->left_out().by_reason, ElementsAre(Pair(_, 2)));
  EXPECT_THAT(workload->description, IsGolden());
}

TEST(LeftOut, FailedAndUnfinishedPodsAreCounted) {
  const auto workload =
      read_text("openb-csv", kPods + "a,1000,1024,0,0,Running,5,9\nb,1000,1024,0,0,Failed,1,2\n" +
                                 "c,1000,1024,0,0,Running,6,\n");
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_THAT(workload->description,
              HasSubstr("1 that failed, 1 without a deletion_time left out"));
}

TEST(LeftOut, ATimeThatIsNotThereIsNoZero) {
  EXPECT_THAT(message_of(read_text("openb-csv", kPods + "a,1000,1024,0,0,Running,,9\n"),
                         WorkloadError::invalid),
              IsGoldenAt("trace:2: creation_time"));
}

TEST(LeftOut, AShareOfAGpuIsKeptOrItIsSaidThatItIsNot) {
  const TempFile file("pods.csv", kPods +
                                      "a,1000,1024,1,300,Running,0,9\n"
                                      "b,1000,1024,2,1000,Running,0,9\n");
  WorkloadConfig config = reading("openb-csv", file.path());
  const auto gpus = [&](std::size_t job) {
    const Workload workload = read_workload(config, 1).value();
    return workload.jobs[job].job.tasks[0].demands.on("x")->amount[Resource::gpu];
  };
  EXPECT_EQ(gpus(0), 1);
  EXPECT_THAT(read_workload(config, 1)->description, IsGolden());
  config.own.of<OpenbSettings>().gpu_shares = true;
  EXPECT_EQ(gpus(0), 0.3);
  EXPECT_EQ(gpus(1), 2);
  EXPECT_THAT(read_workload(config, 1)->description, Not(HasSubstr("shares")));
}

TEST(BadRows, AreErrorsUnlessTheyAreToBeSkipped) {
  const std::string text = kJobs + "1,0,u,n,1,0,1,1,60,x\n2,soon,u,n,1,0,1,1,60,x\n" +
                           "3,5,u,n,1,0,nan,1,60,x\n4,6,u,n,1,0,1,1,60\n1,7,u,n,1,0,1,1,60,x\n" +
                           "5,8,u,n,1,0,-1,1,60,x\n6,9,u,n,1,0,1,1,1e999,x\n";
  const std::string error = message_of(read_text("muster-csv", text), WorkloadError::invalid);
  EXPECT_THAT(error, IsGoldenAt("trace:3: submit_s", "trace:4: cpu", "trace:5", "trace:6: id",
                                "trace:7: cpu", "trace:8: duration_s"));
  const auto workload = read_text("muster-csv", text, true);
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->jobs.size(), 1U);
  EXPECT_THAT(workload->description,
              HasSubstr("6 bad rows skipped (cpu 2, duration_s 1, id 1, number of fields 1, "
                        "submit_s 1)"));
  EXPECT_THAT(workload->left_out().first_bad, HasSubstr(":3: submit_s:"));
}

TEST(BadRows, GetOneComplaintEach) {
  const std::string error = message_of(
      read_text("swf", swf("0", "0", "9 1") + swf("-3", "0", "9 1") + swf("2e19", "0", "9 1")),
      WorkloadError::invalid);
  EXPECT_THAT(error, AllOf(HasSubstr(":2: job number:"), HasSubstr(":3: job number:"),
                           Not(HasSubstr("already"))));
}

TEST(Times, OfTheCalendarCountFromTheFirstJob) {
  const auto log = read_text("swf", swf("1", "1750000090", "9 1") + swf("2", "1750000000", "9 1"));
  EXPECT_THAT(submissions(log.value()), ElementsAre(Instant{0s}, Instant{90s}));
  const auto own = read_text("muster-csv", kJobs + "1,2026-02-03T04:05:06.5Z,u,n,1,0,1,1,60,x\n" +
                                               "2,2026-02-03 05:05:07+01:00,u,n,1,0,1,1,60,x\n");
  EXPECT_THAT(submissions(own.value()), ElementsAre(Instant{0s}, Instant{500ms}));
  // Plain seconds stay what they are.
  const auto plain = read_text("muster-csv", kJobs + "1,30,u,n,1,0,1,1,60,x\n");
  EXPECT_THAT(submissions(plain.value()), ElementsAre(Instant{30s}));
  EXPECT_THAT(message_of(read_text("muster-csv", kJobs + "1,30,u,n,1,0,1,1,60,x\n" +
                                                     "2,1750000000,u,n,1,0,1,1,60,x\n"),
                         WorkloadError::invalid),
              IsGoldenAt("trace:3"));
}

TEST(Workloads, WithoutJobsAreRefused) {
  EXPECT_THAT(message_of(read_text("muster-csv", kJobs), WorkloadError::invalid),
              HasSubstr("has no jobs"));
  EXPECT_THAT(message_of(read_text("swf", "; nothing\n"), WorkloadError::invalid),
              HasSubstr("has no jobs"));
  EXPECT_THAT(message_of(read_text("swf", swf("1", "0", "0 4")), WorkloadError::invalid),
              IsGolden());
  EXPECT_THAT(message_of(read_text("eva-json", "{}"), WorkloadError::invalid),
              HasSubstr("has no jobs"));
}

TEST(Traces, MayBeAsTheyArePublished) {
  const auto marked = read_text("swf", "\xEF\xBB\xBF; Version: 2\r\n" + swf("1", "0", "9 1"));
  EXPECT_TRUE(marked) << marked.error().message;
  const auto headless =
      read_text("alibaba-2017", "10,16,1,1,3,Terminated,50,0.01\n10,13,1,2,2,Waiting,,\n");
  ASSERT_TRUE(headless) << headless.error().message;
  ASSERT_EQ(headless->jobs.size(), 1U);
  EXPECT_EQ(headless->jobs[0].job.tasks.size(), 3U);
  EXPECT_THAT(headless->left_out().by_reason, ElementsAre(Pair(_, 1)));
  EXPECT_THAT(headless->description, IsGolden());
}

TEST(Traces, ThatNestDeeplyAreRefused) {
  const std::string deep =
      "{\"1\":" + std::string(2'000'000, '[') + std::string(2'000'000, ']') + "}";
  EXPECT_THAT(message_of(read_text("eva-json", deep), WorkloadError::invalid), IsGolden());
  EXPECT_THAT(
      message_of(read_text("eva-json", std::string(2'000'000, '[')), WorkloadError::invalid),
      IsGolden());
}

TEST(Windows, WithoutALengthGoOnToTheEnd) {
  const TempFile file("trace", kJobs + "1,0,u,n,1,0,1,1,60,x\n2,50,u,n,1,0,1,1,60,x\n");
  WorkloadConfig config = reading("muster-csv", file.path());
  config.window.from = 20s;
  const Workload workload = read_workload(config, 1).value();
  EXPECT_THAT(submissions(workload), ElementsAre(Instant{30s}));
  EXPECT_THAT(workload.description, AllOf(HasSubstr("20 s"), IsGolden()));
  config.window.from = 60s;
  EXPECT_THAT(message_of(read_workload(config, 1), WorkloadError::invalid), IsGolden());
}

}  // namespace
}  // namespace muster::replay
