#include "schedulers/site/actor/counterparts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using enum AfterEnd;

/// Two masters, of which the first has job 20, whose tasks wait for those of other jobs.
struct CounterpartsTest : ::testing::Test {
  SitePeers peers = two_and_two();
  Steps later;
  std::vector<std::uint64_t> watched, unwatched, started;
  std::vector<JobId> unstarted;
  std::array<CounterpartReport, 2> reports;
  std::array<std::vector<CounterpartQuestion>, 2> asked;
  std::array<bool, 2> answers{true, true};
  std::size_t most = 100;
  std::optional<Counterparts> made;

  Counterparts& counterparts() {
    if (!made) made.emplace(peers, most, host());
    return *made;
  }
  Counterparts::Host host() {
    Counterparts::Host made_host;
    made_host.ask = [this](const HandoffTarget& master, const CounterpartQuestion& question,
                           const Counterparts::Heard& heard) {
      asked[master.index].push_back(question);
      const CounterpartReport report = reports[master.index];
      reports[master.index].unfinished.clear();
      heard(answers[master.index] ? &report : nullptr);
    };
    made_host.watch = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) watched.push_back(job.value);
    };
    made_host.unwatch = [this](const std::vector<JobId>& jobs) {
      for (const JobId job : jobs) unwatched.push_back(job.value);
    };
    made_host.unstarted = [this](JobId after, std::size_t count) {
      std::vector<JobId> some;
      for (const JobId job : unstarted) {
        if ((!after.valid() || after < job) && some.size() < count) some.push_back(job);
      }
      return some;
    };
    made_host.started = [this](JobId job) {
      started.push_back(job.value);
      std::erase(unstarted, job);
    };
    made_host.later = later.taker();
    return made_host;
  }
  void awaits(std::vector<AwaitedJob> after) { reports[0].awaiting = {{JobId{20}, "ann", after}}; }
  static TasksOver part(std::uint64_t job) {
    TasksOver over;
    over.job = JobId{job};
    over.known = true;
    return over;
  }
  void begin() { counterparts().begin(); }
  void pass() { later.run(); }
  void over(std::uint64_t job, JobOutcome outcome) {
    counterparts().hear({JobId{job}, outcome, 0, 3, 3});
  }
  /// Told to the first master last.
  const std::vector<CounterpartsTold>& told() { return asked[0].back().told; }
};

TEST_F(CounterpartsTest, AsksAllMastersForTheJobsThatOthersWaitFor) {
  awaits({{JobId{12}, ok}, {JobId{13}, any}});
  begin();
  EXPECT_THAT(watched, ElementsAre(12, 13));
  pass();
  ASSERT_EQ(asked[1].back().asked.size(), 2U);
  EXPECT_EQ(asked[1].back().asked[0].job, JobId{12});
  EXPECT_EQ(asked[1].back().asked[1].job, JobId{13});
}

TEST_F(CounterpartsTest, TellsTheMasterOfTheWaitingJobWhichTasksMayBegin) {
  awaits({{JobId{12}, ok}});
  reports[1].over = {part(12)};
  reports[1].over[0].ended = 2;
  reports[1].over[0].completed = {{0, 1}};
  begin();
  pass();
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].job, JobId{20});
  EXPECT_THAT(told()[0].met, ElementsAre(IndexRange{0, 1}));
  EXPECT_THAT(told()[0].lost, IsEmpty());
  EXPECT_THAT(asked[1].back().told, IsEmpty()) << "it has nothing of the waiting job";
  pass();
  EXPECT_THAT(told(), IsEmpty()) << "it has been heard";
  EXPECT_EQ(asked[1].back().asked[0].ended, 2U) << "as of which all was told";
}

TEST_F(CounterpartsTest, RepeatsWhatAMasterHasNotHeardOrNotAllOf) {
  awaits({{JobId{12}, ok}});
  reports[1].over = {part(12)};
  reports[1].over[0].completed = {{0, 1}};
  begin();
  answers[0] = false;
  pass();
  EXPECT_EQ(told().size(), 1U);
  answers[0] = true;
  pass();
  EXPECT_EQ(told().size(), 1U) << "no answer came";
  pass();
  EXPECT_THAT(told(), IsEmpty());
  reports[1].over[0].completed = {{0, 5}};
  pass();
  reports[0].unfinished = {JobId{20}};
  const std::size_t before = asked[0].size();
  pass();
  EXPECT_EQ(asked[0].size(), before + 2) << "at once, without a pause";
  EXPECT_THAT(told()[0].met, ElementsAre(IndexRange{2, 5}));
}

