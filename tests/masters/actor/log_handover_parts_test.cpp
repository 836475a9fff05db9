#include "tests/masters/actor/log_handover_fixture.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Output of attempts that run.
class LogPartsTest : public test::LogHandoverTest {
 protected:
  static constexpr std::uint64_t kPart = ComingLog::kPartBytes;
  static constexpr std::uint64_t kPiece = ComingLog::kPieceBytes;

  void fill(std::uint64_t task, std::uint64_t out, std::uint64_t err = 0, InstanceId on = kHere) {
    logs_->fill(name(task), on, {out, err});
  }
  /// The last question is answered with as much as it asks for.
  void answer_all() {
    answer(std::string(asked_.back().max_bytes, 'x'), true);
    sink_.finish();
  }
  /// Until the stream is kept up to there.
  void bring(std::uint64_t task, std::uint64_t out) {
    fill(task, out);
    while (sink_.kept[name(task)][0] < out) answer_all();
  }
  /// Where the question is about, and for how much.
  static std::string text_of(const LogRequest& request) {
    return std::string(request.error_stream ? "err " : "out ") + std::to_string(request.offset) +
           "+" + std::to_string(request.max_bytes);
  }
};

TEST_F(LogPartsTest, WhatIsInFullFilesComesWhileTheAttemptRuns) {
  fill(1, 600'000);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(text_of(asked_[0]), "out 0+262144");
  answer_all();
  answer_all();
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(text_of(asked_[2]), "out 524288+75712") << "no further than the files are full";
  answer_all();
  EXPECT_EQ(asked_.size(), 3U);
  const auto& log = sink_.logs[name(1)];
  EXPECT_EQ(log.parts, 1U);
  EXPECT_EQ(log.text[0].size(), 600'000U);
  EXPECT_FALSE(log.whole);
  EXPECT_THAT(settled_, IsEmpty()) << "the attempt runs";
  EXPECT_FALSE(logs_->place_of(name(1)));
  EXPECT_FALSE(logs_->holds(kHere, at_s(0))) << "nothing is to come now";
}

TEST_F(LogPartsTest, BothStreamsCome) {
  fill(1, 10, 20);
  EXPECT_EQ(text_of(asked_.back()), "out 0+10");
  answer_all();
  EXPECT_EQ(text_of(asked_.back()), "err 0+20");
  answer_all();
  EXPECT_EQ(asked_.size(), 2U);
  EXPECT_EQ(sink_.logs[name(1)].parts, 2U);
}

TEST_F(LogPartsTest, WhatIsKeptIsNotAskedForAgain) {
  bring(1, 100);
  const std::size_t before = sink_.looked_up;
  fill(1, 100);
  fill(1, 50);
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(sink_.looked_up, before) << "nor looked up";
  fill(1, 150);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(text_of(asked_.back()), "out 100+50");
}

TEST_F(LogPartsTest, AfterARestartItGoesOnBehindWhatIsKept) {
  bring(1, 100);
  start();
  fill(1, 100);
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_FALSE(logs_->place_of(name(1)));
  fill(1, 150);
  EXPECT_EQ(text_of(asked_.back()), "out 100+50");
}

TEST_F(LogPartsTest, WhenTheAttemptIsOverOnlyTheRestComes) {
  bring(1, 100);
  begin_long(1);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(text_of(asked_.back()), "out 100+262144");
  answer("the rest", false);
  sink_.finish();
  const auto& log = sink_.logs[name(1)];
  EXPECT_EQ(log.text[0], std::string(100, 'x') + "the rest");
  EXPECT_TRUE(log.whole);
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogPartsTest, AfterARestartOnlyTheRestComesToo) {
  bring(1, 100);
  start();
  begin_long(1);
  EXPECT_EQ(text_of(asked_.back()), "out 100+262144");
}

TEST_F(LogPartsTest, AnEndInTheMidstOfAPartLetsItComeFirst) {
  fill(1, 300'000);
  answer_all();
  logs_->note(end_of(1, kHere, 400'000, "tail"));
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_TRUE(logs_->begin(name(1), kHere));
  EXPECT_TRUE(logs_->holds(kHere, at_s(0)));
  answer_all();
  EXPECT_EQ(sink_.logs[name(1)].parts, 1U);
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(text_of(asked_.back()), "out 300000+262144");
  answer(std::string(100'000, 'x'), false);
  sink_.finish();
  EXPECT_EQ(sink_.logs[name(1)].text[0].size(), 400'000U);
  EXPECT_THAT(settled_, ElementsAre("3:1"));
  EXPECT_THAT(freed_, ElementsAre(3));
}

TEST_F(LogPartsTest, AnEndThatIsNotDurableYetIsWaitedFor) {
  fill(1, 10);
  logs_->note(end_of(1, kHere, 400, "tail"));
  answer_all();
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(logs_->place_of(name(1)), kHere);
  EXPECT_TRUE(logs_->begin(name(1), kHere));
  EXPECT_EQ(text_of(asked_.back()), "out 10+262144");
}

TEST_F(LogPartsTest, AnEndThatIsNotOnRecordAnyMoreCountsWhereFilesHaveFilled) {
  fill(1, 10);
  EXPECT_FALSE(logs_->note_unsure(end_of(1, kHere, 400, "tail")));
  EXPECT_TRUE(logs_->begin(name(1), kHere));
  answer_all();
  answer("the rest", false);
  sink_.finish();
  EXPECT_TRUE(sink_.logs[name(1)].whole);
}

TEST_F(LogPartsTest, AnInstanceThatIsGoneTakesWhatHasNotCome) {
  bring(1, 100);
  fill(1, 600'000);
  answer_all();
  fill(2, 10);
  logs_->lose(kHere, "gone");
  EXPECT_EQ(sink_.logs[name(1)].text[0].size(), 100 + kPiece);
  EXPECT_TRUE(sink_.logs[name(1)].whole);
  EXPECT_EQ(sink_.logs[name(1)].lost, "gone");
  EXPECT_EQ(sink_.logs[name(2)].lost, "gone");
  EXPECT_FALSE(logs_->place_of(name(1)));
}

TEST_F(LogPartsTest, WhatTheRingDroppedIsAGapAndNoReasonToAskOn) {
  fill(1, 1'000'000);
  LogAnswer late{kHere, asked_.back().number, 990'000, std::string(10'000, 'x'), true};
  EXPECT_TRUE(logs_->hear(late));
  sink_.finish();
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(sink_.kept[name(1)][0], 1'000'000U);
  fill(1, 2'000'000);
  late = {kHere, asked_.back().number, 5'000'000, "from a later file", true};
  EXPECT_TRUE(logs_->hear(late));
  sink_.finish();
  EXPECT_EQ(asked_.size(), 2U);
  fill(1, 5'000'000);
  EXPECT_EQ(asked_.size(), 2U) << "it is behind that";
}

TEST_F(LogPartsTest, AnAttemptThatFillsFilesWithoutEndLetsOthersHaveTheirTurn) {
  for (std::uint64_t task = 1; task <= 4; ++task) fill(task, 100 * kPart);
  fill(5, 10);
  EXPECT_EQ(times_asked(5, 5), 0U) << "four of an instance come at once";
  for (std::size_t i = 0; i < asked_.size() && times_asked(5, 5) == 0; ++i) {
    ASSERT_LT(i, 4 * kPart / kPiece + 1) << "a part of each at most";
    logs_->hear(
        {kHere, asked_[i].number, asked_[i].offset, std::string(asked_[i].max_bytes, 'x'), true});
    sink_.finish();
  }
  EXPECT_EQ(times_asked(5, 5), 1U);
}

TEST_F(LogPartsTest, AWorkerThatHasLessThanItSaidIsNotAskedForEver) {
  fill(1, 1000);
  answer("", true);
  sink_.finish();
  fill(2, 1000);
  answer("", false, true);
  sink_.finish();
  fill(3, ~std::uint64_t{0});
  for (int i = 0; i < 1000 && logs_->place_of(name(3)); ++i) {
    answer("x", true);
    sink_.finish();
  }
  for (const std::uint64_t task : {1, 2}) {
    EXPECT_FALSE(logs_->place_of(name(task)));
    EXPECT_FALSE(sink_.logs[name(task)].whole) << "it runs on";
  }
  EXPECT_LT(times_asked(3, 3), 1001U);
}

TEST_F(LogPartsTest, WhatTheDiskDoesNotTakeBeginsAnewBehindTheLastPart) {
  bring(1, 100);
  fill(1, 300'000);
  answer_all();
  sink_.takes_nothing = true;
  answer_all();
  EXPECT_EQ(asked_.size(), 3U) << "not without a pause";
  sink_.takes_nothing = false;
  wait_until_s(2);
  ASSERT_EQ(asked_.size(), 4U);
  EXPECT_EQ(text_of(asked_.back()), "out 100+262144");
  EXPECT_FALSE(sink_.logs[name(1)].whole);
}

TEST_F(LogPartsTest, ADiskThatTakesNothingIsTriedWithFewPiecesForEachPause) {
  sink_.takes_nothing = true;
  for (std::uint64_t i = 100; i < 400; ++i) fill(i, 10, 0, InstanceId{i});
  std::size_t answered = 0;
  const auto answer_open = [&] {
    for (; answered < asked_.size(); ++answered) {
      const LogRequest& request = asked_[answered];
      logs_->hear({InstanceId{request.task.value}, request.number, 0, "0123456789", true});
      sink_.finish();
    }
  };
  answer_open();
  EXPECT_LE(asked_.size(), 64U);
  wait_until_s(2);
  answer_open();
  EXPECT_LE(asked_.size(), 128U);
  sink_.takes_nothing = false;
  wait_until_s(4);
  answer_open();
  EXPECT_EQ(sink_.kept.size(), 300U);
}

TEST_F(LogPartsTest, APartGoesOnWhereItWasWhenTheLinkIsThereAgain) {
  fill(1, 600'000);
  answer_all();
  cut_.insert(kHere);
  logs_->cut(kHere);
  fill(1, 600'000);
  cut_.clear();
  logs_->met(kHere);
  EXPECT_EQ(text_of(asked_.back()), "out 262144+262144");
}

TEST_F(LogPartsTest, ALookUpThatCannotBeIsMadeLater) {
  sink_.is_full = true;
  fill(1, 10);
  EXPECT_THAT(asked_, IsEmpty());
  sink_.is_full = false;
  wait_until_s(2);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(LogPartsTest, OutputThatCameWithTheReportFollowsTheParts) {
  fill(1, 4);
  answer("0123", true);
  sink_.finish();
  logs_->note(end_of(1, kHere, 10, "0123456789"));
  EXPECT_TRUE(logs_->begin(name(1), kHere));
  sink_.finish();
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(sink_.logs[name(1)].text[0], "0123456789");
  EXPECT_TRUE(sink_.logs[name(1)].whole);
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

}  // namespace
}  // namespace muster
