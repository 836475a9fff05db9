#include "masters/actor/log_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/actor/scripted_places.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;

class LogReadersTest : public ::testing::Test {
 protected:
  static constexpr InstanceId kHere{3};

  LogReadersTest() { make(true); }

  void make(bool is_kept) {
    LogReaders::Host host;
    host.can_ask = [this](InstanceId) { return linked_; };
    host.ask = [this](InstanceId, const LogRequest& request) { asked_.push_back(request); };
    host.number = [this] { return ++number_; };
    host.now = [this] { return now_; };
    host.place_of = [this](const LogName& name) {
      const auto found = coming_.find(name);
      return found == coming_.end() ? std::nullopt : std::optional(found->second);
    };
    host.read_kept = [this](const LogSink::Place&, const LogSink::Use& use) {
      ++kept_read_;
      use(kept_);
      return true;
    };
    host.has_removed = [] { return false; };
    readers_ = std::make_unique<LogReaders>(
        LogReaders::Setup{
            {.most = 3, .of_instance = 2, .age = std::chrono::seconds{10}}, "m", is_kept},
        places_, std::move(host));
  }
  /// Attempt 1 of the task runs on the instance.
  void run(std::uint64_t task, InstanceId on = kHere) {
    places_.running[{TaskId{task}, 1}] = on;
    places_.of_active_jobs[TaskId{task}] = {true, true, 1, on, {}};
  }
  /// It is over, and all that is known of it is the end of its output.
  void end(std::uint64_t task) {
    places_.of_active_jobs[TaskId{task}] = {true, false, 1, kHere, {0, "tail", ""}};
  }
  void read(std::uint64_t task, std::uint64_t number = 7, Attempt attempt = 0) {
    LogRequest request;
    request.number = number;
    request.task = TaskId{task};
    request.attempt = attempt;
    request.max_bytes = 10;
    readers_->read(request, heard_.answer());
  }
  LogAnswer said(const std::string& text) const {
    return {kHere, asked_.back().number, 0, text, true};
  }

  test::ScriptedPlaces places_;
  std::map<LogName, InstanceId> coming_;
  /// Parts of a running attempt's output are kept.
  void keep(std::uint64_t offset, const std::string& text) {
    kept_ = KeptLog{offset, text, offset + text.size(), "", false, true};
  }
  /// The worker's answer to the last question.
  LogAnswer said_at(std::uint64_t offset, const std::string& text, std::uint64_t end) const {
    LogAnswer answer = said(text);
    answer.offset = offset;
    answer.end = end;
    return answer;
  }

  std::optional<KeptLog> kept_;
  int kept_read_ = 0;
  std::vector<LogRequest> asked_;
  std::uint64_t number_ = 100;
  bool linked_ = true;
  Instant now_ = at_s(0);
  test::Answered<LogAnswer> heard_;
  std::unique_ptr<LogReaders> readers_;
};

TEST_F(LogReadersTest, WhatRunsIsAskedOfItsWorkerAndAnsweredByTheReadersOwnNumber) {
  run(1);
  read(1, 7);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_NE(asked_[0].number, 7U);
  EXPECT_EQ(asked_[0].attempt, 1U);
  readers_->hear(said("hello"));
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].number, 7U);
  EXPECT_EQ(heard_.values[0].text, "hello");
  readers_->hear(said("hello"));
  EXPECT_EQ(heard_.values.size(), 1U) << "an answer that comes again is nobody's";
}

TEST_F(LogReadersTest, AWorkerThatDoesNotKnowARunningAttemptYetHasMoreToSay) {
  run(1);
  read(1);
  LogAnswer nothing = said("");
  nothing.unknown = true;
  nothing.more_may_come = false;
  readers_->hear(nothing);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_TRUE(heard_.values[0].more_may_come) << "its order is on its way";
  EXPECT_EQ(heard_.values[0].lost, "");
}

