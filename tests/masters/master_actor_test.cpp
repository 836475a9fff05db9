#include "masters/master_actor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::Heard;
using test::JobBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Jobs that are over, on a disk that takes its time.
class SlowHistory final : public History {
 public:
  void add(JobHistory job) override { jobs.push_back(std::move(job)); }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    EXPECT_TRUE(reading) << "the master does not wait for the disk";
    for (const JobHistory& job : jobs) {
      if (job.job.id == id) return job;
    }
    return std::nullopt;
  }
  void newest(std::size_t limit, const Use& use) const override {
    EXPECT_TRUE(reading) << "the master does not wait for the disk";
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) use(*it);
  }
  bool contains(JobId id) const override {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const JobHistory& job) { return job.job.id == id; });
  }
  std::map<std::string, Money> spent_by_user() const override { return {}; }
  bool read_apart(std::function<void()> read) const override {
    if (waiting.size() >= 2) return false;
    waiting.push_back(std::move(read));
    return true;
  }
  void read_all() const {
    reading = true;
    for (const auto& read : std::exchange(waiting, {})) read();
    reading = false;
  }

  std::vector<JobHistory> jobs;
  mutable std::vector<std::function<void()>> waiting;
  mutable bool reading = false;
};

/// A master under No-Packing, with a cloud and workers that the test speaks for.
class MasterActorTest : public ::testing::Test {
 protected:
  MasterActorTest() {
    cloud_ = system_.actors().spawn([this](CloudActor::pointer) -> CloudActor::behavior_type {
      return {
          [this](launch_atom, const LaunchOrder& order, const MasterActor&) {
            note("launch " + std::to_string(order.instance.value));
          },
          [this](end_atom, InstanceId id, const MasterActor&) {
            note("end " + std::to_string(id.value));
          },
          [](interrupt_atom, InstanceId id) { return id; },
          [](const Query&) { return std::string{}; },
          [](const Wakeup&) {},
      };
    });
    worker_ = spawn_worker();
    start([](MasterSetup&) {});
  }
  ~MasterActorTest() override {
    system_.end(master_);
    system_.end(cloud_);
    system_.end(worker_);
  }

  WorkerActor spawn_worker() {
    return system_.actors().spawn([this](WorkerActor::pointer) -> WorkerActor::behavior_type {
      return {
          [this](start_atom, const StartOrder& order) {
            note("start " + std::to_string(order.task.id.value) + "." +
                 std::to_string(order.attempt));
          },
          [this](stop_atom, TaskId task, Attempt) { note("stop " + std::to_string(task.value)); },
          [](settled_atom, TaskId, Attempt) {},
          [this](greet_atom) { note("greet"); },
          [this](sample_atom, std::uint64_t asking) { asked_ = asking; },
          [](const LogRequest&) {},
          [](const Wakeup&) {},
      };
    });
  }

