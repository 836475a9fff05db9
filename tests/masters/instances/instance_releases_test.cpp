#include "masters/instances/instance_releases.hpp"

#include "tests/masters/master_parts.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InstanceReleasesTest : public test::MasterPartsTest {
 protected:
  InstanceReleasesTest() { make(); }
  void make(Fleet fleet = {}) {
    begin(std::move(fleet));
    cloud_.emplace(*recorder_, 0);
    releases_.emplace(*recorder_, *cloud_);
  }
  void release(std::uint64_t id) { happen(ReleaseDecided{InstanceId{id}, {}}); }
  void leave(std::uint64_t task) {
    happen(StopIssued{TaskId{task}, 1});
    happen(TaskCheckpointed{TaskId{task}, 1, {}, {}});
  }
  std::vector<std::uint64_t> ended() {
    forget();
    releases_->end_empty(now());
    return numbers(effects<EndInstance>());
  }
  std::size_t released_if_unused(std::uint64_t id) {
    forget();
    releases_->release_if_unused(InstanceId{id}, now());
    return events<ReleaseDecided>().size();
  }

  std::optional<CloudOrders> cloud_;
  std::optional<InstanceReleases> releases_;
};

TEST_F(InstanceReleasesTest, WhatIsReleasedEndsWhenItsLastTaskHasLeft) {
  ready(0);
  submit(1);
  submit(2);
  run(1, 0);
  run(2, 0);
  EXPECT_THAT(ended(), IsEmpty()) << "nobody has released it";
  happen(TaskUnassigned{TaskId{1}, {}});
  happen(TaskUnassigned{TaskId{2}, {}});
  release(0);
  EXPECT_THAT(ended(), IsEmpty());
  leave(1);
  EXPECT_THAT(ended(), IsEmpty());
  happen(TaskFinished{TaskId{2}, 1, {}});
  EXPECT_THAT(ended(), ElementsAre(0));
  EXPECT_THAT(ended(), IsEmpty()) << "once";
}

TEST_F(InstanceReleasesTest, OfAFleetBeyondWhichMoreIsRentedOnlyTheRentedAreGivenBack) {
  settings_.rent_beyond_fleet = true;
  make({{it4(), Market::on_demand, 1}});
  ready(0);
  happen(LaunchRequested{InstanceId{1}, it4(), Market::on_demand, {}, {CauseCode::fleet, 0}});
  EXPECT_EQ(released_if_unused(0), 1U);
  EXPECT_EQ(released_if_unused(1), 0U);
}

TEST_F(InstanceReleasesTest, InstancesEndInTheOrderOfTheirRelease) {
  for (const std::uint64_t id : {0, 1, 2}) ready(id);
  release(2);
  release(0);
  EXPECT_THAT(ended(), ElementsAre(2, 0));
}

TEST_F(InstanceReleasesTest, WhatTheCloudTookBackMeanwhileIsNotEnded) {
  ready(0);
  launch(1);
  release(0);
  release(1);
  happen(InstanceGone{InstanceId{0}, {}, CloudReason::not_said});
  happen(LaunchRefused{InstanceId{1}, {}, {}});
  EXPECT_THAT(ended(), IsEmpty());
}

TEST_F(InstanceReleasesTest, WhatNobodyIsMeantForAnyMoreIsGivenBack) {
  ready(0);
  submit(1);
  assign(1, 0);
  EXPECT_EQ(released_if_unused(0), 0U);
  happen(TaskUnassigned{TaskId{1}, {}});
  EXPECT_EQ(released_if_unused(0), 1U);
  EXPECT_EQ(released_if_unused(0), 0U) << "it is released already";
  EXPECT_EQ(released_if_unused(9), 0U) << "there is no such instance";
}

TEST_F(InstanceReleasesTest, WhatATaskStillRunsOnIsUsed) {
  ready(0);
  submit(1);
  run(1, 0);
  happen(TaskUnassigned{TaskId{1}, {}});
  EXPECT_EQ(released_if_unused(0), 0U);
}

TEST_F(InstanceReleasesTest, AFixedFleetKeepsWhatIsUnused) {
  make({{it4(), Market::on_demand, 1}});
  ready(0);
  EXPECT_EQ(released_if_unused(0), 0U);
}

TEST_F(InstanceReleasesTest, AfterARestartItKnowsWhatIsReleased) {
  ready(0);
  ready(1);
  submit(1);
  run(1, 1);
  happen(TaskUnassigned{TaskId{1}, {}});
  release(0);
  release(1);
  MasterSnapshot snapshot = recorder_->memory().snapshot();
  make();
  recorder_->restore(std::move(snapshot));
  EXPECT_THAT(ended(), ElementsAre(0));
  leave(1);
  EXPECT_THAT(ended(), ElementsAre(1));
}

}  // namespace
}  // namespace muster
