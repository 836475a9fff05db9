#include "tools/pareto/rented_gpus.hpp"

#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster::pareto {
namespace {

using muster::test::at_s;

/// An event log of instances of the first two types, which have four GPUs and one.
class RentedGpusTest : public ::testing::Test {
 protected:
  void at(double time_s, EventBody body) { rented_.apply({at_s(time_s), std::move(body)}); }
  void launch(double time_s, std::uint64_t id, std::uint32_t type) {
    at(time_s, LaunchRequested{InstanceId{id}, TypeId{type}, Market::on_demand, {}, {}});
  }

  Catalog catalog_ = muster::test::table3_catalog();
  RentedGpus rented_{catalog_};
};

TEST_F(RentedGpusTest, CountFromTheLaunchToTheDecisionToGiveBack) {
  launch(0, 1, 0);
  at(1800, ReleaseDecided{InstanceId{1}, {}});
  at(7200, InstanceGone{InstanceId{1}});
  EXPECT_DOUBLE_EQ(rented_.gpu_h(), 2);
}

TEST_F(RentedGpusTest, CountToTheEndOfWhatTheCloudTakesBack) {
  launch(0, 1, 1);
  launch(0, 2, 1);
  at(3600, InstanceGone{InstanceId{1}});
  EXPECT_DOUBLE_EQ(rented_.gpu_h(), 1);
  at(5400, ReleaseDecided{InstanceId{2}, {}});
  EXPECT_DOUBLE_EQ(rented_.gpu_h(), 2.5);
}

TEST_F(RentedGpusTest, LeaveOutWhatTheCloudRefused) {
  launch(0, 1, 0);
  at(60, LaunchRefused{InstanceId{1}, {}});
  at(3600, ReleaseDecided{InstanceId{1}, {}});
  EXPECT_EQ(rented_.gpu_h(), 0);
}

}  // namespace
}  // namespace muster::pareto
