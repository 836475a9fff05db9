#include "workers/process/usage_desk.hpp"

#include <gtest/gtest.h>

#include <map>

namespace muster::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A worker whose clock the test turns, and whose shims answer as the test wants.
class UsageDeskTest : public ::testing::Test {
 protected:
  ExecutorHost host() {
    ExecutorHost host;
    host.now = [this] { return now_; };
    host.at = [this](Instant when, std::function<void()> step) {
      timers_.emplace(when, std::move(step));
    };
    return host;
  }
  void pass(Duration time) {
    const Instant until = now_ + time;
    while (!timers_.empty() && timers_.begin()->first <= until) {
      auto due = timers_.extract(timers_.begin());
      now_ = std::max(now_, due.key());
      due.mapped()();
    }
    now_ = until;
  }
  void ask() {
    desk_->ask([this](std::vector<AttemptUsage> said) { answers_.push_back(std::move(said)); });
  }
  /// A shim tells of the first attempt: it has kept that number of processors busy so far.
  void look() {
    ++looks_;
    const Duration at = now_.time_since_epoch();
    if (answers_at_once_) {
      desk_->note(kFirst, {at, {at * 2, 300}, 100});
    }
  }

  static constexpr AttemptKey kFirst{TaskId{1}, 2};

  Instant now_{std::chrono::hours{1}};
  std::multimap<Instant, std::function<void()>> timers_;
  std::vector<std::vector<AttemptUsage>> answers_;
  int looks_ = 0;
  bool answers_at_once_ = true;
  ExecutorHost host_ = host();
  std::unique_ptr<UsageDesk> desk_ = std::make_unique<UsageDesk>(
      host_, [this] { look(); }, [](const AttemptKey&) { return std::uint64_t{4'096}; });
};

TEST_F(UsageDeskTest, WithoutAQuestionNobodyLooks) {
  pass(seconds{100});
  EXPECT_EQ(looks_, 0);
}

TEST_F(UsageDeskTest, TheFirstQuestionIsAnsweredAfterTwoLooks) {
  ask();
  EXPECT_TRUE(answers_.empty());
  pass(seconds{1});
  EXPECT_EQ(looks_, 2);
  ASSERT_EQ(answers_.size(), 1u);
  ASSERT_EQ(answers_[0].size(), 1u);
  const AttemptUsage& usage = answers_[0][0];
  EXPECT_EQ(usage.task, TaskId{1});
  EXPECT_EQ(usage.attempt, 2u);
  EXPECT_EQ(usage.memory_bytes, 100u);
  EXPECT_EQ(usage.so_far.peak_bytes, 300u);
  EXPECT_EQ(usage.disk_bytes, 4'096u);
  ASSERT_TRUE(usage.cores);
  EXPECT_NEAR(*usage.cores, 2, 1e-9);
}

TEST_F(UsageDeskTest, OneLookServesAllWhoAskMeanwhile) {
  ask();
  pass(seconds{2});
  looks_ = 0;
  answers_.clear();
  for (int i = 0; i < 10; ++i) ask();
  pass(UsageDesk::kWait);
  EXPECT_EQ(looks_, 1) << "the one of before is there to compare with";
  EXPECT_EQ(answers_.size(), 10u);
  ask();
  EXPECT_EQ(answers_.size(), 11u) << "a young look answers at once";
  EXPECT_EQ(looks_, 1);
}

TEST_F(UsageDeskTest, ALookOfLongAgoSaysNothingOfThePresent) {
  ask();
  pass(UsageDesk::kOld * 2);
  answers_.clear();
  answers_at_once_ = false;
  ask();
  desk_->note(kFirst, {now_.time_since_epoch(), {now_.time_since_epoch() * 2, 300}, 100});
  pass(seconds{1});
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_FALSE(answers_[0][0].cores) << "the second look was not answered";
}

TEST_F(UsageDeskTest, NothingIsSaidOfAShimThatHasNotAnsweredForLong) {
  ask();
  pass(UsageDesk::kOld * 2);
  answers_.clear();
  answers_at_once_ = false;
  ask();
  pass(seconds{1});
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].empty()) << "its looks are of long ago";
}

TEST_F(UsageDeskTest, LooksThatComeTogetherAreOne) {
  answers_at_once_ = false;
  ask();
  const Duration at = now_.time_since_epoch();
  desk_->note(kFirst, {at, {seconds{1}, 300}, 100});
  desk_->note(kFirst, {at + milliseconds{1}, {seconds{1} + milliseconds{10}, 300}, 100});
  pass(seconds{1});
  ASSERT_EQ(answers_.at(0).size(), 1u);
  EXPECT_FALSE(answers_[0][0].cores) << "ten processors in one millisecond";
}

TEST_F(UsageDeskTest, AnAttemptThatIsOverIsForgotten) {
  ask();
  pass(seconds{1});
  desk_->end(kFirst);
  answers_.clear();
  ask();
  pass(seconds{1});
  ASSERT_EQ(answers_.size(), 1u);
}

TEST_F(UsageDeskTest, MoreQuestionsThanMayWaitAreAnsweredWithWhatIsThere) {
  for (std::size_t i = 0; i < UsageDesk::kMostWaiting; ++i) ask();
  EXPECT_TRUE(answers_.empty());
  ask();
  EXPECT_EQ(answers_.size(), 1u);
  pass(seconds{1});
  EXPECT_EQ(answers_.size(), UsageDesk::kMostWaiting + 1);
}

TEST_F(UsageDeskTest, NothingIsAnsweredOnceItIsGone) {
  ask();
  desk_.reset();
  pass(seconds{1});
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace muster::process
