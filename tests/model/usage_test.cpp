#include <gtest/gtest.h>

#include "model/history.hpp"
#include "model/usage_cursor.hpp"

namespace muster {
namespace {

using std::chrono::seconds;

TEST(UsageTest, TimesAddUpAndTheHighestPeakCounts) {
  Usage all;
  EXPECT_FALSE(all.is_known());
  all.add({seconds{3}, 200});
  all.add({seconds{4}, 100});
  EXPECT_EQ(all, (Usage{seconds{7}, 200}));
  EXPECT_TRUE(all.is_known());
}

TEST(UsageTest, AnAmountIsShownInTenthsOfAMiB) {
  EXPECT_EQ(mib_of(std::uint64_t{200} << 20), 200);
  EXPECT_EQ(mib_of((std::uint64_t{1} << 20) + (std::uint64_t{1} << 18)), 1.3);
}

TEST(UsageTest, ATaskHasTheUsageOfAllItsAttempts) {
  TaskHistory task;
  for (Attempt number = 1; number <= 5; ++number) {
    AttemptHistory next;
    next.number = number;
    begin_attempt(task, next, {}, 1);
    AttemptEnding ending{AttemptEnd::failed, {}, 1, ""};
    ending.used = {seconds{number}, 100 * number};
    end_attempt(task, ending, Instant{});
    end_attempt(task, ending, Instant{});
  }
  EXPECT_EQ(task.newest.used, (Usage{seconds{5}, 500}));
  EXPECT_EQ(task.used, (Usage{seconds{15}, 500})) << "also those that are not kept, each once";
}

TEST(UsageCursorTest, APlaceIsReadAsItWasWritten) {
  UsageCursor cursor{2, {{Instant{Duration{1'700'000'000}}, JobId{12}}, 3}};
  EXPECT_EQ(to_text(cursor), "2:1700000000:12:3");
  const auto back = usage_cursor_from(to_text(cursor));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->master, 2u);
  EXPECT_EQ(back->from.job, cursor.from.job);
  EXPECT_EQ(back->from.position, 3u);
  EXPECT_EQ(to_text(UsageCursor{1}), "1");
  ASSERT_TRUE(usage_cursor_from("1"));
  EXPECT_EQ(usage_cursor_from("1")->from.job, JobPlace{});
}

TEST(UsageCursorTest, AnotherTextIsNoPlace) {
  for (const char* text : {"", "x", "-1", "1:", "1:2", "1:2:3", "1:2:3:4:", "1:2:3:4:5", "1:2:3:-4",
                           "99999999999", "1 "}) {
    EXPECT_FALSE(usage_cursor_from(text)) << text;
  }
}

TEST(UsageTest, SumsStopAtTheLongestTimeThatThereIs) {
  Usage sum{Duration::max() - std::chrono::seconds{1}, 5};
  sum.add({std::chrono::hours{1}, 3});
  EXPECT_EQ(sum.cpu, Duration::max());
  EXPECT_EQ(sum.peak_bytes, 5u);
  // A damaged record may say anything.
  sum.cpu = Duration::min();
  sum.add({std::chrono::seconds{1}, 3});
  EXPECT_EQ(sum.cpu, std::chrono::seconds{1});
  sum.add({Duration::min(), 3});
  EXPECT_EQ(sum.cpu, std::chrono::seconds{1});
}

}  // namespace
}  // namespace muster
