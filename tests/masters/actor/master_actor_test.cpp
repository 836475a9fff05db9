#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::Heard;
using test::JobBuilder;
using test::MasterActorTest;

TEST_F(MasterActorTest, RentsStartsAndGivesBack) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(299);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0.001, "launch 0"}, {100, "start 1.1"}}));
  system_.run_until_s(301);
  EXPECT_EQ(heard_.back(), (Heard{300.001, "end 0"}));
}

TEST_F(MasterActorTest, AWorkerThatStaysSilentHoldsUpARoundNoLongerThanItsTimeout) {
  run_one();
  accept(2);
  system_.run_until_s(400);
  EXPECT_EQ(heard_.back(), (Heard{302.001, "launch 1"}));
}

TEST_F(MasterActorTest, TheLastAnswerStartsTheDecision) {
  run_one();
  accept(2);
  system_.run_until_s(301);
  caf::anon_send(master_, SampleAnswer{InstanceId{0}, asked_, {}});
  system_.run_until_s(400);
  EXPECT_EQ(heard_.back(), (Heard{301, "launch 1"}));
}

TEST_F(MasterActorTest, AnAnswerToAnEarlierAskingCountsForNothing) {
  run_one();
  accept(2);
  system_.run_until_s(301);
  caf::anon_send(master_, SampleAnswer{InstanceId{0}, asked_ - 1, {}});
  system_.run_until_s(400);
  EXPECT_EQ(heard_.back(), (Heard{302.001, "launch 1"}));
}

TEST_F(MasterActorTest, ToldTwiceOfTheSameItDoesItOnce) {
  run_one();
  tell(CloudReportKind::up, 0);
  caf::anon_send(master_, hello_atom_v, hello(), worker_);
  accept(1);
  system_.run_until_s(299);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0.001, "launch 0"}, {100, "start 1.1"}}));
}

TEST_F(MasterActorTest, AWorkerThatSpeaksOfAnotherInstancesTaskIsNotHeard) {
  run_one();
  WorkerReport lie;
  lie.instance = InstanceId{7};
  lie.task = TaskId{1};
  lie.attempt = 1;
  lie.kind = WorkerReportKind::finished;
  caf::anon_send(master_, lie);
  system_.run_until_s(299);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0.001, "launch 0"}, {100, "start 1.1"}}));
  system_.run_until_s(301);
  EXPECT_NE(heard_.back(), (Heard{300.001, "end 0"}));
}

TEST_F(MasterActorTest, AnOrderIsRepeatedUntilTheCloudAnswersItAndThenNoMore) {
  start([](MasterSetup& setup) { setup.settings.watch.remind_every = std::chrono::seconds{2}; });
  accept(1);
  system_.run_until_s(7);
  EXPECT_EQ(times_heard("launch 0"), 4U);  // ordered, and repeated at 2, 4 and 6 s
  tell(CloudReportKind::up, 0);
  system_.run_until_s(100);
  say(hello());
  const std::size_t before = heard_.size();
  system_.run_until_s(1e6);
  // Only its being there is asked after, at pauses that double.
  EXPECT_LT(heard_.size() - before, 30U);
}

TEST_F(MasterActorTest, AnEndIsRepeatedUntilTheInstanceIsGone) {
  start([](MasterSetup& setup) { setup.settings.watch.remind_every = std::chrono::seconds{2}; });
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(305);
  EXPECT_EQ(times_heard("end 0"), 3U);
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(1000);
  EXPECT_EQ(times_heard("end 0"), 3U);
}

TEST_F(MasterActorTest, WhenTheCloudIsBackItIsAskedAfterEveryInstance) {
  run_one();
  heard_.clear();
  caf::anon_send(master_, greet_atom_v);
  system_.time().drain();
  EXPECT_EQ(heard_, (std::vector<Heard>{{100, "launch 0"}}));
}

