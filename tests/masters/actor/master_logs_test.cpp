#include "model/live_ids.hpp"
#include "tests/masters/actor/master_actor_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::Heard;
using test::IsGolden;
using test::JobBuilder;
using test::MasterActorTest;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// As sites number them: the history finds the job by it.
const TaskId kTask = task_id_of(JobId{1}, 0);

/// Keeps in memory, at once.
class MemoryLogSink final : public LogSink {
 public:
  bool take(LogDelivery delivery, Done done) override {
    if (takes_nothing) {
      drafts_.erase(delivery.name);
      if (done) done(false);
      return true;
    }
    KeptLog& log = drafts_[delivery.name];
    for (const LogPiece& piece : delivery.pieces) {
      if (!piece.error_stream) log.text += piece.text;
    }
    if (delivery.part) {
      logs[delivery.name] = log;
      logs[delivery.name].end = log.text.size();
      logs[delivery.name].open = true;
    }
    if (delivery.last) {
      log.lost = delivery.lost;
      log.end = log.text.size();
      logs[delivery.name] = log;
      drafts_.erase(delivery.name);
    }
    if (done) done(true);
    return true;
  }
  bool read(const Place& place, Use use) override {
    if (is_full) return false;
    const auto found = logs.find(place.name);
    use(found == logs.end() ? std::nullopt : std::optional(found->second));
    return true;
  }
  bool has_removed() const override { return false; }

  std::map<LogName, KeptLog> logs;
  bool takes_nothing = false;
  bool is_full = false;

 private:
  std::map<LogName, KeptLog> drafts_;
};

class MasterLogsTest : public MasterActorTest {
 protected:
  MasterLogsTest() { start_again(); }
  ~MasterLogsTest() override { system_.end(std::exchange(master_, nullptr)); }

  void start_again() {
    start([this](MasterSetup& setup) {
      setup.logs = {&sink_, {std::chrono::seconds{10}, 1'000'000}};
    });
  }
  /// The only task of job 1 runs on instance 0 from second 100 on.
  void run_one() {
    Job job = JobBuilder(1).build();
    job.retries = 1;
    job.tasks.front().id = kTask;
    caf::anon_send(master_, hand_atom_v, std::vector<Job>{job});
    system_.run_until_s(50);
    tell(CloudReportKind::up, 0);
    system_.run_until_s(100);
    say(hello());
    tell(WorkerReportKind::started, kTask.value);
    system_.time().drain();
  }
  /// The present attempt ends and has written more than the report says of it.
  void end_long(WorkerReportKind kind, Attempt attempt = 1, InstanceId on = InstanceId{0}) {
    WorkerReport report;
    report.instance = on;
    report.task = kTask;
    report.attempt = attempt;
    report.kind = kind;
    report.out_bytes = 100'000;
    report.out_tail = "the end";
    caf::anon_send(master_, report);
    system_.time().drain();
  }
  void hand_over(const std::string& text, InstanceId from = InstanceId{0}) {
    caf::anon_send(master_, LogAnswer{from, asked_log_.number, 0, text, false});
    system_.time().drain();
  }
  void restart() {
    start([this](MasterSetup& setup) {
      setup.tail = journal_.events();
      setup.logs = {&sink_, {std::chrono::seconds{10}, 1'000'000}};
    });
    asked_log_ = {};
  }
  /// The worker of instance 0 says hello with the end of an attempt whose output is not settled.
  void say_again(WorkerReportKind kind, Attempt attempt = 1) {
    WorkerReport report;
    report.instance = InstanceId{0};
    report.task = kTask;
    report.attempt = attempt;
    report.kind = kind;
    report.out_bytes = 100'000;
    WorkerHello again = hello(hellos_ += 2'000'000);
    again.known.push_back(report);
    say(again);
  }
  void fill(TaskId task, InstanceId on, std::uint64_t out_bytes) {
    caf::anon_send(master_, FilledLogs{on, {{task, 1, out_bytes, 0}}});
    system_.time().drain();
  }
  /// What the master answers; its error as a text.
  std::pair<LogAnswer, std::string> log_of(Attempt attempt) {
    std::pair<LogAnswer, std::string> found;
    system_.actors().spawn<caf::hidden>([&](caf::event_based_actor* self) {
      LogRequest request;
      request.task = kTask;
      request.attempt = attempt;
      request.max_bytes = 1000;
      self->request(master_, caf::infinite, request)
          .then([&](const LogAnswer& answer) { found.first = answer; },
                [&](const caf::error& error) { found.second = to_string(error); });
    });
    system_.time().drain();
    history_.read_all();
    system_.time().drain();
    return found;
  }

