#include "actors/link/read_credits.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ReadCreditsTest, TheOtherEndSendsNoMoreFramesThanItHasCredits) {
  ReadCredits credits(2, 1000);
  EXPECT_TRUE(credits.take());
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
}

TEST(ReadCreditsTest, CreditsComeBackWhenAllBeforeTheFenceIsDealtWith) {
  ReadCredits credits(2, 1000);
  ASSERT_TRUE(credits.take());
  credits.hand_on(10, true);
  credits.hand_on(10, false);
  const auto fenced = credits.fence();
  ASSERT_TRUE(fenced);
  EXPECT_EQ(fenced->frames, 1U) << "the other one took none";
  EXPECT_EQ(fenced->bytes, 20U);
  ASSERT_TRUE(credits.take());
  EXPECT_FALSE(credits.take()) << "not before the fence is passed";
  credits.pass(*fenced);
  EXPECT_TRUE(credits.take());
}

TEST(ReadCreditsTest, AFenceIsDueAfterAQuarterOfTheCreditsOrOfTheBytes) {
  ReadCredits frames(8, 1000);
  frames.hand_on(1, true);
  EXPECT_FALSE(frames.wants_fence());
  frames.hand_on(1, true);
  EXPECT_TRUE(frames.wants_fence());
  ReadCredits bytes(8, 1000);
  bytes.hand_on(249, false);
  EXPECT_FALSE(bytes.wants_fence());
  bytes.hand_on(1, false);
  EXPECT_TRUE(bytes.wants_fence());
  ReadCredits one(1, 1000);
  EXPECT_FALSE(one.wants_fence()) << "nothing came";
  one.hand_on(1, true);
  EXPECT_TRUE(one.wants_fence());
}

TEST(ReadCreditsTest, OneFenceIsOpenAtATime) {
  ReadCredits credits(8, 1000);
  credits.hand_on(10, true);
  const auto first = credits.fence();
  credits.hand_on(20, true);
  EXPECT_FALSE(credits.fence());
  credits.pass(*first);
  const auto second = credits.fence();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes, 20U) << "what came while the first one was open";
}

TEST(ReadCreditsTest, ReadingStopsAtTheMostBytesThatMayBeUnread) {
  ReadCredits credits(8, 100);
  credits.hand_on(60, true);
  const auto fenced = credits.fence();
  EXPECT_FALSE(credits.pause_if_full());
  credits.hand_on(40, true);
  EXPECT_TRUE(credits.pause_if_full()) << "what is behind the fence counts, too";
  EXPECT_TRUE(credits.paused());
  credits.pass(*fenced);
  EXPECT_FALSE(credits.pause_if_full());
}

}  // namespace
}  // namespace muster