TEST_F(MasterActorTest, TheInstanceOfALostWorkerIsReleasedWithThatCauseAndEnded) {
  run_one();
  system_.run_until_s(200);
  system_.end(worker_);
  system_.run_until_s(799);
  EXPECT_TRUE(all<ReleaseDecided>().empty());
  system_.run_until_s(801);
  ASSERT_EQ(all<ReleaseDecided>().size(), 1U);
  EXPECT_EQ(all<ReleaseDecided>()[0].cause.code, CauseCode::worker_lost);
  EXPECT_EQ(all<TerminateIssued>().size(), 1U);
  EXPECT_EQ(heard_.back(), (Heard{800, "end 0"}));
  // Nothing is placed there any more: the next job gets an instance of its own.
  accept(2);
  system_.run_until_s(1000);
  EXPECT_EQ(heard_.back().what, "launch 1");
  // Its task waits until the cloud says that nothing runs there any more.
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(1300);
  EXPECT_EQ(heard_.back().what, "launch 2");
  EXPECT_TRUE(all<TaskFailed>().empty());
}

TEST_F(MasterActorTest, AWorkerThatNeverSaysHelloIsLostToo) {
  accept(1);
  system_.run_until_s(50);
  tell(CloudReportKind::up, 0);
  system_.run_until_s(50 + 100 + 599);  // of its type's setup
  EXPECT_TRUE(all<ReleaseDecided>().empty());
  system_.run_until_s(50 + 100 + 601);
  ASSERT_EQ(all<ReleaseDecided>().size(), 1U);
  EXPECT_EQ(all<ReleaseDecided>()[0].cause.code, CauseCode::worker_lost);
}

TEST_F(MasterActorTest, AWorkerThatIsBackInTimeIsNotLost) {
  run_one();
  system_.end(worker_);
  system_.run_until_s(600);
  worker_ = spawn_worker();
  WorkerHello again = hello(2);
  WorkerReport running;
  running.instance = InstanceId{0};
  running.task = TaskId{1};
  running.attempt = 1;
  again.known = {running};
  say(again);
  system_.run_until_s(5000);
  EXPECT_TRUE(all<ReleaseDecided>().empty());
}

TEST_F(MasterActorTest, AHelloOfAnInstanceThatIsGoneIsTurnedAwayAndNotRemembered) {
  run_one();
  tell(CloudReportKind::gone, 0);
  system_.time().drain();
  heard_.clear();
  WorkerHello late = hello(2);
  WorkerReport running;
  running.instance = InstanceId{0};
  running.task = TaskId{1};
  running.attempt = 1;
  late.known = {running};
  say(late);
  EXPECT_EQ(heard_, (std::vector<Heard>{{100, "stop 1"}, {100, "end 0"}}));
}

TEST_F(MasterActorTest, AnAttemptThatItsWorkerRejectsCountsAgainstNobody) {
  start([](MasterSetup& setup) { setup.settings.max_attempts = 1; });
  accept(1);
  system_.run_until_s(50);
  tell(CloudReportKind::up, 0);
  say(hello());
  tell(WorkerReportKind::rejected, 1);
  system_.run_until_s(51);
  EXPECT_EQ(heard_.back().what, "greet");
  ASSERT_EQ(all<TaskFailed>().size(), 1U);
  EXPECT_TRUE(all<TaskFailed>()[0].blameless);
  EXPECT_TRUE(all<JobTerminating>().empty());
}

TEST_F(MasterActorTest, AClockSetBackOverARestartHoldsNothingUp) {
  Event accepted{test::at_s(3600), JobAccepted{JobBuilder(1).build()}};
  start([&](MasterSetup& setup) { setup.tail = {accepted}; });
  system_.run_until_s(301);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  tell(CloudReportKind::up, 0);
  say(hello());
  tell(WorkerReportKind::started, 1);
  system_.run_until_s(400);
  system_.end(worker_);
  system_.run_until_s(1001);
  EXPECT_EQ(heard_.back(), (Heard{1000, "end 0"}));
  for (const Event& event : journal_.events()) EXPECT_GE(event.at, test::at_s(3600));
}

