#include "schedulers/site/actor/job_intake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedulers/site/site_parts.hpp"
#include "tests/support/golden.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct JobIntakeTest : ::testing::Test {
  SiteParts parts;
  SiteSettings settings;
  HandoffTarget site = site_at(0);  ///< that is to see to all jobs
  std::vector<std::string> said;
  std::vector<std::string> handed;
  std::vector<Handoffs::Done> out;
  Steps later;
  std::vector<LoadRounds::Answered> loads_asked;
  std::vector<Job> waits;
  std::vector<std::uint64_t> begun;
  std::vector<std::uint64_t> runs;
  std::set<JobId> held;     ///< jobs that are not to begin
  std::vector<JobId> kept;  ///< jobs that wait for a resubmission of job 1
  bool unheard = false;     ///< they do not know yet how it ended
  std::vector<std::pair<std::uint64_t, std::uint64_t>> again;
  bool room = true;  ///< for jobs that wait for others
  int now_s = 7;

  JobNumbers numbers{
      parts.peers, parts.writer, 100, {parts.retries.taker(), [] {}, parts.noting()}};
  PeerLoads loads{parts.peers, settings, 1};
  LoadRounds rounds{parts.peers, loads, settings, rounds_host()};
  Handoffs handoffs{parts.peers, parts.store, 500, handoffs_host()};
  JobIntake intake{{parts.peers, parts.writer, numbers, rounds, handoffs}, settings, host()};

  LoadRounds::Host rounds_host() {
    return {[this](const HandoffTarget&, const LoadQuestion&, LoadRounds::Answered answered) {
              loads_asked.push_back(std::move(answered));
            },
            [](const HandoffTarget&, const LoadReport&) {},
            [] {},
            [] { return false; },
            [](Duration) {},
            [] {}};
  }
  Handoffs::Host handoffs_host() {
    return {[this](const HandoffTarget& to, const std::vector<Job>& jobs, Handoffs::Done done) {
              for (const Job& job : jobs) {
                handed.push_back(parts.peers.name_of(to) + " " + std::to_string(job.id.value));
              }
              out.push_back(std::move(done));
            },
            [](const HandoffTarget&, const std::vector<JobId>&, const Handoffs::Verdicts&) {},
            parts.retries.taker(), parts.noting()};
  }
  JobIntake::Host host() {
    JobIntake::Host made;
    made.choose_site = [this](const Job&) { return site; };
    made.split = [](const Job& job) { return std::vector<Handoff>{{job, master_at(0)}}; };
    made.after = [this](Duration, std::function<void()> step) { later.taker()(std::move(step)); };
    made.waits = [this](const Job& job) { waits.push_back(job); };
    made.all_wait = [] {};
    made.begun = [this](JobId job) { begun.push_back(job.value); };
    made.has_room = [this](const std::vector<Job>& jobs) {
      return room || std::ranges::all_of(jobs, [](const Job& job) { return job.after.empty(); });
    };
    made.recurred = [this](JobId, JobId run) { runs.push_back(run.value); };
    made.may_begin = [this](JobId job) { return !held.contains(job); };
    made.kept_for = [this](JobId failed, JobId job, std::size_t) {
      std::vector<WaitingPair> pairs;
      if (failed != JobId{1}) return pairs;
      for (const JobId each : kept) {
        pairs.push_back({.job = each, .other = failed, .instead = job, .unheard = unheard});
      }
      return pairs;
    };
    made.resubmitted = [this](JobId failed, JobId job) {
      again.emplace_back(failed.value, job.value);
    };
    made.now = [this] { return Instant{std::chrono::seconds{now_s}}; };
    return made;
  }
  void submit(std::vector<Job> jobs, bool forwarded = false) {
    intake.submit(std::move(jobs), forwarded, [this](const auto& outcome) {
      if (!outcome) {
        return said.push_back(to_string(outcome.error().code) + ": " + outcome.error().message);
      }
      for (const SubmitVerdict& each : outcome.value()) {
        const std::string id = std::to_string(each.job.value);
        said.push_back(each.accepted ? "job " + id : "not " + id + ": " + each.reason);
      }
    });
  }
  Job stored(std::uint64_t id) const {
    for (const Handoff& each : parts.store.memory.handoffs) {
      if (each.job.id == JobId{id}) return each.job;
    }
    return {};
  }
  static Job with_token(const std::string& token, std::size_t tasks = 1) {
    Job job = job_of(0, tasks);
    job.token = token;
    return job;
  }
  void restart_with(const SiteMemory& memory) {
    intake.recall(memory.tokens, memory.forwarded, memory.handoffs);
  }
};

