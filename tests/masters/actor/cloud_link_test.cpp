#include "masters/actor/cloud_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ClockNews = CloudLink::ClockNews;

/// Reminders every 2 s: an instance is asked after 12 s after its order first, and then at pauses
/// that double up to 100 s.
class CloudLinkTest : public ::testing::Test {
 protected:
  CloudLinkTest() : link_(make_watch(), host()) {}

  static MasterWatch make_watch() {
    MasterWatch watch;
    watch.remind_every = std::chrono::seconds{2};
    watch.ask_pause = std::chrono::seconds{100};
    return watch;
  }
  CloudLink::Host host() {
    CloudLink::Host host;
    host.greet = [this] { ++greeted_; };
    host.now = [this] { return now_; };
    host.wake = [this](Instant when) { wake_ = when; };
    return host;
  }
  /// The cloud's clock shows that much more than ours.
  CloudReport report(CloudReportKind kind, double ahead_s = 0) const {
    CloudReport report;
    report.kind = kind;
    report.now = now_ + from_seconds(ahead_s);
    return report;
  }
  CloudReport changes(CloudReportKind kind, std::initializer_list<std::uint64_t> numbers) const {
    CloudReport told = report(kind);
    for (const std::uint64_t number : numbers) {
      told.changes.push_back({number, now_, {"it3", Market::on_demand, "", {}}});
    }
    return told;
  }
  CloudReport end_after(std::uint64_t change) const {
    CloudReport end = report(CloudReportKind::gone);
    end.last_change = change;
    return end;
  }
  /// The instances that are asked after now; those of `gone` are not there any more.
  std::vector<std::uint64_t> asked(std::set<std::uint64_t> gone = {}) {
    std::vector<std::uint64_t> asked;
    link_.ask_due([&](InstanceId id) {
      if (gone.contains(id.value)) return false;
      asked.push_back(id.value);
      return true;
    });
    return asked;
  }

  int greeted_ = 0;
  Instant now_ = at_s(0);
  std::optional<Instant> wake_;
  CloudLink link_;
};

TEST_F(CloudLinkTest, TheClockIsKnownByTheAnswerToAGreetingAlone) {
  link_.greet();
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::up, 5)), ClockNews::none);
  EXPECT_EQ(link_.ahead(), std::nullopt);
  EXPECT_FALSE(link_.knows_clock());
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::clock, 3)), ClockNews::found);
  EXPECT_TRUE(link_.knows_clock());
  EXPECT_EQ(link_.ahead(), from_seconds(3));
}

TEST_F(CloudLinkTest, TheClockIsAsFarAheadAsAnyWordHasShown) {
  link_.greet();
  link_.hear_clock(report(CloudReportKind::clock, 3));
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::up, 2)), ClockNews::none) << "it took longer";
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::clock, 3)), ClockNews::none);
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::up, 4)), ClockNews::farther);
  EXPECT_EQ(link_.ahead(), from_seconds(4));
}

TEST_F(CloudLinkTest, ACloudThatWasStartedAnewMayHaveAClockThatIsLessAhead) {
  link_.greet();
  link_.hear_clock(report(CloudReportKind::clock, 3));
  link_.greet();
  EXPECT_FALSE(link_.knows_clock());
  EXPECT_EQ(link_.ahead(), from_seconds(3)) << "it counts until the cloud answers";
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::up, 9)), ClockNews::none);
  EXPECT_EQ(link_.hear_clock(report(CloudReportKind::clock, 1)), ClockNews::found);
  EXPECT_EQ(link_.ahead(), from_seconds(1));
}

TEST_F(CloudLinkTest, AGreetingIsRepeatedUntilItIsAnswered) {
  link_.greet();
  link_.greet_again();
  EXPECT_EQ(greeted_, 2);
  link_.hear_clock(report(CloudReportKind::clock));
  link_.greet_again();
  EXPECT_EQ(greeted_, 2);
}

TEST_F(CloudLinkTest, ChangesThatFollowOneAnotherAreHeardAndRepeatedOnesDoNoHarm) {
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::offerings, {1}), 0));
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::offerings, {1, 2}), 1));
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::offerings, {1, 2}), 2));
  EXPECT_FALSE(link_.takes_changes(report(CloudReportKind::up), 2)) << "it has no change";
  EXPECT_EQ(greeted_, 0);
}

TEST_F(CloudLinkTest, AMissingChangeIsAskedForOnceAndNothingIsHeardBeforeTheAnswer) {
  EXPECT_FALSE(link_.takes_changes(changes(CloudReportKind::offerings, {3}), 0));
  EXPECT_EQ(greeted_, 1);
  EXPECT_FALSE(link_.takes_changes(changes(CloudReportKind::offerings, {4}), 0));
  EXPECT_EQ(greeted_, 1) << "the answer is on its way";
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::clock, {1, 2, 3, 4}), 0));
}

