// How a master goes on from the instance numbers that the cloud has on record.

#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::MasterActorTest;

TEST_F(MasterActorTest, OnANewStoreItRentsNothingBeforeTheCloudHasToldWhichNumbersItHas) {
  clock_is_told_ = false;
  start([](MasterSetup& setup) {
    setup.settings.watch.remind_every = std::chrono::seconds{2};
    setup.asks_numbers = true;
  });
  accept(1);
  system_.run_until_s(100);
  EXPECT_TRUE(heard_.empty());
  CloudReport clock = report(CloudReportKind::clock, {});
  clock.newest = {InstanceId{2}, InstanceId{1'000'000'007}};
  caf::anon_send(master_, clock);
  system_.run_until_s(103);
  ASSERT_FALSE(heard_.empty());
  EXPECT_EQ(times_heard("launch 3"), heard_.size());
}

TEST_F(MasterActorTest, NumbersOnFromWhatTheCloudHasWheneverItIsTold) {
  CloudReport clock = report(CloudReportKind::clock, {});
  clock.newest = {InstanceId{8}};
  caf::anon_send(master_, clock);
  accept(1);
  system_.run_until_s(3);
  EXPECT_EQ(times_heard("launch 9"), 1u);
}

}  // namespace
}  // namespace muster