  MemoryLogSink sink_;
  std::uint64_t hellos_ = 1;
};

TEST_F(MasterLogsTest, AnInstanceIsHeldUntilItsOutputIsAcross) {
  run_one();
  end_long(WorkerReportKind::finished);
  EXPECT_EQ(settled_, 0) << "the worker has to keep it";
  system_.run_until_s(305);
  EXPECT_EQ(times_heard("end 0"), 0U);
  ASSERT_EQ(all<TerminateIssued>().size(), 1U);
  hand_over("all of it");
  EXPECT_EQ(heard_.back(), (Heard{305, "end 0"}));
  EXPECT_EQ(settled_, 1);
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(306);
  EXPECT_EQ(log_of(1).first.text, "all of it");
  EXPECT_EQ(log_of(0).first.lost, "");
}

TEST_F(MasterLogsTest, AnInstanceIsHeldForSoLongAtMost) {
  run_one();
  end_long(WorkerReportKind::finished);
  system_.run_until_s(320);
  EXPECT_EQ(heard_.back(), (Heard{310.001, "end 0"}));
  EXPECT_THAT(log_of(1).first.lost, HasSubstr("logs.handover_s"));
}

TEST_F(MasterLogsTest, WhatTheReportHasWholeHoldsNothing) {
  run_one();
  tell(WorkerReportKind::finished, kTask.value);
  system_.run_until_s(301);
  EXPECT_EQ(heard_.back(), (Heard{300.001, "end 0"}));
  EXPECT_EQ(settled_, 1);
}

TEST_F(MasterLogsTest, AnInstanceThatIsGoneTakesTheOutputOfWhatRanWithIt) {
  run_one();
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(101);
  const auto [answer, error] = log_of(1);
  EXPECT_EQ(error, "");
  EXPECT_THAT(answer.lost, AllOf(HasSubstr("instance 0"), IsGolden()));
  EXPECT_EQ(answer.attempt, 1U);
  EXPECT_NE(log_of(2).second, "") << "there was no second attempt";
}

TEST_F(MasterLogsTest, FullFilesOfWhatRunsOutliveItsInstance) {
  run_one();
  fill(kTask, InstanceId{1}, 10);
  fill(TaskId{77}, InstanceId{0}, 10);
  EXPECT_EQ(asked_log_.number, 0U) << "neither runs there";
  fill(kTask, InstanceId{0}, 10);
  ASSERT_NE(asked_log_.number, 0U);
  EXPECT_EQ(asked_log_.max_bytes, 10U);
  hand_over("the part. ");
  EXPECT_EQ(settled_, 0);
  EXPECT_EQ(sink_.logs.at({kTask, 1}).text, "the part. ");
  restart();
  say_again(WorkerReportKind::started);
  fill(kTask, InstanceId{0}, 10);
  EXPECT_EQ(asked_log_.number, 0U) << "it is kept";
  tell(CloudReportKind::gone, 0);
  system_.run_until_s(101);
  const auto [answer, error] = log_of(1);
  EXPECT_EQ(answer.text, "the part. ");
  EXPECT_THAT(answer.lost, IsGolden());
}

TEST_F(MasterLogsTest, EachAttemptHasItsOwn) {
  run_one();
  end_long(WorkerReportKind::failed);
  hand_over("first");
  system_.run_until_s(301);
  ASSERT_EQ(times_heard("launch 1"), 1U);
  tell(CloudReportKind::up, 1);
  WorkerHello next = hello();
  next.instance = InstanceId{1};
  system_.run_until_s(302);
  say(next);
  end_long(WorkerReportKind::finished, 2, InstanceId{1});
  hand_over("second", InstanceId{1});
  EXPECT_EQ(log_of(1).first.text, "first");
  EXPECT_EQ(log_of(2).first.text, "second");
  EXPECT_EQ(log_of(0).first.attempt, 2U);
}

