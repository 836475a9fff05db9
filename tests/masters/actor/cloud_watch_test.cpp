#include "masters/actor/cloud_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/masters/actor/actor_parts.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CloudWatchTest : public test::ActorPartsTest {};

TEST_F(CloudWatchTest, TheCloudIsGreetedUntilItAnswers) {
  cloud_->start();
  EXPECT_THAT(said(), ElementsAre("greet the cloud"));
  host_.run_until_s(3);
  EXPECT_THAT(said(), ElementsAre("greet the cloud"));
  cloud_->hear(report(CloudReportKind::clock));
  host_.run_until_s(100);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(CloudWatchTest, AnOrderIsRepeatedUntilTheCloudAnswers) {
  cloud_->start();
  cloud_->hear(report(CloudReportKind::clock));
  order_one();
  said();
  host_.run_until_s(5);
  EXPECT_THAT(said(), ElementsAre("launch 0", "launch 0"));
  cloud_->hear(report(CloudReportKind::up));
  host_.run_until_s(9);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(CloudWatchTest, NothingIsRepeatedBehindAJournalThatTakesNothing) {
  cloud_->start();
  cloud_->hear(report(CloudReportKind::clock));
  order_one();
  said();
  journal_takes_ = false;
  host_.run_until_s(60);
  EXPECT_THAT(said(), IsEmpty());
  journal_takes_ = true;
  host_.run_until_s(63);
  EXPECT_THAT(said(), ::testing::Contains("launch 0"));
}

TEST_F(CloudWatchTest, WhatIsRentedIsAskedAfter) {
  cloud_->start();
  cloud_->hear(report(CloudReportKind::clock));
  order_one();
  cloud_->hear(report(CloudReportKind::up));
  workers_->greet(hello(1), worker_);
  said();
  host_.run_until_s(11.9);
  EXPECT_THAT(said(), IsEmpty());
  host_.run_until_s(12.1);
  EXPECT_THAT(said(), ElementsAre("launch 0"));
}

TEST_F(CloudWatchTest, AnEndThatCameBeforeThePricesIsAskedForAgain) {
  cloud_->start();
  cloud_->hear(report(CloudReportKind::clock));
  order_one();
  cloud_->hear(report(CloudReportKind::up));
  said();
  CloudReport end = report(CloudReportKind::gone);
  end.last_change = 1;
  cloud_->hear(end);
  EXPECT_THAT(said(), ElementsAre("greet the cloud"));
  CloudReport answer = report(CloudReportKind::clock);
  answer.changes.push_back({1, answer.at, {"it3", Market::on_demand, "", {}}});
  cloud_->hear(answer);
  EXPECT_THAT(said(), ElementsAre("price", "launch 0")) << "it asks after the instance";
  cloud_->hear(end);
  EXPECT_THAT(said(), ElementsAre("gone"));
}

TEST_F(CloudWatchTest, ANoticeIsHeardOnce) {
  cloud_->start();
  order_one();
  cloud_->hear(report(CloudReportKind::up));
  cloud_->hear(report(CloudReportKind::notice));
  EXPECT_TRUE(master_->state().find(InstanceId{0})->released);
  cloud_->hear(report(CloudReportKind::notice));
  cloud_->hear(report(CloudReportKind::notice, 9));
  EXPECT_EQ(master_->state().find(InstanceId{9}), nullptr);
}

}  // namespace
}  // namespace muster