TEST_F(MasterActorTest, StampsGoOnWhereAClockWasSetBackAndComeBackToIt) {
  Event accepted{test::at_s(3600), JobAccepted{JobBuilder(1).build()}};
  start([&](MasterSetup& setup) { setup.tail = {accepted}; });
  system_.run_until_s(301);
  tell(CloudReportKind::up, 0);
  say(hello());
  tell(WorkerReportKind::started, 1);
  system_.run_until_s(401);
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(402);
  const auto stamp = [&](std::size_t kind) {
    for (const Event& event : journal_.events()) {
      if (event.body.index() == kind) return to_seconds(event.at);
    }
    return 0.0;
  };
  EXPECT_NEAR(stamp(EventBody(TaskFinished{}).index()) - stamp(EventBody(TaskStarted{}).index()),
              100, 1.001);
  // The bill is that of the cloud, whose clock is an hour behind the stamps.
  tell(CloudReportKind::gone, 0);
  system_.time().drain();
  ASSERT_EQ(history_.jobs.size(), 1U);
  // The task has half of an instance.
  EXPECT_NEAR(history_.jobs[0].tasks[0].cost.usd(),
              catalog_.types()[3].on_demand.usd_h() * 100 / 3600 / 2, 1e-4);
  system_.run_until_s(400'000);
  accept(2);
  system_.time().drain();
  EXPECT_EQ(journal_.events().back().at, test::at_s(400'000));
}

TEST_F(MasterActorTest, WhatWasRentedLatelyIsAskedAfterSoonWhateverElseIsThere) {
  start([](MasterSetup& setup) { setup.settings.watch.remind_every = std::chrono::seconds{2}; });
  run_one();
  system_.run_until_s(1e6);
  heard_.clear();
  accept(2);
  system_.run_until_s(1e6 + 203);  // a regular round was at 200 s
  EXPECT_EQ(times_heard("launch 1"), 1U);
  tell(CloudReportKind::up, 1);
  system_.run_until_s(1e6 + 215);
  EXPECT_EQ(times_heard("launch 1"), 2U);
  EXPECT_LE(times_heard("launch 0"), 1U) << "others are asked after at their own pace";
}

TEST_F(MasterActorTest, WhereADayIsCappedTheCloudsClockIsAskedForUntilItIsKnown) {
  clock_is_told_ = false;
  start([](MasterSetup& setup) {
    setup.settings.watch.remind_every = std::chrono::seconds{2};
    setup.settings.caps.max_usd_day = 100;
  });
  accept(1);
  system_.run_until_s(400);
  EXPECT_TRUE(heard_.empty());
  EXPECT_GT(greeted_, 100);
  clock_is_told_ = true;
  system_.run_until_s(403);
  EXPECT_EQ(times_heard("launch 0"), 1U);
}

/// Writes nothing down for as long as it is told to.
class StuckJournal final : public Journal {
 public:
  void append(std::vector<Event>&&, Durable durable) override {
    if (!stuck) return durable();
    waiting.push_back(std::move(durable));
  }
  bool stuck = false;
  std::vector<Durable> waiting;
};

TEST_F(MasterActorTest, TheDaysCapIsKeptByTheCloudsClockAlsoWhileTheDiskIsStuck) {
  StuckJournal journal;
  const double usd_h = catalog_.types()[3].on_demand.usd_h();
  start([&](MasterSetup& setup) {
    setup.journal = &journal;
    setup.settings.caps.max_usd_day = usd_h;
    setup.settings.caps.spend_margin = std::chrono::minutes{1};
  });
  run_one();
  journal.stuck = true;
  // The cloud, started anew, is half an hour ahead.
  cloud_ahead_ = std::chrono::minutes{30};
  caf::anon_send(master_, greet_atom_v);
  system_.run_until_s(1750);
  EXPECT_EQ(times_heard("end 0"), 0U);
  system_.run_until_s(1850);
  EXPECT_EQ(times_heard("end 0"), 1U);
  system_.end(master_);
}

TEST_F(MasterActorTest, WhileJobsThatAreOverAreReadItGoesOn) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  ASSERT_EQ(history_.size(), 1u);
  caf::scoped_actor self{system_.actors()};
  const auto ask = [&](auto question) {
    auto asked = self->request(master_, caf::infinite, question);
    system_.time().drain();
    return asked;
  };
  auto jobs = ask(JobsQuestion{});
  LogRequest request;
  request.task = TaskId{1};  // not the id that a live job's task has: not found

  auto log = self->request(master_, caf::infinite, request);
  auto figures = ask(figures_atom_v);
  const auto never = [](const caf::error&) { ADD_FAILURE() << "it answers"; };
  const auto counted = [](const CellFigures& answer) {
    EXPECT_EQ(answer.over_jobs, 1U);
    std::uint64_t completed = 0;
    for (const CountView& one : answer.counts) {
      if (one.kind == CountKind::job_over && one.of == "completed") completed = one.count;
    }
    EXPECT_EQ(completed, 1U);
  };
  figures.receive(counted, never);
  auto too_many = ask(JobQuestion{JobId{1}});
  bool refused = false;
  too_many.receive([](const JobDetails&) {}, [&](const caf::error&) { refused = true; });
  EXPECT_TRUE(refused);
  accept(2);
  system_.run_until_s(302);
  EXPECT_EQ(heard_.back().what, "end 0") << "its rounds do not wait either";
  history_.read_all();
  system_.time().drain();
  jobs.receive(
      [](const JobsView& answer) {
        ASSERT_EQ(answer.jobs.size(), 1U);
        EXPECT_EQ(answer.jobs[0].job, JobId{1});
      },
      never);
  bool answered = false;
  log.receive([&](const LogAnswer&) { answered = true; },
              [&](const caf::error& error) { answered = error == ActorError::unknown; });
  EXPECT_TRUE(answered);
}

TEST_F(MasterActorTest, ConfirmsACancelAsOftenAsItIsRepeated) {
  run_one();
  JobHistory over;
  over.job = JobBuilder(7).build();
  history_.add(over);
  caf::scoped_actor self{system_.actors()};
  for (int time = 0; time < 2; ++time) {
    auto asked = self->request(master_, caf::infinite, cancel_atom_v,
                               std::vector<JobId>{JobId{1}, JobId{7}, JobId{99}});
    system_.time().drain();
    std::vector<CancelStanding> said;
    asked.receive(
        [&](const std::vector<CancelVerdict>& verdicts) {
          for (const CancelVerdict& verdict : verdicts) said.push_back(verdict.standing);
        },
        [](const caf::error&) { ADD_FAILURE(); });
    EXPECT_EQ(said,
              (std::vector{CancelStanding::ended, CancelStanding::over, CancelStanding::unknown}));
  }
  EXPECT_EQ(heard_.back().what, "stop 1");
}

TEST_F(MasterActorTest, TellsOfABrokenPartUntilASiteCancelsItsJob) {
  Job part = JobBuilder(1).build();
  part.total_tasks = 4;
  caf::anon_send(master_, hand_atom_v, std::vector<Job>{part});
  system_.time().drain();
  const auto cancel = [&] {
    caf::anon_send(master_, cancel_atom_v, std::vector<JobId>{JobId{1}});
    system_.time().drain();
  };
  const auto broken = [&] {
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(master_, caf::infinite, LoadQuestion{});
    system_.time().drain();
    std::vector<JobId> told;
    asked.receive([&](const LoadReport& report) { told = report.broken; },
                  [](const caf::error&) { ADD_FAILURE(); });
    return told;
  };
  cancel();  // by its user: nobody has heard yet that the part has ended
  for (int site = 0; site < 2; ++site) EXPECT_EQ(broken(), std::vector<JobId>{JobId{1}});
  cancel();
  EXPECT_TRUE(broken().empty()) << "nor is a site told that has just been started again";
}

TEST_F(MasterActorTest, AJobThatIsOverIsTakenForKnownWithoutReadingIt) {
  JobHistory over;
  over.job = JobBuilder(7).build();
  history_.add(over);
  caf::scoped_actor self{system_.actors()};
  auto asked =
      self->request(master_, caf::infinite, hand_atom_v, std::vector<Job>{JobBuilder(7).build()});
  system_.time().drain();
  asked.receive(
      [](const std::vector<SubmitVerdict>& verdicts) {
        ASSERT_EQ(verdicts.size(), 1u);
        EXPECT_TRUE(verdicts[0].accepted);
      },
      [](const caf::error&) { ADD_FAILURE(); });
  system_.run_until_s(400);
  EXPECT_TRUE(heard_.empty());
}

TEST_F(MasterActorTest, AnotherJobOfAKnownNumberIsAConflictAndNoRepetition) {
  const auto handed = [&](std::uint64_t number, const std::string& token, const std::string& name) {
    Job job = JobBuilder(number).build();
    job.token = token;
    job.name = name;
    return job;
  };
  JobHistory over;
  over.job = handed(7, "a", "first");
  history_.add(over);
  const auto verdict = [&](const Job& job) {
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(master_, caf::infinite, hand_atom_v, std::vector<Job>{job});
    system_.time().drain();
    history_.read_all();
    system_.time().drain();
    SubmitVerdict told;
    asked.receive([&](const std::vector<SubmitVerdict>& all) { told = all.at(0); },
                  [](const caf::error&) { ADD_FAILURE(); });
    return told;
  };
  for (const std::uint64_t number : {1u, 7u}) {
    EXPECT_TRUE(verdict(handed(number, "a", "first")).accepted);
    EXPECT_TRUE(verdict(handed(number, "a", "first")).accepted) << "it is repeated";
    for (const auto& other : {handed(number, "b", "first"), handed(number, "a", "second")}) {
      const SubmitVerdict told = verdict(other);
      EXPECT_FALSE(told.accepted);
      EXPECT_TRUE(told.conflict);
      EXPECT_THAT(told.reason, testing::HasSubstr("number " + std::to_string(number)));
    }
  }
  EXPECT_EQ(all<JobAccepted>().size(), 1u);
}

TEST_F(MasterActorTest, TellsSitesTheNewestJobThatEverCameFromEach) {
  for (const std::uint64_t job : {3ULL, 8ULL, 5ULL, 2'000'000'001ULL}) accept(job);
  caf::scoped_actor self{system_.actors()};
  auto asked = self->request(master_, caf::infinite, LoadQuestion{});
  system_.time().drain();
  asked.receive(
      [](const LoadReport& report) {
        EXPECT_EQ(report.newest, (std::vector<JobId>{JobId{2'000'000'001}, JobId{8}}));
      },
      [](const caf::error&) { ADD_FAILURE(); });
}

TEST_F(MasterActorTest, AHandOffThatIsRepeatedRunsNothingAgainThoughTheHistoryHasForgottenTheJob) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(1000);
  ASSERT_EQ(history_.size(), 1u);
  history_.jobs.clear();
  heard_.clear();
  accept(1);
  caf::scoped_actor self{system_.actors()};
  auto asked = self->request(master_, caf::infinite, cancel_atom_v, std::vector<JobId>{JobId{1}});
  system_.run_until_s(2000);
  EXPECT_EQ(times_heard("launch 1"), 0u);
  EXPECT_EQ(all<JobAccepted>().size(), 1u);
  asked.receive(
      [](const std::vector<CancelVerdict>& verdicts) {
        ASSERT_EQ(verdicts.size(), 1u);
        EXPECT_EQ(verdicts[0].standing, CancelStanding::over);
      },
      [](const caf::error&) { ADD_FAILURE(); });
}

TEST_F(MasterActorTest, AReaderOfTheLogsOfALostWorkerIsToldSo) {
  run_one();
  caf::scoped_actor self{system_.actors()};
  const auto read = [&] {
    LogRequest request;
    request.task = TaskId{1};
    auto asked = self->request(master_, caf::infinite, request);
    system_.time().drain();
    return asked;
  };
  const auto expect_not_connected = [](auto& asked) {
    asked.receive([](const LogAnswer&) { ADD_FAILURE() << "nobody has answered"; },
                  [](const caf::error& error) { EXPECT_EQ(error, ActorError::not_connected); });
  };
  auto first = read();
  const WorkerActor started_again = spawn_worker();
  caf::anon_send(master_, hello_atom_v, hello(2), started_again);
  system_.time().drain();
  expect_not_connected(first);
  auto second = read();
  system_.end(started_again);
  expect_not_connected(second);
  caf::anon_send(master_, hello_atom_v, hello(3), worker_);
  system_.time().drain();
  auto third = read();
  tell(CloudReportKind::gone, 0);
  system_.time().drain();
  expect_not_connected(third);
}

}  // namespace
}  // namespace muster