TEST_F(LogReadersTest, NobodyIsToldToCountOnFromAPlaceThatCannotBe) {
  run(1);
  read(1);
  LogAnswer wrong = said("x");
  wrong.offset = LogHandover::kMaxOffset + 1;
  readers_->hear(wrong);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].offset, 0U);
  EXPECT_FALSE(heard_.values[0].more_may_come);
  EXPECT_NE(heard_.values[0].lost, "");
}

TEST_F(LogReadersTest, QuestionsEndWithTheLinkToTheWorker) {
  run(1);
  run(2, InstanceId{4});
  read(1);
  read(2);
  readers_->cut(kHere);
  ASSERT_EQ(heard_.errors.size(), 1U);
  EXPECT_EQ(heard_.errors[0], caf::make_error(ActorError::not_connected));
  readers_->hear(said("of the other instance"));
  EXPECT_EQ(heard_.values.size(), 1U);
}

TEST_F(LogReadersTest, QuestionsHaveBoundsForOneInstanceAndForAll) {
  run(1);
  run(2, InstanceId{4});
  read(1);
  read(1);
  read(1);
  ASSERT_EQ(heard_.errors.size(), 1U) << "two wait for instance 3";
  EXPECT_EQ(heard_.errors[0].code(), static_cast<std::uint8_t>(ActorError::busy));
  read(2);
  read(2);
  EXPECT_EQ(heard_.errors.size(), 2U) << "three wait for all";
  EXPECT_EQ(asked_.size(), 3U);
  // Nobody waits for the old ones any more.
  now_ = at_s(10);
  read(1);
  EXPECT_EQ(asked_.size(), 4U);
  EXPECT_EQ(heard_.errors.size(), 5U);
}

TEST_F(LogReadersTest, OutputThatIsOnItsWayIsAskedOfItsWorker) {
  end(1);
  coming_[{TaskId{1}, 1}] = kHere;
  read(1);
  EXPECT_EQ(asked_.size(), 1U);
  linked_ = false;
  read(1);
  ASSERT_EQ(heard_.errors.size(), 1U);
  EXPECT_EQ(heard_.errors[0], caf::make_error(ActorError::not_connected));
}

TEST_F(LogReadersTest, OutputThatIsAcrossIsReadFromWhereItIsKept) {
  end(1);
  kept_ = KeptLog{2, "cde", 9, "", false};
  read(1);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "cde");
  EXPECT_TRUE(heard_.values[0].more_may_come);
  kept_.reset();
  read(1);
  ASSERT_EQ(heard_.values.size(), 2U);
  EXPECT_EQ(heard_.values[1].text, "tail");
  EXPECT_NE(heard_.values[1].lost, "") << "there was more";
}

TEST_F(LogReadersTest, OfWhatRunsTheKeptPartsComeFirstAndThenTheNewestFromItsWorker) {
  run(1);
  keep(0, "abc");
  read(1);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].offset, 3U);
  EXPECT_EQ(asked_[0].max_bytes, 7U);
  readers_->hear(said_at(3, "def", 6));
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].offset, 0U);
  EXPECT_EQ(heard_.values[0].text, "abcdef");
  EXPECT_EQ(heard_.values[0].end, 6U);
  EXPECT_TRUE(heard_.values[0].more_may_come);
  EXPECT_EQ(heard_.values[0].lost, "");
}

TEST_F(LogReadersTest, KeptPartsAreReadWithoutTheirWorker) {
  run(1);
  keep(0, "abc");
  linked_ = false;
  read(1);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "abc");
  EXPECT_TRUE(heard_.values[0].more_may_come);
  kept_.reset();
  read(1);
  ASSERT_EQ(heard_.values.size(), 2U);
  EXPECT_EQ(heard_.values[1].text, "");
  EXPECT_TRUE(heard_.values[1].more_may_come);
}