TEST_F(CounterpartsTest, ATaskBeginsWhenItHasAllThatItWaitsFor) {
  awaits({{JobId{12}, ok}, {JobId{13}, any}});
  reports[0].over = {part(12), part(13)};
  reports[0].over[0].completed = {{0, 2}};
  reports[0].over[0].failed = {{3, 3}};
  reports[0].over[1].failed = {{1, 3}};
  begin();
  pass();
  pass();
  ASSERT_EQ(told().size(), 1U);
  EXPECT_THAT(told()[0].met, ElementsAre(IndexRange{1, 2}));
  ASSERT_EQ(told()[0].lost.size(), 1U);
  EXPECT_EQ(told()[0].lost[0].of, JobId{12});
  EXPECT_THAT(told()[0].lost[0].tasks, ElementsAre(IndexRange{3, 3}));
}

TEST_F(CounterpartsTest, TasksWithoutACounterpartGoByTheJobAsAWhole) {
  const struct {
    AfterEnd wanted;
    JobOutcome outcome;
    bool begins;
  } kCases[] = {{ok, JobOutcome::completed, true},
                {ok, JobOutcome::cancelled, false},
                {any, JobOutcome::skipped, true},
                {fail, JobOutcome::failed, true},
                {fail, JobOutcome::completed, false}};
  for (const auto& each : kCases) {
    made.reset();
    later = {};
    reports = {};
    awaits({{JobId{12}, each.wanted}});
    begin();
    over(12, each.outcome);
    reports[0].over = reports[1].over = {TasksOver{JobId{12}}};
    reports[1].over[0].known = reports[1].over[0].over = true;
    pass();
    pass();
    ASSERT_EQ(told().size(), 1U) << name_of(each.wanted);
    EXPECT_EQ(!told()[0].met.empty(), each.begins) << name_of(each.wanted);
    EXPECT_EQ(told()[0].lost.empty(), each.begins) << name_of(each.wanted);
  }
}

TEST_F(CounterpartsTest, AJobThatIsOverCountsWhenAllMastersHaveSaidTheirPart) {
  awaits({{JobId{12}, ok}});
  begin();
  over(12, JobOutcome::failed);
  reports[0].over = {TasksOver{JobId{12}}};
  reports[1].over = {part(12)};
  reports[1].over[0].completed = {{0, 0}};
  reports[1].over[0].next = 7;
  pass();
  pass();
  ASSERT_EQ(told().size(), 1U);
  EXPECT_THAT(told()[0].lost, IsEmpty()) << "one has more to tell";
  EXPECT_EQ(asked[1].back().asked[0].from, 7U);
  reports[1].over[0].next = 0;
  reports[1].over[0].over = true;
  pass();  // from its beginning once more: tasks before may have ended since
  pass();
  pass();
  ASSERT_EQ(told().size(), 1U);
  ASSERT_EQ(told()[0].lost.size(), 1U);
  EXPECT_THAT(told()[0].lost[0].tasks, ElementsAre(IndexRange{1, UINT32_MAX}));
  EXPECT_THAT(asked[1].back().asked, IsEmpty()) << "nothing more comes";
}

TEST_F(CounterpartsTest, EndsItsQuestionsWhenNobodyWaits) {
  awaits({{JobId{12}, ok}});
  begin();
  pass();
  reports[0].awaiting.clear();
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(later.size(), 0U);
  EXPECT_THAT(unwatched, ElementsAre(12));
  EXPECT_THAT(counterparts().unneeded({JobId{12}}), ElementsAre(JobId{12}));
}

TEST_F(CounterpartsTest, GoesOnUntilEachMasterHasAnswered) {
  answers[1] = false;
  begin();
  for (int i = 0; i < 50; ++i) pass();
  EXPECT_LT(asked[1].size(), 20U) << "with longer and longer pauses";
  EXPECT_LT(asked[0].size(), 10U) << "which has answered";
  EXPECT_EQ(later.size(), 1U);
  answers[1] = true;
  for (int i = 0; i < 20; ++i) pass();
  EXPECT_EQ(later.size(), 0U);
}

TEST_F(CounterpartsTest, HearsThatAJobHasStarted) {
  unstarted = {JobId{7}};
  reports[1].over = {part(7)};
  begin();
  EXPECT_EQ(asked[0].back().asked.at(0).job, JobId{7});
  EXPECT_THAT(started, IsEmpty());
  reports[1].over[0].started = true;
  pass();
  EXPECT_THAT(started, ElementsAre(7));
  for (int i = 0; i < 10; ++i) pass();
  EXPECT_EQ(later.size(), 0U);
}

