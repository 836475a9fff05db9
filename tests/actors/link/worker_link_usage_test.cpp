#include <gtest/gtest.h>

#include <limits>

#include "actors/link/worker_link_codec.hpp"
#include "tests/actors/link/read_back.hpp"

// Questions for usage as frames, and their answers back.

namespace muster {
namespace {

using test::kMaxBytes;
using test::read_back;

Expected<UsageAnswer, LinkError> back_from(const UsageAnswer& made,
                                           std::size_t max_bytes = kMaxBytes) {
  return read_back<Expected<UsageAnswer, LinkError>>(
      usage_answer_frame(made, max_bytes),
      [](link_wire::Frame::Reader frame) { return read_usage_answer(frame.getUsageAnswer()); });
}

UsageAnswer answer_of(std::size_t attempts) {
  UsageAnswer made{InstanceId{3}, 5, {}};
  for (std::size_t i = 0; i < attempts; ++i) {
    AttemptUsage each{TaskId{i + 1}, 2};
    each.so_far = {std::chrono::seconds{7}, 300};
    each.memory_bytes = 200;
    each.cores = 1.5;
    each.disk_bytes = 11;
    made.attempts.push_back(each);
  }
  return made;
}

TEST(WorkerLinkUsageTest, AnAnswerComesBackAsItWas) {
  UsageAnswer made = answer_of(2);
  made.attempts[1].cores.reset();
  const auto back = back_from(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->instance, made.instance);
  EXPECT_EQ(back->number, made.number);
  EXPECT_EQ(back->attempts, made.attempts);
}

TEST(WorkerLinkUsageTest, AQuestionHasItsNumber) {
  const auto number = read_back<std::uint64_t>(
      usage_frame({9}), [](link_wire::Frame::Reader frame) { return frame.getUsage(); });
  EXPECT_EQ(number, 9u);
}

TEST(WorkerLinkUsageTest, FiguresThatCannotBeAreNotTaken) {
  UsageAnswer made = answer_of(1);
  made.attempts[0].cores = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(back_from(made));
  made.attempts[0].cores = -1;
  EXPECT_FALSE(back_from(made));
  made = answer_of(1);
  made.attempts[0].so_far = {Duration{-5}, ~std::uint64_t{0}};
  const auto back = back_from(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->attempts[0].so_far, (Usage{Duration{}, kMostPeakBytes}));
  made.attempts[0].task = {};
  made.attempts[0].attempt = 0;
  EXPECT_FALSE(back_from(made));
}

TEST(WorkerLinkUsageTest, AttemptsBeyondAFrameAreLeftOut) {
  const auto back = back_from(answer_of(1000), 4096);
  ASSERT_TRUE(back);
  EXPECT_GT(back->attempts.size(), 20u);
  EXPECT_LT(back->attempts.size(), 1000u);
  const auto most = back_from(answer_of(kMostUsageRows + 1));
  ASSERT_TRUE(most);
  EXPECT_EQ(most->attempts.size(), kMostUsageRows);
}

TEST(WorkerLinkUsageTest, AReportOfAnEndHasWhatTheAttemptTook) {
  WorkerReport report;
  report.instance = InstanceId{3};
  report.task = TaskId{4};
  report.attempt = 1;
  report.kind = WorkerReportKind::finished;
  report.used = {std::chrono::seconds{7}, 300};
  const auto back = read_back<Expected<WorkerReport, LinkError>>(
      report_frame(report, kMaxBytes),
      [](link_wire::Frame::Reader frame) { return read_report(frame.getReport()); });
  ASSERT_TRUE(back);
  EXPECT_EQ(back->used, report.used);
}

}  // namespace
}  // namespace muster
