#include "tests/masters/actor/log_handover_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IsGolden;
using test::LogHandoverTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(LogHandoverTest, WhatCameWithTheReportIsNotAskedFor) {
  logs_->note(end_of(1, kHere, 5, "short"));
  EXPECT_TRUE(logs_->begin(name(1), kHere));
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_THAT(settled_, IsEmpty()) << "it is not on the disk";
  sink_.finish();
  EXPECT_THAT(settled_, ElementsAre("3:1"));
  EXPECT_EQ(sink_.logs[name(1)].text[0], "short");
  EXPECT_TRUE(sink_.logs[name(1)].whole);
  EXPECT_FALSE(logs_->holds(kHere, at_s(1)));
}

TEST_F(LogHandoverTest, TheRestIsAskedForPieceByPiece) {
  begin_long(1);
  ASSERT_EQ(asked_.size(), 1U);
  answer("one ", true);
  EXPECT_EQ(asked_.size(), 1U) << "the piece before is not on the disk";
  sink_.finish();
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_.back().offset, 4U);
  answer("two", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "one two");
  EXPECT_TRUE(sink_.logs[name(1)].whole);
  EXPECT_EQ(sink_.logs[name(1)].lost, "");
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogHandoverTest, AnInstanceIsHeldUntilAllOfItIsAcross) {
  begin_long(1);
  EXPECT_TRUE(logs_->holds(kHere, at_s(1)));
  EXPECT_FALSE(logs_->holds(kThere, at_s(1)));
  EXPECT_EQ(logs_->next_due(), at_s(10)) << "the question is older than the hold";
  answer("all", false);
  EXPECT_THAT(freed_, IsEmpty());
  sink_.finish();
  EXPECT_THAT(freed_, ElementsAre(3));
  EXPECT_FALSE(logs_->next_due());
}

TEST_F(LogHandoverTest, AnInstanceIsHeldForSoLongAtMostAndTheRestIsLost) {
  begin_long(1);
  EXPECT_TRUE(logs_->holds(kHere, at_s(1)));
  answer("a piece", true);
  sink_.finish();
  wait_until_s(10);
  EXPECT_THAT(freed_, IsEmpty());
  EXPECT_TRUE(logs_->holds(kHere, at_s(10))) << "asked again it is not held for longer";
  wait_until_s(11);
  EXPECT_THAT(freed_, ElementsAre(3));
  EXPECT_FALSE(logs_->holds(kHere, at_s(11)));
  const auto& log = sink_.logs[name(1)];
  EXPECT_EQ(log.text[0], "a piece");
  EXPECT_THAT(log.lost, ::testing::HasSubstr("logs.handover_s"));
}

TEST_F(LogHandoverTest, AnInstanceThatIsGoneLosesWhatIsNotAcross) {
  begin_long(1);
  logs_->note(end_of(2, kHere, 3, "two"));
  logs_->lose(kHere, "gone");
  EXPECT_EQ(sink_.logs[name(1)].lost, "gone");
  EXPECT_EQ(sink_.logs[name(2)].lost, "") << "all of it came with the report";
  EXPECT_EQ(sink_.logs[name(2)].text[0], "two");
  EXPECT_FALSE(logs_->place_of(name(1)));
}

TEST_F(LogHandoverTest, WhatTheKeeperHasIsNotLostWithTheInstance) {
  begin_long(1);
  answer("all", false);
  logs_->lose(kHere, "gone");
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].lost, "");
  EXPECT_EQ(sink_.logs[name(1)].text[0], "all");
}

TEST_F(LogHandoverTest, ItGoesOnWhereItWasWhenTheLinkIsThereAgain) {
  begin_long(1);
  answer("one ", true);
  sink_.finish();
  const LogRequest unanswered = asked_.back();
  cut_.insert(kHere);
  logs_->cut(kHere);
  cut_.clear();
  logs_->met(kHere);
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(asked_.back().offset, 4U);
  EXPECT_FALSE(logs_->hear({kHere, unanswered.number, 4, "late", false}));
  answer("two", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "one two");
}

