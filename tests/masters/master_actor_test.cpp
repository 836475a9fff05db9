#include "masters/master_actor.hpp"

#include <gtest/gtest.h>

#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::Heard;
using test::JobBuilder;

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
    worker_ = system_.actors().spawn([this](WorkerActor::pointer) -> WorkerActor::behavior_type {
      return {
          [this](start_atom, const StartOrder& order) {
            note("start " + std::to_string(order.task.id.value) + "." +
                 std::to_string(order.attempt));
          },
          [this](stop_atom, TaskId task, Attempt) { note("stop " + std::to_string(task.value)); },
          [](settled_atom, TaskId, Attempt) {},
          [](greet_atom) {},
          [this](sample_atom, std::uint64_t asking) { asked_ = asking; },
          [](const LogRequest&) {},
          [](const Wakeup&) {},
      };
    });
    MasterSetup setup;
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
    master_ = system_.actors().spawn<MasterNode>(std::move(setup));
  }
  ~MasterActorTest() override {
    system_.end(master_);
    system_.end(cloud_);
    system_.end(worker_);
  }

  void note(const std::string& what) { heard_.push_back({to_seconds(system_.time().now()), what}); }
  void accept(std::uint64_t job) {
    caf::anon_send(master_, accept_atom_v, JobBuilder(job).build(), JobListener{});
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
  static WorkerHello hello() {
    WorkerHello hello;
    hello.instance = InstanceId{0};
    hello.number = 1;
    return hello;
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
  request.task = TaskId{1};
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
  bool found = false;
  log.receive([&](const LogAnswer&) { found = true; }, [](const caf::error&) {});
  EXPECT_TRUE(found);
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

}  // namespace
}  // namespace muster
