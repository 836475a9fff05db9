// Replicas of services as processes: a keeper below the shim, and what the worker hears of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/process_host.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::ProcessHost;
using test::script;

class ProcessServiceTest : public ::testing::Test {
 protected:
  ProcessServiceTest() { options_.address = "10.0.0.7"; }

  /// Starts a replica of a script, which is ready while it runs.
  void begin(const std::string& text, ServiceSpec service = {}) {
    TaskOrder order = script(1, text);
    order.service = std::move(service);
    order.program.work_dir = files_.folder().string();
    executor_->start(order);
  }
  bool hears(const std::function<bool(const ReplicaState&)>& what) {
    return host_.run_until([&] { return what(state()); });
  }
  const ReplicaState& state() { return host_.replicas[TaskId{1}]; }
  std::string said(const char* file) const { return test::content_of(files_.folder() / file); }
  bool waits_for(const char* file) {
    return host_.run_until([&] { return !said(file).empty(); });
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_ = test::process_options(files_.folder());
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_ =
      std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
};

TEST_F(ProcessServiceTest, AReplicaHasPortsAndAnAddressAndIsToldThem) {
  options_.first_port = 24'000;
  options_.last_port = 24'100;
  executor_.reset();
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  ServiceSpec service;
  service.ports = {"http", "admin"};
  begin("echo $MUSTER_PORT_HTTP $MUSTER_PORT_ADMIN $MUSTER_ADDRESS > told; exec sleep 100",
        service);
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.ready; }));
  ASSERT_EQ(state().ports.size(), 2U);
  EXPECT_EQ(state().address, "10.0.0.7");
  for (const ReplicaPort& port : state().ports) {
    EXPECT_GE(port.number, 24'000U);
    EXPECT_LE(port.number, 24'100U);
  }
  ASSERT_TRUE(waits_for("told"));
  EXPECT_EQ(said("told"), std::to_string(state().ports[0].number) + " " +
                              std::to_string(state().ports[1].number) + " 10.0.0.7\n");
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

TEST_F(ProcessServiceTest, WhenItsProgramEndsItIsStartedAgainInItsAttempt) {
  begin("test -e once && exec sleep 100; echo 1 > once; exit 3");
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.ready && state.restarts == 1; }));
  EXPECT_EQ(state().exit_code, 3);
  EXPECT_FALSE(host_.heard("finished", TaskId{1}));
  EXPECT_FALSE(host_.heard("failed", TaskId{1}));
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

TEST_F(ProcessServiceTest, TheNextWorkerHearsOfItAgain) {
  begin("exec sleep 100");
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.ready; }));
  executor_.reset();
  host_.replicas.clear();
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  ASSERT_EQ(executor_->adopt().size(), 1U);
  EXPECT_TRUE(hears([](const ReplicaState& state) { return state.ready; }));
  host_.replicas.clear();
  executor_->repeat_reports();
  EXPECT_TRUE(hears([](const ReplicaState& state) { return state.ready; }));
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

TEST_F(ProcessServiceTest, OneThatStopsIsNoLongerReadyBeforeItsProgramIsAsked) {
  ServiceSpec service;
  // The shim tells a change a second after the one before, at the earliest.
  service.drain = 1200ms;
  begin("trap 'echo asked > asked; exit 0' TERM; while :; do sleep 0.05; done", service);
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.ready; }));
  executor_->stop(TaskId{1}, 1);
  ASSERT_TRUE(hears([](const ReplicaState& state) { return !state.ready; }));
  EXPECT_EQ(said("asked"), "");
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
  EXPECT_EQ(said("asked"), "asked\n");
}

TEST_F(ProcessServiceTest, AProgramThatCannotBeStartedIsTriedAgainAndSaidSo) {
  TaskOrder order = script(1, "");
  order.program.argv = {"/nowhere/server"};
  order.service.emplace();
  executor_->start(order);
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.restarts == 1; }));
  EXPECT_EQ(state().exit_code, 127);
  EXPECT_NE(state().trouble, "");
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

TEST_F(ProcessServiceTest, OneThatTakesTooMuchMemoryIsStartedAgain) {
  options_.best_means = process::LimitMeans::subreaper;
  executor_.reset();
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  TaskOrder order = script(1,
                           "test -e once && exec sleep 100; echo 1 > once; head -c 300m /dev/zero "
                           "| tail -c 300m | sleep 100");
  order.program.work_dir = files_.folder().string();
  order.granted = Resources::of(0, 1, 0.05);
  order.service.emplace();
  executor_->start(order);
  ASSERT_TRUE(hears([](const ReplicaState& state) { return state.ready && state.restarts == 1; }));
  EXPECT_EQ(state().exit_code, 128 + SIGKILL);
  executor_->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

}  // namespace
}  // namespace muster