TEST_F(JobIntakeTest, SaysAndSendsNothingBeforeItIsDurable) {
  parts.store.slow = true;
  submit({job_of(0), job_of(0)});
  EXPECT_THAT(handed, IsEmpty());
  parts.end_write();
  EXPECT_THAT(handed, ElementsAre("m0 1", "m0 2"));
  EXPECT_THAT(said, IsEmpty()) << "their master may have them in a moment";
  out.front()(Handoffs::Verdicts{{JobId{1}, true, {}}, {JobId{2}, true, {}}});
  EXPECT_THAT(said, ElementsAre("job 1", "job 2"));
}

TEST_F(JobIntakeTest, KeepsAJobThatWaitsForAnotherUntilItMayBegin) {
  settings.promise_wait = {};
  Job second = job_of(0);
  second.after = {{{}, AfterEnd::any, 2}};
  submit({second, job_of(0)});
  EXPECT_THAT(said, ElementsAre("job 1", "job 2"));
  EXPECT_THAT(handed, ElementsAre("m0 2"));
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].after, (std::vector<AfterJob>{{JobId{2}, AfterEnd::any}}));
  EXPECT_EQ(handoffs.jobs_in_hand(), 1u) << "the other one is no load";
  EXPECT_EQ(parts.store.memory.handoffs.size(), 2u);
  out.back()(Handoffs::Verdicts{{JobId{2}, true, {}}});
  intake.begin({JobId{1}});
  EXPECT_THAT(handed, ElementsAre("m0 2", "m0 1"));
  EXPECT_THAT(begun, ElementsAre(1));
  ASSERT_EQ(parts.store.memory.handoffs.size(), 1u);
  EXPECT_EQ(parts.store.memory.handoffs[0].to, master_at(0));
  intake.begin({JobId{1}});
  EXPECT_EQ(handed.size(), 2u) << "it has begun already";
}

TEST_F(JobIntakeTest, RefusesADeadlineThatHasPassedButForOneThatItHasTaken) {
  settings.promise_wait = {};
  const auto until = [](const std::string& token, int second) {
    Job job = with_token(token);
    job.held = true;
    job.deadline = Instant{std::chrono::seconds{second}};
    return job;
  };
  submit({until("a", 8), until("b", 7)});
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0].substr(said[0].find('/')), IsGoldenAt("/jobs/1/deadline"));
  EXPECT_EQ(said[1], said[0]);
  EXPECT_EQ(parts.store.memory.next_job, 0u) << "nothing is taken";
  submit({until("a", 8)});
  now_s = 9;
  submit({until("a", 8)});
  EXPECT_EQ(said[3], said[2]) << "it is known by its token";
  submit({until("b", 8)}, true);
  EXPECT_EQ(said.back().substr(0, 3), "job") << "another site has taken it";
}

TEST_F(JobIntakeTest, BeginsAWaitingJobAgainWhenThatCouldNotBeKept) {
  Job waiting = job_of(0);
  waiting.after = {{JobId{99}}};
  submit({waiting});
  parts.store.trouble = "disk full";
  intake.begin({JobId{1}});
  EXPECT_THAT(handed, IsEmpty());
  EXPECT_EQ(handoffs.jobs_waiting(), 1u);
  parts.store.trouble.clear();
  later.run();
  EXPECT_THAT(handed, ElementsAre("m0 1"));
  EXPECT_EQ(handoffs.jobs_waiting(), 0u);
}

TEST_F(JobIntakeTest, RemembersAWaitingJob) {
  Job waiting = job_of(4);
  waiting.after = {{JobId{2}}};
  SiteMemory memory;
  memory.handoffs = {{waiting, site_at(0)}, {job_of(5), master_at(0)}};
  restart_with(memory);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].id, JobId{4});
  EXPECT_EQ(handoffs.jobs_waiting(), 1u);
  EXPECT_FALSE(handoffs.find(site_at(0), JobId{4})->sent) << "a cancel may end it here";
}

