#include "schedulers/site/actor/load_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct LoadRoundsTest : ::testing::Test {
  SitePeers peers = two_and_two();
  SiteSettings settings;
  PeerLoads loads{peers, settings, 1};
  std::vector<HandoffTarget> asked;
  std::vector<LoadRounds::Answered> open;
  std::vector<Duration> pauses;
  int heard = 0;
  int sleeps = 0;
  bool works = false;
  std::vector<int> taken;
  LoadRounds rounds{peers, loads, settings, host()};

  LoadRounds::Host host() {
    LoadRounds::Host made;
    made.ask = [this](const HandoffTarget& to, const LoadQuestion&, LoadRounds::Answered answered) {
      asked.push_back(to);
      open.push_back(std::move(answered));
    };
    made.heard = [this](const HandoffTarget&, const LoadReport&) { ++heard; };
    made.all_heard = [] {};
    made.has_work = [this] { return works; };
    made.wake = [this](Duration pause) { pauses.push_back(pause); };
    made.sleep = [this] { ++sleeps; };
    return made;
  }
  /// All answer that they have so many jobs.
  void all_answer(std::uint64_t active_jobs) {
    LoadReport report;
    report.active_jobs = active_jobs;
    for (const auto& each : std::exchange(open, {})) each(&report);
  }
  void wait(int name, std::size_t jobs = 1) {
    rounds.await(jobs, [this, name] { taken.push_back(name); });
  }
};

TEST_F(LoadRoundsTest, AsksEverybodyButItself) {
  rounds.ask();
  EXPECT_THAT(asked, ElementsAre(master_at(0), master_at(1), site_at(1)));
  all_answer(1);
  EXPECT_EQ(heard, 3);
}

TEST_F(LoadRoundsTest, AsksAfterPausesThatDoubleWhileNothingIsNew) {
  for (int i = 0; i < 20; ++i) {
    rounds.ask();
    all_answer(1);
  }
  EXPECT_EQ(pauses[0], seconds{1});
  EXPECT_EQ(pauses[1], seconds{2});
  EXPECT_EQ(pauses[2], seconds{4});
  EXPECT_EQ(pauses.back(), hours{6});
  EXPECT_EQ(sleeps, 0) << "a master has jobs";
}

TEST_F(LoadRoundsTest, AsksAfterTheShortestPauseWhileSomethingGoesOn) {
  rounds.ask();
  rounds.ask();
  rounds.note_news();
  rounds.ask();
  EXPECT_EQ(pauses.back(), seconds{1});
  rounds.ask();
  EXPECT_EQ(pauses.back(), seconds{2}) << "the news count once";
  works = true;
  rounds.ask();
  EXPECT_EQ(pauses.back(), seconds{1});
  works = false;
  LoadReport counts;
  counts.counting = 1;
  loads.take(master_at(0), counts, at_s(0));
  rounds.ask();
  EXPECT_EQ(pauses.back(), seconds{1}) << "failed tasks are counted here";
}

TEST_F(LoadRoundsTest, AsksNobodyWhileNoMasterHasAJob) {
  rounds.ask();
  EXPECT_TRUE(rounds.is_fresh());
  all_answer(0);
  EXPECT_EQ(sleeps, 1);
  EXPECT_FALSE(rounds.is_fresh()) << "the next job waits for answers";
}

TEST_F(LoadRoundsTest, GoesOnAskingWhileAMasterIsSilent) {
  rounds.ask();
  const auto all = std::exchange(open, {});
  const LoadReport idle;
  all[0](nullptr);
  all[1](&idle);
  all[2](&idle);
  EXPECT_EQ(sleeps, 0);
  EXPECT_EQ(heard, 2);
}

TEST_F(LoadRoundsTest, TakesJobsInTheirOrderWhenAllHaveAnswered) {
  wait(1);
  wait(2);
  EXPECT_EQ(asked.size(), 3u) << "one round for both";
  EXPECT_FALSE(rounds.is_fresh()) << "nothing overtakes what waits";
  EXPECT_THAT(taken, IsEmpty());
  all_answer(0);
  EXPECT_THAT(taken, ElementsAre(1, 2));
  EXPECT_EQ(sleeps, 0) << "masters will have to tell of these";
  EXPECT_TRUE(rounds.is_fresh());
}

TEST_F(LoadRoundsTest, BoundsWhatWaits) {
  settings.max_unrouted = 10;
  wait(1, 7);
  EXPECT_TRUE(rounds.has_room(3));
  EXPECT_FALSE(rounds.has_room(4));
  all_answer(0);
  EXPECT_TRUE(rounds.has_room(10));
}

TEST_F(LoadRoundsTest, NeverAsksSoonWhereNobodyIsAsked) {
  rounds.ask_soon();
  EXPECT_THAT(pauses, ElementsAre(seconds{1}));
  settings.load_every = {};
  rounds.ask_soon();
  EXPECT_EQ(pauses.size(), 1u);
}

}  // namespace
}  // namespace muster::test