  /// Starts the master anew. Unless told otherwise it repeats nothing.
  void start(const std::function<void(MasterSetup&)>& change) {
    if (master_) system_.end(master_);
    MasterSetup setup;
    setup.watch.remind_every = std::chrono::hours{10};
    setup.watch.ask_pause = std::chrono::hours{100};
    setup.parts.catalog = &catalog_;
    setup.parts.policy = make_policy({"no-packing", {}}, catalog_).value();
    setup.journal = &journal_;
    setup.cloud = cloud_;
    setup.epoch = system_.time().epoch();
    setup.round_settle = std::chrono::milliseconds{1};
    setup.sample_timeout = std::chrono::seconds{2};
    setup.stopwatch = [] { return Duration{}; };
    setup.times = &times_;
    setup.parts.keep_history = true;
    setup.life.history = &history_;
    change(setup);
    master_ = system_.actors().spawn<MasterNode>(std::move(setup));
    system_.time().drain();
  }

  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }
  void accept(std::uint64_t job) {
    caf::anon_send(master_, hand_atom_v, std::vector<Job>{JobBuilder(job).build()});
  }
  void tell(CloudReportKind kind, std::uint64_t instance) {
    caf::anon_send(master_, CloudReport{InstanceId{instance}, kind, system_.time().now()});
  }
  void tell(WorkerReportKind kind, std::uint64_t task) {
    WorkerReport report;
    report.instance = InstanceId{0};
    report.task = TaskId{task};
    report.attempt = 1;
    report.kind = kind;
    caf::anon_send(master_, report);
  }
  static WorkerHello hello(std::uint64_t number = 1) {
    WorkerHello hello;
    hello.instance = InstanceId{0};
    hello.number = number;
    return hello;
  }
  void say(const WorkerHello& hello) {
    caf::anon_send(master_, hello_atom_v, hello, worker_);
    system_.time().drain();
  }
  std::size_t times_heard(const std::string& what) const {
    return static_cast<std::size_t>(std::count_if(
        heard_.begin(), heard_.end(), [&](const Heard& heard) { return heard.what == what; }));
  }
  /// The events of the kind so far.
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Event& event : journal_.events()) {
      if (const auto* one = std::get_if<Kind>(&event.body)) found.push_back(*one);
    }
    return found;
  }
  /// Job 1 runs on instance 0 from second 100 on.
  void run_one() {
    accept(1);
    system_.run_until_s(50);
    tell(CloudReportKind::up, 0);
    system_.run_until_s(100);
    caf::anon_send(master_, hello_atom_v, hello(), worker_);
    system_.time().drain();
    tell(WorkerReportKind::started, 1);
    system_.time().drain();
  }

  test::VirtualSystem system_;
  Catalog catalog_ = test::table3_catalog();
  MemoryJournal journal_;
  DecisionTimes times_;
  SlowHistory history_;
  std::vector<Heard> heard_;
  std::uint64_t asked_ = 0;
  CloudActor cloud_;
  WorkerActor worker_;
  MasterActor master_;
};

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
  start([](MasterSetup& setup) { setup.watch.remind_every = std::chrono::seconds{2}; });
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
  start([](MasterSetup& setup) { setup.watch.remind_every = std::chrono::seconds{2}; });
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
  start([](MasterSetup& setup) { setup.parts.max_attempts = 1; });
  accept(1);
  system_.run_until_s(50);
  tell(CloudReportKind::up, 0);
  say(hello());
  tell(WorkerReportKind::rejected, 1);
  system_.run_until_s(51);
  EXPECT_EQ(heard_.back().what, "greet");
  ASSERT_EQ(all<TaskFailed>().size(), 1U);
  EXPECT_TRUE(all<TaskFailed>()[0].blameless);
  EXPECT_TRUE(all<JobGivenUp>().empty());
}