TEST_F(JobIntakeTest, RefusesToWaitForWhatIsNotThere) {
  Job waiting = job_of(0);
  waiting.after = {{{}, AfterEnd::ok, 2}};
  submit({waiting});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].substr(0, 4), "not ");
  room = false;
  waiting.after = {{JobId{7}}};
  submit({waiting});
  EXPECT_EQ(said.back(), to_string(ActorError::too_many) + ": ");
  settings.promise_wait = {};
  waiting.id = JobId{1'000'000'001};
  submit({waiting}, true);
  EXPECT_EQ(said.back(), "job 1000000001") << "it has waited at its site";
}

TEST_F(JobIntakeTest, BeginsManyInPiecesThatTheStoreTakes) {
  std::vector<Job> many(1'100, job_of(0));
  std::vector<JobId> ids;
  for (Job& job : many) {
    job.after = {{JobId{5'000}}};
    ids.push_back(JobId{ids.size() + 1});
  }
  settings.promise_wait = {};
  submit(many);
  parts.store.slow = true;
  intake.begin(ids);
  ASSERT_EQ(parts.store.waiting.size(), 1U);
  EXPECT_EQ(parts.store.waiting[0].news.begun.size(), 500U);
  EXPECT_EQ(parts.store.waiting[0].news.handoffs.size(), 500U);
  parts.end_write("disk full");
  EXPECT_EQ(handoffs.jobs_waiting(), 1'100U);
  later.run();
  ASSERT_EQ(parts.store.waiting.size(), 1U);
  EXPECT_EQ(parts.store.waiting[0].news.begun.size(), 500U);
  parts.end_write();  // the others are written at once
  EXPECT_EQ(handoffs.jobs_waiting(), 0U);
  EXPECT_EQ(begun.size(), 1'100U);
}

TEST_F(JobIntakeTest, ARecurringJobWaitsOnWhenARunOfItHasBegun) {
  settings.promise_wait = {};
  Job daily = with_token("nightly");
  daily.every = "0 3 * * *";
  daily.zone = "UTC";
  submit({daily});
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_THAT(handed, IsEmpty());
  intake.begin({JobId{1}});
  EXPECT_THAT(handed, ElementsAre("m0 2"));
  EXPECT_THAT(runs, ElementsAre(2));
  EXPECT_THAT(begun, IsEmpty());
  const Job& run = handoffs.find(master_at(0), JobId{2})->job;
  EXPECT_EQ(run.recurs, JobId{1});
  EXPECT_EQ(run.every + run.zone + run.token, "");
  EXPECT_EQ(run.tasks.front().id, task_id_of(JobId{2}, 0));
  ASSERT_EQ(parts.store.memory.handoffs.size(), 2U);
  const Job& kept_job = parts.store.memory.handoffs[1].job;
  EXPECT_EQ(kept_job.id, JobId{1});
  EXPECT_EQ(kept_job.recurs, JobId{2});
  EXPECT_EQ(kept_job.begin, Instant{std::chrono::seconds{7}}) << "no run twice after a restart";
  EXPECT_EQ(handoffs.find(site_at(0), JobId{1})->job, kept_job);
  EXPECT_GE(parts.store.memory.next_job, 3U);
  intake.begin({JobId{1}});
  EXPECT_THAT(runs, ElementsAre(2, 3));
}

TEST_F(JobIntakeTest, ARunThatCouldNotBeKeptIsMadeOnceMore) {
  settings.promise_wait = {};
  Job daily = job_of(0);
  daily.every = "0 3 * * *";
  submit({daily});
  parts.store.trouble = "disk full";
  intake.begin({JobId{1}});
  EXPECT_THAT(runs, IsEmpty());
  parts.store.trouble.clear();
  later.run();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(handed.size(), 1U);
}

TEST_F(JobIntakeTest, AJobThatIsHeldBeforeItLeavesStays) {
  settings.promise_wait = {};
  Job waiting = job_of(0);
  waiting.after = {{JobId{99}}};
  submit({waiting, waiting});
  held = {JobId{1}};
  intake.begin({JobId{1}, JobId{2}});
  EXPECT_THAT(handed, ElementsAre("m0 2"));
  EXPECT_EQ(handoffs.jobs_waiting(), 1U);
  EXPECT_FALSE(handoffs.find(site_at(0), JobId{1})->sent) << "a cancel may end it here";
}

TEST_F(JobIntakeTest, AJobOfALaterTimeOrThatIsHeldWaitsHere) {
  settings.promise_wait = {};
  Job later_job = job_of(0), past = job_of(0), held = job_of(0);
  later_job.begin = Instant{std::chrono::seconds{8}};
  past.begin = Instant{std::chrono::seconds{7}};
  held.held = true;
  submit({later_job, past, held});
  EXPECT_THAT(handed, ElementsAre("m0 2"));
  EXPECT_EQ(waits.size(), 2U);
}

TEST_F(JobIntakeTest, JobsThatWaitForAResubmissionWaitForItFromItsWriteOn) {
  settings.promise_wait = {};
  Job waiting = job_of(0);
  waiting.after = {{JobId{1}}, {JobId{9}}};
  waiting.keeps_waiting = true;
  submit({job_of(0), waiting});
  kept = {JobId{2}};
  Job resubmitted = job_of(0);
  resubmitted.again_of = JobId{1};
  submit({resubmitted});
  EXPECT_THAT(again, ElementsAre(std::pair{1U, 3U}));
  std::vector<AfterJob> wanted{{JobId{3}}, {JobId{9}}};
  wanted[0].first = JobId{1};
  EXPECT_EQ(stored(2).after, wanted);
  EXPECT_EQ(waits.size(), 1U) << "it waits already";
}

TEST_F(JobIntakeTest, AResubmissionThatComesBeforeTheFailureIsHeardIsWrittenWithTheJob) {
  settings.promise_wait = {};
  Job waiting = job_of(0);
  waiting.after = {{JobId{1}}};
  waiting.keeps_waiting = true;
  submit({job_of(0), waiting});
  kept = {JobId{2}};
  unheard = true;
  Job resubmitted = job_of(0);
  resubmitted.again_of = JobId{1};
  submit({resubmitted});
  EXPECT_EQ(stored(2).after.at(0).job, JobId{1}) << "it may yet end well";
  EXPECT_EQ(stored(2).after.at(0).again, JobId{3});
}

TEST_F(JobIntakeTest, SaysWhenAJobCameWhereItIsTo) {
  const auto submitted = [&](std::uint64_t id) {
    submit({job_of(0)});
    return handoffs.find(master_at(0), JobId{id})->job.submitted;
  };
  EXPECT_EQ(submitted(1), std::nullopt);
  settings.says_when = true;
  EXPECT_EQ(submitted(2), Instant{std::chrono::seconds{7}});
}

TEST_F(JobIntakeTest, AnswersAfterAWhileThoughNoMasterDoes) {
  submit({job_of(0)});
  EXPECT_THAT(said, IsEmpty());
  later.run();
  EXPECT_THAT(said, ElementsAre("job 1"));
  out.front()(Handoffs::Verdicts{{JobId{1}, true, {}}});
  EXPECT_EQ(said.size(), 1u);
}

TEST_F(JobIntakeTest, WaitsForNoMasterWhereItIsNotTo) {
  settings.promise_wait = {};
  submit({job_of(0)});
  EXPECT_THAT(said, ElementsAre("job 1"));
}

TEST_F(JobIntakeTest, SendsNothingThatCouldNotBeKept) {
  parts.store.trouble = "disk full";
  submit({with_token("a")});
  EXPECT_THAT(handed, IsEmpty());
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::store_failed) + ": disk full"));
  parts.store.trouble.clear();
  settings.promise_wait = {};
  submit({with_token("a")});
  EXPECT_EQ(said.back(), "job 2") << "the first number is spent";
}

TEST_F(JobIntakeTest, WaitsForAPeerThatWasNeverHeardThroughTheFirstAskings) {
  const auto answer_all = [&](const LoadReport* report) {
    for (const auto& answered : std::exchange(loads_asked, {})) answered(report);
  };
  rounds.ask();
  answer_all(nullptr);  // no link is there yet
  submit({job_of(0)});
  EXPECT_THAT(handed, IsEmpty());
  const LoadReport report;
  for (const HandoffTarget& each : parts.peers.all()) loads.take(each, report, Instant{});
  answer_all(&report);
  EXPECT_THAT(handed, ElementsAre("m0 1"));
}

TEST_F(JobIntakeTest, GoesOnWithoutAPeerThatIsAway) {
  for (int asking = 0; asking < 10; ++asking) {
    rounds.ask();
    for (const auto& answered : std::exchange(loads_asked, {})) answered(nullptr);
  }
  rounds.ask_soon();
  submit({job_of(0)});
  EXPECT_THAT(handed, ElementsAre("m0 1"));
}

TEST_F(JobIntakeTest, GivesARepetitionTheFirstAnswer) {
  settings.promise_wait = {};
  submit({with_token("a")});
  submit({with_token("a"), with_token("b")});
  EXPECT_THAT(said, ElementsAre("job 1", "job 1", "job 2"));
  out.front()(Handoffs::Verdicts{{JobId{1}, true, {}}});
  EXPECT_THAT(handed, ElementsAre("m0 1", "m0 2")) << "each once";
}

TEST_F(JobIntakeTest, LetsARepetitionShareTheFateOfTheFirstWrite) {
  settings.promise_wait = {};
  parts.store.slow = true;
  submit({with_token("a")});
  submit({with_token("a")});
  EXPECT_THAT(said, IsEmpty());
  EXPECT_EQ(parts.store.waiting.size(), 1u) << "there is nothing new to keep";
  parts.end_write("disk full");
  EXPECT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], said[1]);
}

TEST_F(JobIntakeTest, TakesNothingOfASubmissionWithAnotherJobsToken) {
  settings.promise_wait = {};
  submit({with_token("a")});
  submit({with_token("b"), with_token("a", 2)});
  EXPECT_THAT(said.back(), ::testing::HasSubstr("\"a\" is that"));
  submit({with_token("c"), with_token("c", 2)});
  EXPECT_THAT(said.back(), ::testing::HasSubstr("\"c\" stands for two"));
  EXPECT_THAT(handed, ElementsAre("m0 1"));
}

TEST_F(JobIntakeTest, KnowsTokensAndHandsOverAfterARestart) {
  Job first = with_token("a");
  first.id = JobId{1};
  restart_with({{{first, master_at(1)}}, {{"a", JobId{1}, std::nullopt}}, 2, {}});
  EXPECT_TRUE(handoffs.find(master_at(1), JobId{1})->sent) << "it may have left";
  submit({with_token("a")});
  EXPECT_THAT(said, ElementsAre("job 1"));
}

TEST_F(JobIntakeTest, LeavesJobsToAnotherSiteWhole) {
  site = site_at(1);
  submit({job_of(0, 3)});
  EXPECT_THAT(handed, ElementsAre("london 1"));
}

TEST_F(JobIntakeTest, KnowsForEverWhatAnotherSiteHasLeftToIt) {
  settings.promise_wait = {};
  const Job job = job_of(1'000'000'001);
  submit({job}, true);
  submit({job}, true);
  EXPECT_THAT(said, ElementsAre("job 1000000001", "job 1000000001"));
  EXPECT_THAT(handed, ElementsAre("m0 1000000001"));
  Job other = job;
  other.user = "bob";
  submit({other}, true);
  EXPECT_THAT(said.back(), ::testing::StartsWith("not 1000000001"));
}

TEST_F(JobIntakeTest, BoundsWhatWaitsForMasters) {
  settings.max_waiting = 2;
  submit({job_of(0), job_of(0), job_of(0)});
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::too_many) + ": "));
  submit({job_of(0), job_of(0)});
  EXPECT_EQ(handoffs.jobs_in_hand(), 2u);
  submit({job_of(0)});
  EXPECT_EQ(said.size(), 2u);
}

