#include "workers/worker_actor.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::Heard;

/// Starts at once, and ends a task a fixed time later unless it is stopped before.
class TimedExecutor : public Executor {
 public:
  explicit TimedExecutor(ExecutorHost host) : host_(std::move(host)) {}
  void start(const Execution& e) override {
    const TaskId task = e.task.id;
    const Attempt attempt = e.attempt;
    running_[task] = attempt;
    host_.started(task, attempt, {}, {});
    host_.at(host_.now() + std::chrono::seconds{10}, [this, task, attempt] {
      if (running_.erase(task) > 0) host_.finished(task, attempt, {});
    });
  }
  void stop(TaskId task, Attempt attempt) override {
    if (running_.erase(task) > 0) host_.checkpointed(task, attempt, {}, {});
  }
  std::vector<ExecutionSample> sample() override {
    std::vector<ExecutionSample> all;
    for (const auto& [task, attempt] : running_) all.push_back({task, attempt, 0.875});
    return all;
  }

 private:
  ExecutorHost host_;
  std::map<TaskId, Attempt> running_;
};

class WorkerActorTest : public ::testing::Test {
 protected:
  WorkerActorTest() {
    master_ = test::spawn_listening_master(system_, heard_);
    WorkerSetup setup;
    setup.instance = InstanceId{4};
    setup.capacity = Resources::of(0, 4, 16);
    setup.master = master_;
    setup.origin = system_.time().origin();
    setup.remembered = 2;
    setup.make_executor = [](InstanceId, TypeId, ExecutorHost host) {
      return std::make_unique<TimedExecutor>(std::move(host));
    };
    worker_ = system_.actors().spawn<Worker>(std::move(setup));
  }
  ~WorkerActorTest() override {
    system_.end(worker_);
    system_.end(master_);
  }
  void order(std::uint64_t task, Attempt attempt, const Resources& granted) {
    StartOrder order;
    order.job = JobId{task};
    order.task.id = TaskId{task};
    order.attempt = attempt;
    order.granted = granted;
    caf::anon_send(worker_, start_atom_v, order);
  }

  test::VirtualSystem system_;
  std::vector<Heard> heard_;
  MasterActor master_;
  WorkerActor worker_;
};

TEST_F(WorkerActorTest, SaysHelloRunsAndReports) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(100);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "hello 4"}, {0, "started 1"}, {10, "finished 1"}}));
}

TEST_F(WorkerActorTest, ARepeatedOrAnOlderOrderChangesNothing) {
  order(1, 2, Resources::of(0, 2, 4));
  order(1, 2, Resources::of(0, 2, 4));
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(100);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "hello 4"}, {0, "started 1"}, {10, "finished 1"}}));
}

TEST_F(WorkerActorTest, NeverTakesOnMoreThanItsCapacity) {
  order(1, 1, Resources::of(0, 3, 4));
  order(2, 1, Resources::of(0, 3, 4));
  system_.run_until_s(5);
  EXPECT_EQ(heard_.back(), (Heard{0, "rejected 2"}));
  system_.run_until_s(20);
  order(3, 1, Resources::of(0, 4, 16));
  system_.run_until_s(100);
  EXPECT_EQ(heard_.back(), (Heard{30, "finished 3"}));
}

TEST_F(WorkerActorTest, StopsWhatItIsToldToStop) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(3);
  caf::anon_send(worker_, stop_atom_v, TaskId{1}, Attempt{1});
  system_.run_until_s(100);
  EXPECT_EQ(heard_.back(), (Heard{3, "left 1"}));
}

TEST_F(WorkerActorTest, AnswersWithTheThroughputOfWhatRuns) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(3);
  caf::anon_send(worker_, sample_atom_v, std::uint64_t{1});
  system_.run_until_s(5);
  EXPECT_EQ(heard_.back(), (Heard{3, "samples 1 at 0.875000"}));
}

TEST_F(WorkerActorTest, OfSettledAttemptsItRemembersTheLastSoMany) {
  const auto run_and_settle = [&](std::uint64_t task, double until_s) {
    order(task, 1, Resources::of(0, 2, 4));
    system_.run_until_s(until_s);
    caf::anon_send(worker_, ack_atom_v, TaskId{task}, Attempt{1});
    system_.time().drain();
  };
  run_and_settle(1, 20);
  run_and_settle(2, 40);
  run_and_settle(3, 60);
  heard_.clear();
  order(3, 1, Resources::of(0, 2, 4));
  order(2, 1, Resources::of(0, 2, 4));
  system_.run_until_s(80);
  EXPECT_TRUE(heard_.empty());
  order(1, 1, Resources::of(0, 2, 4));  // so long after its end nobody repeats a start
  system_.run_until_s(81);
  EXPECT_EQ(heard_, (std::vector<Heard>{{80, "started 1"}}));
}

}  // namespace
}  // namespace muster