TEST_F(CloudLinkTest, AnAnswerIsHeardWhateverItTells) {
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::clock, {3, 4}), 0));
  EXPECT_EQ(greeted_, 0) << "the cloud knows no more";
}

TEST_F(CloudLinkTest, WhatTheAnswerDoesNotTellIsWaitedForNoLonger) {
  EXPECT_FALSE(link_.takes_changes(changes(CloudReportKind::offerings, {7}), 4));
  EXPECT_FALSE(link_.takes_changes(changes(CloudReportKind::clock, {}), 4));
  EXPECT_TRUE(link_.takes_changes(changes(CloudReportKind::offerings, {7}), 4));
  EXPECT_FALSE(link_.takes_changes(changes(CloudReportKind::offerings, {9}), 7))
      << "that is another gap";
  EXPECT_EQ(greeted_, 2);
}

TEST_F(CloudLinkTest, AnEndWaitsForTheChangesThatTheCloudKnewOf) {
  EXPECT_TRUE(link_.takes_end(end_after(2), 2));
  EXPECT_FALSE(link_.owes_end());
  EXPECT_FALSE(link_.takes_end(end_after(3), 2));
  EXPECT_EQ(greeted_, 1);
  EXPECT_FALSE(link_.takes_end(end_after(3), 2)) << "it comes again before the answer";
  EXPECT_EQ(greeted_, 1);
  link_.takes_changes(changes(CloudReportKind::clock, {3}), 2);
  EXPECT_TRUE(link_.owes_end()) << "the cloud is to say it once more";
  EXPECT_FALSE(link_.owes_end());
  EXPECT_TRUE(link_.takes_end(end_after(3), 3));
}

TEST_F(CloudLinkTest, AnEndIsHeardWhereTheCloudHasForgottenTheChangesBeforeIt) {
  EXPECT_FALSE(link_.takes_end(end_after(3), 2));
  link_.takes_changes(changes(CloudReportKind::clock, {}), 2);
  EXPECT_TRUE(link_.takes_end(end_after(3), 2));
}

TEST_F(CloudLinkTest, AnInstanceIsAskedAfterAtPausesThatDoubleUpToTheLongest) {
  link_.ask_later(InstanceId{1});
  EXPECT_EQ(wake_, at_s(12));
  now_ = at_s(5.9);
  EXPECT_THAT(asked(), IsEmpty());
  std::vector<double> at;
  for (int i = 0; i < 6; ++i) {
    now_ = wake_.value();
    at.push_back(to_seconds(now_));
    EXPECT_THAT(asked(), ElementsAre(1));
  }
  EXPECT_THAT(at, ElementsAre(12, 36, 84, 180, 280, 380));
}

TEST_F(CloudLinkTest, WhatIsDueSoonIsAskedForAlongWithTheRest) {
  link_.ask_later(InstanceId{1});
  now_ = at_s(6);
  link_.ask_later(InstanceId{2});
  now_ = at_s(7);
  link_.ask_later(InstanceId{3});
  now_ = at_s(12);
  EXPECT_THAT(asked(), ElementsAre(1, 2));
  EXPECT_EQ(wake_, at_s(19));
}

TEST_F(CloudLinkTest, AnInstanceThatIsGoneIsNotAskedAfterAgain) {
  link_.ask_later(InstanceId{1});
  now_ = at_s(12);
  EXPECT_THAT(asked({1}), IsEmpty());
  now_ = at_s(1000);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(CloudLinkTest, NoMoreThanAThousandAreAskedAfterInOneTurn) {
  for (std::uint64_t id = 1; id <= 1500; ++id) link_.ask_later(InstanceId{id});
  now_ = at_s(12);
  EXPECT_EQ(asked().size(), 1000U);
  EXPECT_EQ(wake_, at_s(12)) << "the others have the next turn";
  EXPECT_EQ(asked().size(), 500U);
}

TEST_F(CloudLinkTest, WhenTheCloudIsBackPausesBeginAnew) {
  link_.ask_later(InstanceId{1});
  now_ = at_s(12);
  asked();
  now_ = at_s(20);
  link_.restart_asks({InstanceId{1}, InstanceId{2}});
  now_ = at_s(32);
  EXPECT_THAT(asked(), ElementsAre(1, 2));
  EXPECT_EQ(wake_, at_s(56));
}

}  // namespace
}  // namespace muster
