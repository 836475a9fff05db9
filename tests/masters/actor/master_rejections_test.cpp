// A worker that starts nothing of what it is given, again and again.

#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::MasterActorTest;

class Rejections : public MasterActorTest {
 protected:
  Rejections() { run_one(); }

  void report(WorkerReportKind kind, FailureKind failure = FailureKind::unknown) {
    WorkerReport said;
    said.instance = InstanceId{0};
    said.task = TaskId{++task_};
    said.attempt = 1;
    said.kind = kind;
    said.failure = failure;
    caf::anon_send(master_, said);
    system_.time().drain();
  }
  void reject(int times) {
    for (int i = 0; i < times; ++i) report(WorkerReportKind::rejected);
  }
  bool is_given_up() const { return !all<ReleaseDecided>().empty(); }

 private:
  std::uint64_t task_ = 1000;
};

TEST_F(Rejections, FiveInARowEndTheInstance) {
  reject(4);
  EXPECT_FALSE(is_given_up());
  EXPECT_EQ(times_heard("greet"), 4U) << "after each it is asked what it has";
  reject(1);
  ASSERT_TRUE(is_given_up());
  EXPECT_EQ(all<ReleaseDecided>()[0].instance, InstanceId{0});
  EXPECT_EQ(all<ReleaseDecided>()[0].cause.code, CauseCode::worker_lost);
  EXPECT_EQ(times_heard("stop 1"), 1U) << "what runs there is moved away first";
}

TEST_F(Rejections, BeforeAndAfterAStartAreNotInARow) {
  reject(4);
  report(WorkerReportKind::started);
  reject(4);
  EXPECT_FALSE(is_given_up());
  reject(1);
  EXPECT_TRUE(is_given_up());
}

TEST_F(Rejections, CountOverANewLinkToTheSameWorker) {
  reject(4);
  system_.end(worker_);
  worker_ = spawn_worker();
  say(hello(2));
  EXPECT_FALSE(is_given_up());
  reject(1);
  EXPECT_TRUE(is_given_up());
}

TEST_F(Rejections, AreAlsoAttemptsThatTheWorkerLost) {
  for (int i = 0; i < 5; ++i) report(WorkerReportKind::failed, FailureKind::lost);
  EXPECT_TRUE(is_given_up());
}

TEST_F(Rejections, AreNoTasksThatFailByThemselves) {
  for (const FailureKind why : {FailureKind::exit_code, FailureKind::signal,
                                FailureKind::out_of_memory, FailureKind::time_limit}) {
    for (int i = 0; i < 5; ++i) report(WorkerReportKind::failed, why);
  }
  EXPECT_FALSE(is_given_up());
}

}  // namespace
}  // namespace muster