TEST_F(LogReadersTest, AGapBehindKeptPartsIsForTheNextQuestion) {
  run(1);
  keep(0, "abc");
  read(1);
  readers_->hear(said_at(5, "fgh", 8));
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "abc");
  EXPECT_EQ(heard_.values[0].end, 8U);
  EXPECT_TRUE(heard_.values[0].more_may_come);
}

TEST_F(LogReadersTest, KeptPartsThatBeginLaterGiveWayToWhatTheWorkerHasBefore) {
  run(1);
  keep(10, "klm");
  read(1);
  EXPECT_EQ(asked_.back().offset, 0U);
  readers_->hear(said_at(2, "cde", 15));
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].offset, 2U);
  EXPECT_EQ(heard_.values[0].text, "cde");
  read(1);
  readers_->hear(said_at(12, "mno", 15));
  ASSERT_EQ(heard_.values.size(), 2U);
  EXPECT_EQ(heard_.values[1].offset, 10U);
  EXPECT_EQ(heard_.values[1].text, "klm");
  EXPECT_EQ(heard_.values[1].end, 15U);
}

TEST_F(LogReadersTest, WhatCameAcrossMeanwhileIsNoGap) {
  run(1);
  read(1);
  keep(0, "abc");
  readers_->hear(said_at(3, "def", 6));
  EXPECT_EQ(heard_.values.size(), 0U) << "the keep is asked once more";
  EXPECT_EQ(asked_.back().offset, 3U);
  readers_->hear(said_at(3, "def", 6));
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "abcdef");
  kept_.reset();
  read(1);
  const int before = kept_read_;
  readers_->hear(said_at(4, "e", 6));
  readers_->hear(said_at(4, "e", 6));
  ASSERT_EQ(heard_.values.size(), 2U);
  EXPECT_EQ(heard_.values[1].offset, 4U);
  EXPECT_EQ(kept_read_, before + 1);
}

TEST_F(LogReadersTest, WhatIsOverAndOnItsWayHasItsKeptPartsToo) {
  end(1);
  coming_[{TaskId{1}, 1}] = kHere;
  keep(0, "abc");
  read(1);
  LogAnswer last = said_at(3, "def", 6);
  last.more_may_come = false;
  readers_->hear(last);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "abcdef");
  EXPECT_FALSE(heard_.values[0].more_may_come);
}

TEST_F(LogReadersTest, PartsOfWhatIsOverAndHasNoRestAreNotAllOfIt) {
  end(1);
  keep(0, "abc");
  read(1);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "abc");
  EXPECT_FALSE(heard_.values[0].more_may_come);
  EXPECT_THAT(heard_.values[0].lost, test::IsGolden());
}

TEST_F(LogReadersTest, WhereNothingIsKeptTheWorkerOrTheTailOfTheReportAnswer) {
  make(false);
  end(1);
  read(1);
  EXPECT_EQ(asked_.size(), 1U);
  linked_ = false;
  read(1);
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "tail");
}

TEST_F(LogReadersTest, WhatNeverWasIsUnknown) {
  end(1);
  read(1, 7, 2);
  places_.of_active_jobs[TaskId{2}] = {};
  read(2);
  ASSERT_EQ(heard_.errors.size(), 2U);
  for (const caf::error& error : heard_.errors) {
    EXPECT_EQ(error.code(), static_cast<std::uint8_t>(ActorError::unknown));
  }
}

TEST_F(LogReadersTest, OfJobsThatAreOverThePlaceIsReadFirst) {
  read(1);
  ASSERT_EQ(places_.reads.size(), 1U);
  kept_ = KeptLog{0, "all", 3, "", false};
  places_.read_one({true, false, 1, kHere, {}});
  ASSERT_EQ(heard_.values.size(), 1U);
  EXPECT_EQ(heard_.values[0].text, "all");
  places_.most_reads = 0;
  read(1);
  ASSERT_EQ(heard_.errors.size(), 1U);
  EXPECT_EQ(heard_.errors[0], caf::make_error(ActorError::store_failed));
}

}  // namespace
}  // namespace muster