TEST_F(LogHandoverTest, WorkersThatAreCutOffKeepNobodyElseWaiting) {
  cut_.insert(kThere);
  for (std::uint64_t task = 100; task < 300; ++task) begin_long(task, kThere);
  EXPECT_THAT(asked_, IsEmpty());
  begin_long(1);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(LogHandoverTest, OnlySoManyComeAtOnceAndTheOthersFollow) {
  for (std::uint64_t task = 1; task <= 100; ++task) begin_long(task);
  const std::size_t at_once = asked_.size();
  EXPECT_LT(at_once, 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_LT(i, asked_.size());
    logs_->hear({kHere, asked_[i].number, 0, "x", false});
    sink_.finish();
  }
  EXPECT_EQ(settled_.size(), 100U);
}

TEST_F(LogHandoverTest, AWorkerThatForgotAnAttemptHasLostItsOutput) {
  begin_long(1);
  answer("", false, true);
  sink_.finish();
  EXPECT_THAT(sink_.logs[name(1)].lost, IsGolden());
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogHandoverTest, AWorkerThatNeverStopsIsNotListenedToForEver) {
  begin_long(1);
  for (int i = 0; i < 20 && settled_.empty(); ++i) {
    answer(std::string(100'000, 'x'), true);
    sink_.finish();
  }
  EXPECT_THAT(sink_.logs[name(1)].lost, IsGolden());
  begin_long(2);
  for (int i = 0; i < 1000 && settled_.size() < 2; ++i) {
    answer("x", true);
    sink_.finish();
  }
  EXPECT_EQ(settled_.size(), 2U) << "a byte at a time";
}

TEST_F(LogHandoverTest, NobodySpeaksForAnAttemptThatWasNeverThere) {
  ASSERT_TRUE(logs_->note_unsure(end_of(1, kThere, 4, "lies")));
  EXPECT_FALSE(logs_->note_unsure(end_of(1, kThere, 4, "lies"))) << "it is being looked up";
  EXPECT_TRUE(logs_->begin(name(1), kThere));
  logs_->dismiss(name(1), kThere, {});
  sink_.finish();
  EXPECT_FALSE(sink_.logs.contains(name(1)));
  EXPECT_THAT(settled_, ElementsAre("4:1"));

  ASSERT_TRUE(logs_->note_unsure(end_of(2, kThere, 4, "lies")));
  logs_->note(end_of(2, kHere, 5, "truth"));
  logs_->confirm(name(2), kThere);
  EXPECT_FALSE(logs_->begin(name(2), kThere));
  EXPECT_TRUE(logs_->begin(name(2), kHere));
  EXPECT_EQ(sink_.logs[name(2)].text[0], "truth");
}

TEST_F(LogHandoverTest, AfterARestartAnInstanceIsHeldUntilItsWorkerHasSaidWhatItHas) {
  logs_->expect(kHere);
  EXPECT_TRUE(logs_->holds(kHere, at_s(1)));
  ASSERT_TRUE(logs_->note_unsure(end_of(1, kHere, 1000, "tail")));
  logs_->met(kHere);
  EXPECT_THAT(freed_, IsEmpty()) << "it is being looked up";
  logs_->confirm(name(1), kHere);
  answer("all", false);
  sink_.finish();
  EXPECT_THAT(freed_, ElementsAre(3));
}

TEST_F(LogHandoverTest, WhatADismissedWorkerSpokeForGoesOnRecordWithTheReason) {
  ASSERT_TRUE(logs_->note_unsure(end_of(1, kThere, 4, "lies")));
  logs_->dismiss(name(1), kThere, "it was elsewhere");
  EXPECT_EQ(sink_.logs[name(1)].lost, "it was elsewhere");
  EXPECT_EQ(sink_.logs[name(1)].text[0], "");
  EXPECT_THAT(settled_, ElementsAre("4:1"));
}

TEST_F(LogHandoverTest, WhatTheDiskDoesNotTakeIsBroughtAgain) {
  begin_long(1);
  EXPECT_TRUE(logs_->holds(kHere, at_s(0)));
  sink_.takes_nothing = true;
  answer("one ", true);
  sink_.finish();
  EXPECT_THAT(settled_, IsEmpty()) << "the worker has to keep it";
  EXPECT_THAT(freed_, IsEmpty());
  EXPECT_EQ(asked_.size(), 1U) << "not without a pause";
  sink_.takes_nothing = false;
  wait_until_s(2);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_.back().offset, 0U);
  answer("one two", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "one two");
  EXPECT_EQ(sink_.logs[name(1)].lost, "");
  EXPECT_THAT(freed_, ElementsAre(3));
}

TEST_F(LogHandoverTest, WhatCameWithTheReportIsKeptUntilTheDiskTakesIt) {
  sink_.takes_nothing = true;
  logs_->note(end_of(1, kHere, 5, "short"));
  logs_->begin(name(1), kHere);
  sink_.finish();
  EXPECT_THAT(settled_, IsEmpty());
  sink_.takes_nothing = false;
  wait_until_s(2);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "short");
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogHandoverTest, AFullDiskIsTheReasonWhenAnInstanceIsHeldNoLonger) {
  begin_long(1);
  EXPECT_TRUE(logs_->holds(kHere, at_s(0)));
  sink_.takes_nothing = true;
  answer("one ", true);
  sink_.finish();
  sink_.takes_nothing = false;
  wait_until_s(10);
  EXPECT_THAT(freed_, ElementsAre(3));
  EXPECT_EQ(sink_.logs[name(1)].lost, kDiskTookNothing);
}

TEST_F(LogHandoverTest, AKeeperWithTooMuchToDoGetsThePieceLater) {
  begin_long(1);
  answer("one ", true);
  sink_.finish();
  sink_.is_full = true;
  answer("two", false);
  EXPECT_THAT(settled_, IsEmpty());
  sink_.is_full = false;
  wait_until_s(2);
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(asked_.back().offset, 4U) << "the first piece is with the keeper";
  answer("two", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "one two");
}

TEST_F(LogHandoverTest, AWorkerThatAnswersNothingKeepsNobodyElseWaiting) {
  for (std::uint64_t task = 100; task < 300; ++task) begin_long(task, kThere);
  EXPECT_LE(asked_.size(), 8U);
  begin_long(1);
  EXPECT_EQ(times_asked(1, 1), 1U);
}

TEST_F(LogHandoverTest, ManyWorkersThatAnswerNothingDoNotStopItForGood) {
  for (std::uint64_t i = 100; i < 300; ++i) begin_long(i, InstanceId{i});
  begin_long(1);
  EXPECT_EQ(times_asked(1, 1), 0U) << "all places are taken";
  for (int turn = 1; turn <= 20 && times_asked(1, 1) == 0; ++turn) wait_until_s(10 * turn);
  ASSERT_EQ(times_asked(1, 1), 1U);
  const auto asked = std::find_if(asked_.begin(), asked_.end(), [](const LogRequest& request) {
    return request.task == TaskId{1};
  });
  EXPECT_TRUE(logs_->hear({kHere, asked->number, 0, "all", false}));
  sink_.finish();
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogHandoverTest, InstancesAreServedInTurn) {
  for (std::uint64_t task = 100; task < 300; ++task) begin_long(task, kThere);
  for (std::uint64_t task = 1; task <= 8; ++task) begin_long(task, kHere);
  const std::size_t first = times_asked(1, 8);
  EXPECT_GE(first, 2U);
  for (std::size_t i = 0; i < asked_.size() && times_asked(1, 8) < 8; ++i) {
    const bool here = asked_[i].task.value < 100;
    logs_->hear({here ? kHere : kThere, asked_[i].number, 0, "x", false});
    sink_.finish();
  }
  EXPECT_EQ(times_asked(1, 8), 8U);
  EXPECT_LT(times_asked(100, 299), 30U);
}

TEST_F(LogHandoverTest, AQuestionThatIsOverdueIsAskedAgain) {
  begin_long(1);
  EXPECT_EQ(logs_->next_due(), at_s(10));
  wait_until_s(10);
  EXPECT_EQ(asked_.size(), 1U);
  wait_until_s(20);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_FALSE(logs_->hear({kHere, asked_.front().number, 0, "late", false}));
  answer("all", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "all");
}

TEST_F(LogHandoverTest, AWorkerCannotSpeakOfPlacesThatNoStreamReaches) {
  for (const std::uint64_t offset : {~std::uint64_t{0}, (std::uint64_t{1} << 63) + 1}) {
    begin_long(offset % 1000);
    EXPECT_TRUE(logs_->hear({kHere, asked_.back().number, offset, "x", true}));
    sink_.finish();
    EXPECT_THAT(sink_.logs[name(offset % 1000)].lost, IsGolden());
    EXPECT_EQ(sink_.logs[name(offset % 1000)].text[0], "");
  }
}

TEST_F(LogHandoverTest, NobodyAnswersForAnotherInstance) {
  begin_long(1);
  EXPECT_TRUE(logs_->hear({kThere, asked_.back().number, 0, "lies", false}));
  answer("all", false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0], "all");
}

}  // namespace
}  // namespace muster
