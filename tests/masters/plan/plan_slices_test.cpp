// Plans are cut into slices where nothing depends on what is on the other side.

#include "masters/plan/plan_slices.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

class PlanSlicesTest : public ::testing::Test {
 protected:
  void apply(EventBody body) { state_.apply({Instant{}, std::move(body)}); }

  /// A job of so many tasks from that number on.
  void accept(std::uint64_t job, std::uint64_t first, std::uint64_t tasks, bool gang) {
    Job made = test::JobBuilder(job).build();
    const TaskSpec spec = made.tasks.front();
    made.tasks.clear();
    made.gang = gang;
    for (std::uint64_t i = 0; i < tasks; ++i) {
      made.tasks.push_back(spec);
      made.tasks.back().id = TaskId{first + i};
    }
    apply(JobAccepted{std::move(made)});
  }
  std::uint32_t launch() {
    plan_.launches.push_back({TypeId{0}, Market::on_demand, {}});
    return static_cast<std::uint32_t>(plan_.launches.size() - 1);
  }
  void place(std::uint64_t task, PlaceTarget to) { plan_.places.push_back({TaskId{task}, to, {}}); }

  /// The tasks that are placed, slice by slice.
  std::vector<std::vector<std::uint64_t>> cut(std::size_t most) {
    std::vector<std::vector<std::uint64_t>> tasks;
    for (const Plan& slice : slices_of(Plan(plan_), state_, most)) {
      tasks.emplace_back();
      for (const Place& part : slice.places) tasks.back().push_back(part.task.value);
      for (const Place& part : slice.places) {
        const auto* launch = std::get_if<LaunchIndex>(&part.to);
        EXPECT_TRUE(launch == nullptr || launch->value < slice.launches.size());
      }
    }
    return tasks;
  }

  using Tasks = std::vector<std::vector<std::uint64_t>>;

  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  Plan plan_;
};

TEST_F(PlanSlicesTest, AreOfTheAskedSizeAndInTheOrderOfThePlan) {
  accept(1, 10, 4, false);
  for (std::uint64_t task = 10; task < 14; ++task) place(task, LaunchIndex{launch()});
  EXPECT_EQ(cut(4), (Tasks{{10, 11}, {12, 13}}));
  EXPECT_EQ(cut(2), (Tasks{{10}, {11}, {12}, {13}}));
}

TEST_F(PlanSlicesTest, APlanWithoutABoundOrBelowItStaysOne) {
  accept(1, 10, 2, false);
  for (std::uint64_t task : {10, 11}) place(task, LaunchIndex{launch()});
  EXPECT_EQ(cut(0), (Tasks{{10, 11}}));
  EXPECT_EQ(cut(4), (Tasks{{10, 11}}));
  plan_ = {};
  EXPECT_EQ(cut(1), (Tasks{{}})) << "an empty plan too has a slice";
}

TEST_F(PlanSlicesTest, AGangIsNeverCutHoweverLargeItIs) {
  accept(1, 10, 1, false);
  accept(2, 20, 5, true);
  accept(3, 30, 1, false);
  place(20, LaunchIndex{launch()});
  place(10, LaunchIndex{launch()});
  for (std::uint64_t task = 21; task < 25; ++task) place(task, LaunchIndex{launch()});
  place(30, LaunchIndex{launch()});
  EXPECT_EQ(cut(4), (Tasks{{20, 21, 22, 23, 24}, {10, 30}}));
}

TEST_F(PlanSlicesTest, WhatIsPlacedOnALaunchComesWithIt) {
  accept(1, 10, 4, false);
  const std::uint32_t first = launch(), second = launch();
  place(10, LaunchIndex{second});
  place(11, LaunchIndex{first});
  place(12, LaunchIndex{second});
  place(13, LaunchIndex{first});
  EXPECT_EQ(cut(3), (Tasks{{10, 12}, {11, 13}}));
}

TEST_F(PlanSlicesTest, WhoComesToAnInstanceStaysWithWhoLeavesItAndWithItsRelease) {
  accept(1, 10, 3, false);
  for (std::uint64_t id : {0, 1, 2}) {
    apply(LaunchRequested{InstanceId{id}, TypeId{0}, Market::on_demand, {}, {}});
  }
  apply(TaskAssigned{TaskId{10}, InstanceId{0}, {}, {}});
  apply(TaskAssigned{TaskId{12}, InstanceId{2}, {}, {}});
  place(11, InstanceId{0});  // the room that 10 leaves
  place(12, LaunchIndex{launch()});
  place(10, InstanceId{1});
  plan_.releases.push_back({InstanceId{2}, {}});
  const std::vector<Plan> slices = slices_of(Plan(plan_), state_, 2);
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].places.size(), 2u);
  EXPECT_EQ(slices[0].releases.size(), 0u);
  EXPECT_EQ(slices[1].places.size(), 1u);
  EXPECT_EQ(slices[1].launches.size(), 1u);
  EXPECT_EQ(slices[1].releases.size(), 1u) << "of the instance that 12 leaves";
}

TEST_F(PlanSlicesTest, NothingOfThePlanIsLost) {
  accept(1, 10, 6, false);
  for (std::uint64_t task = 10; task < 16; ++task) place(task, LaunchIndex{launch()});
  for (std::uint64_t task = 10; task < 16; ++task) {
    plan_.refusals.push_back({TaskId{task}, {}});
    plan_.stops.push_back({TaskId{task}, {}, {}});
  }
  plan_.releases.push_back({InstanceId{7}, {}});
  std::size_t parts = 0;
  for (const Plan& slice : slices_of(Plan(plan_), state_, 5)) {
    EXPECT_LE(parts_of(slice), 5u);
    parts += parts_of(slice);
  }
  EXPECT_EQ(parts, parts_of(plan_));
}

TEST_F(PlanSlicesTest, NeverCutAGroup) {
  accept(1, 10, 6, false);
  for (std::uint64_t task = 10; task < 16; ++task) place(task, LaunchIndex{launch()});
  plan_.places[0].group = plan_.places[4].group = plan_.launches[5].group = 7;
  EXPECT_EQ(cut(2), (Tasks{{10, 14, 15}, {11}, {12}, {13}}));
}

TEST_F(PlanSlicesTest, KeepAResizeWithWhatComesToTheInstanceWhereItsJobIs) {
  Job wide = test::JobBuilder(10).elastic(1, 2).build();
  wide.id = JobId{1};
  apply(JobAccepted{std::move(wide)});
  accept(2, 20, 2, false);
  apply(LaunchRequested{InstanceId{3}, TypeId{0}, Market::on_demand, {}, {}});
  apply(TaskAssigned{TaskId{10}, InstanceId{3}, {}});
  place(20, LaunchIndex{launch()});
  place(21, InstanceId{3});
  plan_.resizes = {{JobId{1}, 2, {}}};
  const std::vector<Plan> slices = slices_of(Plan(plan_), state_, 2);
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_TRUE(slices[0].resizes.empty());
  ASSERT_EQ(slices[1].resizes.size(), 1U);
  EXPECT_EQ(slices[1].places[0].task, TaskId{21});
}

}  // namespace
}  // namespace muster