TEST_F(MasterLogsTest, AnAttemptOfWhichNothingIsKeptIsSaidToBeLost) {
  run_one();
  end_long(WorkerReportKind::finished);
  hand_over("first");
  sink_.logs.clear();
  const auto [answer, error] = log_of(1);
  EXPECT_EQ(error, "");
  EXPECT_EQ(answer.text, "the end");
  EXPECT_THAT(answer.lost, IsGolden());
}

TEST_F(MasterLogsTest, AfterARestartItIsHandedOverOnceMore) {
  run_one();
  end_long(WorkerReportKind::finished);
  restart();
  say_again(WorkerReportKind::finished);
  history_.read_all();
  system_.time().drain();
  ASSERT_NE(asked_log_.number, 0U);
  hand_over("all of it");
  EXPECT_EQ(log_of(1).first.text, "all of it");
  EXPECT_EQ(settled_, 1);
}

TEST_F(MasterLogsTest, AfterARestartEarlierAttemptsAreHandedOverToo) {
  run_one();
  end_long(WorkerReportKind::failed);
  system_.run_until_s(301);
  ASSERT_EQ(times_heard("launch 1"), 1U);
  tell(CloudReportKind::up, 1);
  WorkerHello next = hello();
  next.instance = InstanceId{1};
  system_.run_until_s(302);
  say(next);
  restart();
  sink_.is_full = true;
  say_again(WorkerReportKind::failed);
  EXPECT_EQ(settled_, 0);
  EXPECT_EQ(asked_log_.number, 0U) << "it has to be looked up whether it is kept";
  sink_.is_full = false;
  system_.run_until_s(303);
  ASSERT_NE(asked_log_.number, 0U);
  EXPECT_EQ(asked_log_.attempt, 1U);
  hand_over("first");
  EXPECT_EQ(log_of(1).first.text, "first");
  EXPECT_EQ(log_of(1).first.lost, "");
  EXPECT_EQ(settled_, 1);

  say_again(WorkerReportKind::failed);
  hand_over("another");
  EXPECT_EQ(log_of(1).first.text, "first") << "what is kept is not replaced";
  EXPECT_EQ(settled_, 2);
}

TEST_F(MasterLogsTest, ALongQueueForTheHistoryIsNoReasonToLoseOutput) {
  run_one();
  end_long(WorkerReportKind::finished);
  restart();
  history_.waiting = {[] {}, [] {}};
  say_again(WorkerReportKind::finished);
  EXPECT_EQ(settled_, 0);
  history_.read_all();
  system_.run_until_s(101);
  history_.read_all();
  system_.time().drain();
  ASSERT_NE(asked_log_.number, 0U);
  hand_over("all of it");
  EXPECT_EQ(log_of(1).first.text, "all of it");
}

TEST_F(MasterLogsTest, WhatTheDiskDoesNotTakeHoldsItsInstance) {
  sink_.takes_nothing = true;
  run_one();
  end_long(WorkerReportKind::finished);
  hand_over("all of it");
  EXPECT_EQ(settled_, 0);
  system_.run_until_s(302);
  EXPECT_EQ(times_heard("end 0"), 0U);
  sink_.takes_nothing = false;
  system_.run_until_s(306);
  hand_over("all of it");
  EXPECT_EQ(settled_, 1);
  EXPECT_EQ(times_heard("end 0"), 1U);
  EXPECT_EQ(log_of(1).first.text, "all of it");
}

TEST_F(MasterLogsTest, ADamagedLogIsSaidToBeDamaged) {
  run_one();
  end_long(WorkerReportKind::finished);
  hand_over("first");
  sink_.logs[{kTask, 1}] = {0, {}, 0, "it is damaged", true};
  EXPECT_THAT(log_of(1).first.lost, AllOf(HasSubstr("it is damaged"), IsGolden()));
  EXPECT_EQ(log_of(1).first.text, "the end");
}

}  // namespace
}  // namespace muster