TEST_F(JobIntakeTest, NumbersNothingWhileItLearnsNumbers) {
  numbers.recall(1, true);
  submit({job_of(0)});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], ::testing::HasSubstr("m0, m1, london"));
  submit({job_of(1'000'000'001)}, true);
  EXPECT_THAT(handed, ElementsAre("m0 1000000001")) << "it has its number";
}

TEST_F(JobIntakeTest, WaitsForLoadsThatAreTooOldToChooseBy) {
  settings.max_unrouted = 2;
  settings.promise_wait = {};
  const auto all_answer = [this] {
    const LoadReport idle;
    for (const auto& each : std::exchange(loads_asked, {})) each(&idle);
  };
  rounds.ask();
  all_answer();
  submit({job_of(0), job_of(0)});
  submit({job_of(0)});
  EXPECT_THAT(said, ElementsAre(to_string(ActorError::too_many) + ": "));
  EXPECT_THAT(handed, IsEmpty());
  all_answer();
  EXPECT_THAT(handed, ElementsAre("m0 1", "m0 2"));
}

TEST_F(JobIntakeTest, RefusesAJobWithoutTasksAndTakesTheOthers) {
  settings.promise_wait = {};
  Job none = job_of(0);
  none.tasks.clear();
  submit({none, job_of(0)});
  EXPECT_THAT(said, ElementsAre(::testing::HasSubstr("no tasks"), "job 1"));
}

}  // namespace
}  // namespace muster::test