TEST_F(CounterpartsTest, ListsOfWaitingJobsGoOnWhereTheyWereCut) {
  reports[0].awaiting = {{JobId{20}, "ann", {{JobId{12}, ok}}}};
  reports[0].more_await = true;
  begin();
  pass();
  EXPECT_EQ(asked[0].back().after, JobId{20});
  reports[0].awaiting = {{JobId{30}, "ann", {{JobId{13}, ok}}}};
  reports[0].more_await = false;
  pass();
  EXPECT_EQ(asked[1].back().asked.size(), 2U) << "job 20 waits still";
  pass();
  EXPECT_FALSE(asked[0].back().after.valid()) << "from its beginning";
}

TEST_F(CounterpartsTest, SeesToSomeJobsAtATime) {
  most = 1;
  reports[0].awaiting = {{JobId{20}, "ann", {{JobId{12}, ok}}},
                         {JobId{30}, "ann", {{JobId{13}, ok}}}};
  begin();
  EXPECT_THAT(watched, ElementsAre(12));
  reports[0].awaiting.erase(reports[0].awaiting.begin());
  pass();
  EXPECT_THAT(watched, ElementsAre(12, 13));
}

TEST_F(CounterpartsTest, AMessageHasSomeRangesOfAJobInAll) {
  awaits({{JobId{12}, ok}});
  reports[1].over = {part(12)};
  for (std::uint32_t i = 0; i < 10'000; i += 4) {
    reports[1].over[0].completed.push_back({i, i});
    reports[1].over[0].failed.push_back({i + 2, i + 2});
  }
  begin();
  pass();
  ASSERT_EQ(told().size(), 1U);
  ASSERT_EQ(told()[0].lost.size(), 1U);
  EXPECT_EQ(told()[0].met.size() + told()[0].lost[0].tasks.size(), 4'096U);
  pass();
  ASSERT_EQ(told()[0].lost.size(), 1U);
  EXPECT_EQ(told()[0].lost[0].tasks.size(), 904U) << "the others";
}

TEST_F(CounterpartsTest, GoesThroughAPartAnewThatIsOverMeanwhile) {
  awaits({{JobId{12}, ok}});
  reports[1].over = {part(12)};
  reports[1].over[0].completed = {{5, 5}};
  reports[1].over[0].next = 7;
  begin();
  pass();
  EXPECT_EQ(asked[1].back().asked[0].from, 7U);
  reports[1].over[0].next = 0;
  reports[1].over[0].over = true;
  pass();
  pass();
  EXPECT_EQ(asked[1].back().asked[0].from, 0U) << "tasks before may have ended since";
}

TEST_F(CounterpartsTest, DoesNotWaitForAMasterThatCannotHaveAnyOfTheJob) {
  awaits({{JobId{12}, ok}});
  answers[1] = false;
  begin();
  over(12, JobOutcome::completed);
  reports[0].over = {part(12)};
  reports[0].over[0].over = true;
  reports[0].over[0].tasks = 3;
  pass();
  pass();
  ASSERT_EQ(told().size(), 1U);
  EXPECT_THAT(told()[0].met, ElementsAre(IndexRange{0, UINT32_MAX}));
}

TEST_F(CounterpartsTest, GoesOnWhereAMasterHasStopped) {
  awaits({{JobId{12}, ok}, {JobId{13}, ok}, {JobId{14}, ok}});
  begin();
  reports[1].asked_to = JobId{12};
  pass();
  reports[1].asked_to = JobId{};
  pass();
  ASSERT_EQ(asked[1].back().asked.size(), 2U);
  EXPECT_EQ(asked[1].back().asked[0].job, JobId{13});
  pass();
  EXPECT_EQ(asked[1].back().asked.size(), 3U) << "from the first one on";
}

TEST_F(CounterpartsTest, OneUserDoesNotTakeAllPlaces) {
  most = 3;
  reports[0].awaiting.clear();
  for (std::uint64_t id = 20; id < 24; ++id) {
    reports[0].awaiting.push_back({JobId{id}, "ann", {{JobId{id - 10}, ok}}});
  }
  reports[0].awaiting.push_back({JobId{30}, "bob", {{JobId{19}, ok}}});
  begin();
  EXPECT_THAT(watched, ElementsAre(10, 11, 19));
}

TEST_F(CounterpartsTest, AMessageHasSomeRangesOfAJob) {
  awaits({{JobId{12}, any}});
  reports[1].over = {part(12)};
  for (std::uint32_t i = 0; i < 10'000; i += 2) {
    reports[1].over[0].completed.push_back({i, i});
  }
  begin();
  IndexRanges all;
  for (int i = 0; i < 5; ++i) {
    pass();
    for (const CounterpartsTold& each : told()) {
      EXPECT_LE(each.met.size(), 4'096U);
      all.add(each.met);
    }
  }
  EXPECT_EQ(all.size(), 5'000U);
}

}  // namespace
}  // namespace muster::test
