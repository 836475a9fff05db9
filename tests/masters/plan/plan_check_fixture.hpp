#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "masters/plan/plan_check.hpp"
#include "tests/support/builders.hpp"

namespace muster {

/// A master with two instances and three jobs of a task.
class PlanCheckTest : public ::testing::Test {
 protected:
  PlanCheckTest() {
    for (std::uint64_t id = 0; id < 2; ++id) {
      apply(LaunchRequested{InstanceId{id}, it3(), Market::on_demand, Price::from_usd_h(0.8), {}});
      apply(InstanceUp{InstanceId{id}});
      apply(InstanceReady{InstanceId{id}});
    }
    for (std::uint64_t id = 1; id <= 3; ++id) {
      apply(JobAccepted{test::JobBuilder(id).demand(Resources::of(0, 5, 8)).build()});
    }
  }
  void apply(EventBody body) { state_.apply({test::at_s(0), std::move(body)}); }
  void run(std::uint64_t task, std::uint64_t on) {
    apply(TaskAssigned{TaskId{task}, InstanceId{on}, {}});
    apply(StartIssued{TaskId{task}, InstanceId{on}, 1});
    apply(TaskStarted{TaskId{task}, 1, {}, {}});
  }
  TypeId it3() const { return test::type_named(catalog_, "it3"); }
  static Place put(std::uint64_t task, std::uint64_t on) {
    return {TaskId{task}, InstanceId{on}, {}};
  }
  CheckedPlan check(const Plan& plan, MasterCaps caps = {}) const {
    return check_plan(plan, state_, {caps, 0, {}});
  }

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
};

}  // namespace muster
