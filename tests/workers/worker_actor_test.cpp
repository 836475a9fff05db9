#include "workers/worker_actor.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"
#include "workers/light_worker.hpp"

namespace muster {
namespace {

using test::Heard;

/// Starts at once, and ends a task a fixed time later unless it is stopped before.
class TimedExecutor : public Executor {
 public:
  explicit TimedExecutor(ExecutorHost host) : host_(std::move(host)) {}
  void start(const TaskOrder& e) override {
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

enum class Weight { full, light };

/// The same worker, whichever actor has its duties.
class WorkerActorTest : public ::testing::TestWithParam<Weight> {
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
    worker_ =
        GetParam() == Weight::light ? light_.start(setup) : system_.actors().spawn<Worker>(setup);
  }
  ~WorkerActorTest() override {
    system_.end(worker_);
    system_.end(master_);
  }
  void order(std::uint64_t task, Attempt attempt, const Resources& granted) {
    TaskOrder order;
    order.job = JobId{task};
    order.task.id = TaskId{task};
    order.attempt = attempt;
    order.granted = granted;
    caf::anon_send(worker_, start_atom_v, order);
  }

  test::VirtualSystem system_;
  LightWorkers light_{system_.actors(), system_.time().origin()};
  std::vector<Heard> heard_;
  test::ListeningMaster master_;
  WorkerActor worker_;
};

INSTANTIATE_TEST_SUITE_P(Of, WorkerActorTest, ::testing::Values(Weight::full, Weight::light),
                         [](const auto& weight) {
                           return weight.param == Weight::full ? "Worker" : "LightWorker";
                         });

TEST_P(WorkerActorTest, SaysHelloRunsAndReports) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(100);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "hello 4"}, {0, "started 1"}, {10, "finished 1"}}));
}

TEST_P(WorkerActorTest, ARepeatedOrAnOlderOrderChangesNothing) {
  order(1, 2, Resources::of(0, 2, 4));
  order(1, 2, Resources::of(0, 2, 4));
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(100);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "hello 4"}, {0, "started 1"}, {10, "finished 1"}}));
}

TEST_P(WorkerActorTest, NeverTakesOnMoreThanItsCapacity) {
  order(1, 1, Resources::of(0, 3, 4));
  order(2, 1, Resources::of(0, 3, 4));
  system_.run_until_s(5);
  EXPECT_EQ(heard_.back(), (Heard{0, "rejected 2"}));
  system_.run_until_s(20);
  order(3, 1, Resources::of(0, 4, 16));
  system_.run_until_s(100);
  EXPECT_EQ(heard_.back(), (Heard{30, "finished 3"}));
}

TEST_P(WorkerActorTest, StopsWhatItIsToldToStop) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(3);
  caf::anon_send(worker_, stop_atom_v, TaskId{1}, Attempt{1});
  system_.run_until_s(100);
  EXPECT_EQ(heard_.back(), (Heard{3, "left 1"}));
}

TEST_P(WorkerActorTest, AnswersWithTheThroughputOfWhatRuns) {
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(3);
  caf::anon_send(worker_, sample_atom_v, std::uint64_t{1});
  system_.run_until_s(5);
  EXPECT_EQ(heard_.back(), (Heard{3, "samples 1 at 0.875000"}));
}

TEST_P(WorkerActorTest, OfSettledAttemptsItRemembersTheLastSoMany) {
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

TEST_P(WorkerActorTest, WhoWatchesItIsToldOfItsEnd) {
  system_.run_until_s(1);
  std::vector<caf::error> ends;
  const caf::actor watcher =
      system_.actors().spawn([&, worker = worker_](caf::event_based_actor* self) -> caf::behavior {
        self->set_down_handler([&ends](const caf::down_msg& down) { ends.push_back(down.reason); });
        self->monitor(worker);
        return {[](greet_atom) {}};
      });
  system_.run_until_s(2);
  EXPECT_TRUE(ends.empty());
  caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
  order(1, 1, Resources::of(0, 2, 4));
  system_.run_until_s(3);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends.front(), caf::exit_reason::user_shutdown);
  // What comes after the end is for nobody.
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "hello 4"}}));
}

TEST_P(WorkerActorTest, WhoWatchesItTooLateIsToldAtOnce) {
  caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
  system_.run_until_s(1);
  std::size_t ends = 0;
  system_.actors().spawn([&, worker = worker_](caf::event_based_actor* self) -> caf::behavior {
    self->set_down_handler([&ends](const caf::down_msg&) { ++ends; });
    self->monitor(worker);
    return {[](greet_atom) {}};
  });
  system_.run_until_s(2);
  EXPECT_EQ(ends, 1U);
}

/// Bytes that are in use; 0 where another allocator than that of the C library counts.
std::size_t bytes_in_use() {
  return mallinfo2().uordblks;
}

/// Runs nothing and remembers nothing.
class IdleExecutor : public Executor {
 public:
  void start(const TaskOrder&) override {}
  void stop(TaskId, Attempt) override {}
  std::vector<ExecutionSample> sample() override { return {}; }
};

// A replay has a worker an instance, and may have a million instances.
TEST(LightWorker, TakesLittleMemory) {
  constexpr std::size_t kWorkers = 1000;
  test::VirtualSystem system;
  LightWorkers light(system.actors(), system.time().origin());
  std::vector<WorkerActor> workers;
  workers.reserve(kWorkers);
  WorkerSetup setup;
  setup.capacity = Resources::of(0, 4, 16);
  setup.make_executor = [](InstanceId, TypeId, WorkerCalls&) {
    return std::make_unique<IdleExecutor>();
  };
  const std::size_t before = bytes_in_use();
  for (std::size_t i = 0; i < kWorkers; ++i) {
    setup.instance = InstanceId{i};
    workers.push_back(light.start(setup));
    TaskOrder order;
    order.task.id = TaskId{i};
    order.attempt = 1;
    order.granted = Resources::of(0, 2, 4);
    caf::anon_send(workers.back(), start_atom_v, order);
  }
  system.time().drain();
  // A Worker takes 3,600 with its actor, its handlers and its duties.
  EXPECT_LT((bytes_in_use() - before) / kWorkers, 800U);
}

}  // namespace
}  // namespace muster
