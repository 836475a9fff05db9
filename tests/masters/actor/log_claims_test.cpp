#include "masters/actor/log_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/masters/actor/scripted_places.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Remembers what was lost, and takes all.
class LossSink final : public LogSink {
 public:
  bool take(LogDelivery delivery, Done done) override {
    if (!delivery.lost.empty()) lost.push_back(delivery.lost);
    if (done) done(true);
    return true;
  }
  bool read(const Place&, Use use) override {
    use({});
    return true;
  }
  bool has_removed() const override { return false; }

  std::vector<std::string> lost;
};

class LogClaimsTest : public ::testing::Test {
 protected:
  static constexpr InstanceId kHere{3};
  static constexpr InstanceId kThere{4};

  LogClaimsTest() {
    LogHandover::Host host;
    host.ask = [this](InstanceId on, const LogRequest& request) {
      asked_.push_back(std::to_string(on.value) + ":" + std::to_string(request.task.value));
      return true;
    };
    host.acknowledge = [this](InstanceId on, const LogName& name) {
      settled_.push_back(std::to_string(on.value) + ":" + std::to_string(name.task.value));
    };
    host.free = [](InstanceId) {};
    host.post = [](const std::function<void()>& step) { step(); };
    host.number = [this] { return ++number_; };
    host.now = [] { return Instant{}; };
    host.wake = [](Instant) {};
    handover_ = std::make_unique<LogHandover>(
        sink_, LogHandover::Bounds{std::chrono::seconds{10}, 1'000'000}, std::move(host));
    LogClaims::Host claims;
    claims.is_kept = [this](const LogName&, const std::function<void(bool)>& then) {
      if (!keeper_answers_) return false;
      kept_asked_.push_back(then);
      return true;
    };
    claims.go_on_later = [this] { ++later_; };
    claims_ = std::make_unique<LogClaims>(*handover_, places_, std::move(claims));
  }

  /// Its output is longer than what comes with the report.
  static WorkerReport end_of(std::uint64_t task, InstanceId on, Attempt attempt = 1) {
    WorkerReport report;
    report.instance = on;
    report.task = TaskId{task};
    report.attempt = attempt;
    report.kind = WorkerReportKind::finished;
    report.out_bytes = 1000;
    report.out_tail = "tail";
    return report;
  }
  static AttemptPlace ended_on(InstanceId on, Attempt attempt = 1) {
    return {true, false, attempt, on, {}};
  }

  LossSink sink_;
  std::vector<std::string> asked_, settled_;
  std::uint64_t number_ = 0;
  test::ScriptedPlaces places_;
  std::unique_ptr<LogHandover> handover_;
  std::vector<std::function<void(bool)>> kept_asked_;
  bool keeper_answers_ = true;
  int later_ = 0;
  std::unique_ptr<LogClaims> claims_;
};

TEST_F(LogClaimsTest, AWorkerIsBelievedOfAnAttemptThatIsOnItsInstance) {
  places_.running[{TaskId{1}, 1}] = kHere;
  claims_->note(end_of(1, kHere));
  EXPECT_TRUE(places_.reads.empty());
  EXPECT_TRUE(handover_->begin({TaskId{1}, 1}, kHere));
  EXPECT_THAT(asked_, ElementsAre("3:1"));
}

TEST_F(LogClaimsTest, AWorkerMayNotHandOverWhatRanElsewhere) {
  places_.running[{TaskId{1}, 1}] = kHere;
  places_.of_active_jobs[TaskId{1}] = {true, true, 1, kHere, {}};
  claims_->note(end_of(1, kThere));
  EXPECT_THAT(settled_, ElementsAre("4:1")) << "it need not keep it";
  EXPECT_THAT(sink_.lost, IsEmpty()) << "the attempt still runs, and has its output";
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(LogClaimsTest, WhatIsOverIsLookedUpAndTakenFromWhereItWas) {
  claims_->note(end_of(1, kHere));
  claims_->note(end_of(2, kThere));
  EXPECT_THAT(asked_, IsEmpty());
  places_.read_one(ended_on(kHere));
  EXPECT_THAT(asked_, ElementsAre("3:1"));
  places_.read_one(ended_on(kHere));
  EXPECT_THAT(asked_, ElementsAre("3:1"));
  EXPECT_EQ(sink_.lost.size(), 1U) << "of the other one it is known where it was";
}

TEST_F(LogClaimsTest, OfAnEarlierAttemptTheInstanceIsBelievedUnlessSomeOutputIsKept) {
  places_.here = {kHere};
  claims_->note(end_of(1, kHere, 1));
  claims_->note(end_of(2, kHere, 1));
  places_.read_one(ended_on(kThere, 2));
  places_.read_one(ended_on(kThere, 2));
  ASSERT_EQ(kept_asked_.size(), 2U);
  kept_asked_[0](false);
  EXPECT_THAT(asked_, ElementsAre("3:1"));
  kept_asked_[1](true);
  EXPECT_THAT(asked_, ElementsAre("3:1"));
  EXPECT_THAT(settled_, ElementsAre("3:2"));
}

TEST_F(LogClaimsTest, AnEarlierAttemptOfAnInstanceThatIsGoneIsNotTaken) {
  claims_->note(end_of(1, kHere, 1));
  places_.read_one(ended_on(kThere, 2));
  EXPECT_TRUE(kept_asked_.empty());
  EXPECT_THAT(settled_, ElementsAre("3:1"));
}

TEST_F(LogClaimsTest, SixteenAreLookedUpAtOnceAndTheOthersAfterThem) {
  for (std::uint64_t task = 1; task <= 20; ++task) claims_->note(end_of(task, kHere));
  EXPECT_EQ(places_.reads.size(), 16U);
  EXPECT_EQ(later_, 0);
  places_.read_one(ended_on(kHere));
  EXPECT_EQ(places_.reads.size(), 16U);
  EXPECT_EQ(places_.reads.back().first, TaskId{17});
}

TEST_F(LogClaimsTest, WhatCannotBeLookedUpNowIsLater) {
  places_.most_reads = 0;
  claims_->note(end_of(1, kHere));
  EXPECT_EQ(later_, 1);
  places_.most_reads = 10;
  claims_->go_on();
  ASSERT_EQ(places_.reads.size(), 1U);
  // So it is where those who read for the keeper have too much to do.
  places_.here = {kHere};
  keeper_answers_ = false;
  places_.read_one(ended_on(kThere, 2));
  EXPECT_EQ(later_, 2);
  keeper_answers_ = true;
  claims_->go_on();
  places_.read_one(ended_on(kThere, 2));
  EXPECT_EQ(kept_asked_.size(), 1U);
}

}  // namespace
}  // namespace muster
