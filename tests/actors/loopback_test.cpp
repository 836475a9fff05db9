#include "actors/cloud/loopback.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::Heard;

class LoopbackTest : public ::testing::Test {
 protected:
  LoopbackTest() { master_ = test::spawn_listening_master(system_, heard_); }
  ~LoopbackTest() override {
    system_.end(cloud_);
    system_.end(master_);
  }

  void make_cloud(std::uint32_t max_instances = 0) {
    LoopbackSetup setup;
    setup.catalog = &catalog_;
    setup.epoch = system_.time().epoch();
    setup.quantum = std::chrono::seconds{1};
    setup.max_instances = max_instances;
    setup.bill = &bill_;
    setup.launch_worker = [this](InstanceId id, TypeId, const MasterActor& master) {
      WorkerActor worker =
          system_.actors().spawn([](WorkerActor::pointer) -> WorkerActor::behavior_type {
            return {[](start_atom, const StartOrder&) {}, [](stop_atom, TaskId, Attempt) {},
                    [](sample_atom, std::uint64_t) {}, [](const Wakeup&) {}};
          });
      caf::anon_send(master, hello_atom_v, id, worker);
      return worker;
    };
    cloud_ = system_.actors().spawn<LoopbackCloud>(std::move(setup));
  }
  void launch(std::uint64_t id) {
    caf::anon_send(cloud_, launch_atom_v, LaunchOrder{InstanceId{id}, TypeId{2}, 0}, master_);
  }
  void end(std::uint64_t id) { caf::anon_send(cloud_, end_atom_v, InstanceId{id}); }

  test::VirtualSystem system_;
  Catalog catalog_ = test::table3_catalog();  // it3: up after 10 s, ready after 100 s more
  std::vector<Heard> heard_;
  CloudBill bill_;
  MasterActor master_;
  CloudActor cloud_;
};

TEST_F(LoopbackTest, AnInstanceComesUpGetsAWorkerAndEnds) {
  make_cloud();
  launch(0);
  system_.run_until_s(200);
  end(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (std::vector<Heard>{{10, "up 0"}, {110, "hello 0"}, {201, "gone 0"}}));
}

TEST_F(LoopbackTest, BillsFromUpToGone) {
  make_cloud();
  launch(0);
  system_.run_until_s(110);
  end(0);
  system_.run_until_s(300);
  EXPECT_TRUE(bill_.total == Money::of(Price::from_usd_h(0.8), std::chrono::seconds{101}));
  EXPECT_EQ(bill_.launched, 1u);
  EXPECT_EQ(bill_.rented, 0u);
}

TEST_F(LoopbackTest, RepeatedOrdersChangeNothing) {
  make_cloud();
  launch(0);
  launch(0);
  system_.run_until_s(110);
  end(0);
  end(0);
  launch(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (std::vector<Heard>{{10, "up 0"}, {110, "hello 0"}, {111, "gone 0"}}));
}

TEST_F(LoopbackTest, RefusesMoreThanItHas) {
  make_cloud(1);
  launch(0);
  launch(1);
  system_.run_until_s(5);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "refused 1"}}));
  EXPECT_EQ(bill_.refused, 1u);
}

TEST_F(LoopbackTest, AnOrderTakenBackBeforeTheInstanceIsUpCostsNothing) {
  make_cloud();
  launch(0);
  system_.time().drain();
  end(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (std::vector<Heard>{{0, "gone 0"}}));
  EXPECT_TRUE(bill_.total == Money{});
}

}  // namespace
}  // namespace muster