TEST_F(MasterActorTest, AClockSetBackOverARestartHoldsNothingUp) {
  Event accepted{test::at_s(3600), JobAccepted{JobBuilder(1).build()}};
  start([&](MasterSetup& setup) { setup.life.tail = {accepted}; });
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

TEST_F(MasterActorTest, WhileJobsThatAreOverAreReadItGoesOn) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  ASSERT_EQ(history_.size(), 1u);
  caf::scoped_actor self{system_.actors()};
  const auto ask = [&](const Query& query) {
    auto asked = self->request(master_, caf::infinite, query);
    system_.time().drain();
    return asked;
  };
  auto jobs = ask({"jobs", 0, {}, 10});
  LogRequest request;
  request.task = TaskId{1};  // not the id that a live job's task has: not found

  auto log = self->request(master_, caf::infinite, request);
  auto load = ask({"load", 0, {}, 0});
  const auto text_of = [](auto& asked) {
    std::string text;
    asked.receive([&](const std::string& answer) { text = answer; },
                  [&](const caf::error&) { text = "error"; });
    return text;
  };
  EXPECT_NE(text_of(load).find("\"over_jobs\":1"), std::string::npos);
  auto too_many = ask({"job", 1, {}, 0});
  EXPECT_EQ(text_of(too_many), "error");
  accept(2);
  system_.run_until_s(302);
  EXPECT_EQ(heard_.back().what, "end 0") << "its rounds do not wait either";
  history_.read_all();
  system_.time().drain();
  EXPECT_NE(text_of(jobs).find("\"job\":1"), std::string::npos);
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

TEST_F(MasterActorTest, AJobThatIsOverIsTakenForKnownWithoutReadingIt) {
  JobHistory over;
  over.job = JobBuilder(7).build();
  history_.add(over);
  caf::scoped_actor self{system_.actors()};
  auto asked =
      self->request(master_, caf::infinite, hand_atom_v, std::vector<Job>{JobBuilder(7).build()});
  system_.time().drain();
  asked.receive(
      [](const std::vector<AcceptVerdict>& verdicts) {
        ASSERT_EQ(verdicts.size(), 1u);
        EXPECT_TRUE(verdicts[0].accepted);
      },
      [](const caf::error&) { ADD_FAILURE(); });
  system_.run_until_s(400);
  EXPECT_TRUE(heard_.empty());
}

/// Somebody who waits for jobs at the master of a test.
class Listener {
 public:
  explicit Listener(test::VirtualSystem& system) : system_(system) {
    actor_ = system.actors().spawn([this](JobListener::pointer) -> JobListener::behavior_type {
      return {[this](over_atom, const JobEnd& end) { told_.push_back(text(end)); }};
    });
  }
  ~Listener() { end(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// What the master answers is told as well.
  void watch(const MasterActor& master, std::vector<JobId> jobs) {
    system_.actors().spawn([this, master, jobs = std::move(jobs)](caf::event_based_actor* self) {
      self->request(master, caf::infinite, watch_atom_v, actor_, jobs)
          .then(
              [this](const std::vector<JobEnd>& ends) {
                for (const JobEnd& end : ends) told_.push_back("at once: " + text(end));
              },
              [this](const caf::error&) { told_.emplace_back("refused"); });
    });
    system_.time().drain();
  }
  const JobListener& actor() const { return actor_; }
  void end() {
    if (actor_) system_.end(actor_);
    actor_ = nullptr;
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

 private:
  static std::string text(const JobEnd& end) {
    return std::to_string(end.job.value) + " " + std::string(name_of(end.outcome)) + " " +
           std::to_string(end.tasks) + " of " + std::to_string(end.whole) + " from " +
           std::to_string(end.first);
  }

  test::VirtualSystem& system_;
  JobListener actor_;
  std::vector<std::string> told_;
};

TEST_F(MasterActorTest, TellsAListenerOnceWhenItsJobIsOver) {
  Listener listener(system_);
  listener.watch(master_, {JobId{1}});  // before the master has it
  run_one();
  listener.watch(master_, {JobId{1}});  // again
  EXPECT_THAT(listener.told(), IsEmpty());
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_THAT(listener.told(), ElementsAre("1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, AWatchThatComesAfterTheEndIsAnsweredAtOnce) {
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  Listener listener(system_);
  listener.watch(master_, {JobId{1}, JobId{2}});
  EXPECT_THAT(listener.told(), ElementsAre("at once: 1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, AWatchForWhatEndedBeforeARestartIsAnsweredFromTheHistory) {
  JobHistory over;
  over.job = JobBuilder(7).tasks(2).build();
  over.job.whole_tasks = 5;
  over.outcome = JobOutcome::failed;
  history_.add(over);
  Listener listener(system_);
  listener.watch(master_, {JobId{7}});
  EXPECT_THAT(listener.told(), IsEmpty()) << "the disk has not answered";
  history_.read_all();
  system_.time().drain();
  EXPECT_THAT(listener.told(), ElementsAre("at once: 7 failed 2 of 5 from 7"));
}

TEST_F(MasterActorTest, AListenerThatHasEndedOrUnwatchedIsToldNothing) {
  Listener dead(system_), changed_its_mind(system_), patient(system_);
  for (Listener* each : {&dead, &changed_its_mind, &patient}) each->watch(master_, {JobId{1}});
  dead.end();
  caf::anon_send(master_, unwatch_atom_v, changed_its_mind.actor(), std::vector<JobId>{JobId{1}});
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.time().drain();
  EXPECT_THAT(changed_its_mind.told(), IsEmpty());
  EXPECT_THAT(patient.told(), ElementsAre("1 completed 1 of 1 from 1"));
}

TEST_F(MasterActorTest, WatchesNoMoreJobsThanThereIsRoomFor) {
  start([](MasterSetup& setup) { setup.max_watches = 2; });
  Listener first(system_), second(system_);
  first.watch(master_, {JobId{1}, JobId{2}});
  second.watch(master_, {JobId{3}});
  EXPECT_THAT(second.told(), ElementsAre("refused"));
  first.end();
  second.watch(master_, {JobId{3}});
  EXPECT_THAT(second.told(), IsEmpty()) << "who has ended takes no room";
}

}  // namespace
}  // namespace muster
