#include "actors/cloud/rented_steps.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Due = RentedSteps::Due;

/// A cloud that is made to take instances back.
class TakingCloud final : public CloudProvider {
 public:
  void watch(std::shared_ptr<CloudHost>, const std::vector<RentedRecord>&) override {}
  std::vector<Offering> offerings() const override { return {}; }
  void launch(const RentedRecord&, std::function<void(LaunchAnswer)>) override {}
  void terminate(InstanceId, std::function<void(EndResult)>) override {}
  void list(std::function<void(FoundInstances)>) override {}
  bool interrupt(InstanceId) override { return takes; }

  bool takes = true;
};

class RentedStepsTest : public test::CloudParts {
 protected:
  RentedStepsTest() {
    setup_.provider = &cloud_;
    offerings_.recall();
  }
  void on_settle(InstanceId id) override { steps_.settle(id); }
  void on_renew(InstanceId id) override { steps_.renew(id); }

  static ProviderNews news_at(std::optional<double> s, CloudReason reason = {}) {
    ProviderNews news;
    if (s) news.at = at_s(*s);
    news.reason = reason;
    return news;
  }
  /// Is called when the news is on record.
  ProviderNews recorded_news(std::optional<double> s = {}) {
    ProviderNews news = news_at(s);
    news.recorded = [this](Instant at) { recorded_.push_back(at); };
    return news;
  }
  RentedSteps::InterruptAnswer answer() {
    return [this](const Expected<InstanceId, ActorError>& done) {
      answers_.push_back(done ? std::nullopt : std::optional(done.error().code));
    };
  }

  TakingCloud cloud_;
  std::vector<InstanceId> terminated_, forgotten_;
  std::vector<Instant> recorded_;
  std::vector<std::optional<ActorError>> answers_;
  RentedSteps steps_{setup_,
                     {book_, writer_, offerings_, reports_},
                     {desk_, [this](InstanceId id) { terminated_.push_back(id); },
                      [this](InstanceId id) { forgotten_.push_back(id); }}};
};

constexpr InstanceId kOne{1};

TEST_F(RentedStepsTest, NothingIsToldOrDoneBeforeItIsOnRecord) {
  rent(record_of(1));
  store_.slow = true;
  steps_.take(kOne, Due::up, recorded_news(3));
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(recorded_, IsEmpty());
  EXPECT_FALSE(steps_.is_idle(kOne));
  flush();
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::up));
  EXPECT_THAT(recorded_, ElementsAre(at_s(3)));
  EXPECT_EQ(stored(1).up_at, at_s(3));
  EXPECT_EQ(bill_.launched, 1U);
  EXPECT_TRUE(steps_.is_idle(kOne));
}

TEST_F(RentedStepsTest, WhatIsDueIsWrittenInItsOrderWhicheverCameFirst) {
  rent(record_of(1));
  store_.slow = true;
  ProviderNews machine;
  machine.text = "i-7";
  steps_.take(kOne, Due::machine, machine);
  desk_->run_until_s(9);
  steps_.take(kOne, Due::gone, news_at(9, CloudReason::failed));
  steps_.take(kOne, Due::up, news_at(3));
  flush();
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::up, CloudReportKind::gone));
  EXPECT_EQ(stored(1).machine, "i-7");
  EXPECT_TRUE(bill_.total == charge(0.8, 6));
  EXPECT_THAT(forgotten_, ElementsAre(kOne));
  EXPECT_NE(book_.find_over(kOne), nullptr);
}

TEST_F(RentedStepsTest, TheFirstNewsOfAKindCounts) {
  rent(record_of(1));
  store_.slow = true;
  steps_.renew(kOne);
  desk_->run_until_s(5);
  steps_.take(kOne, Due::up, news_at(3));
  steps_.take(kOne, Due::up, news_at(4));
  flush();
  EXPECT_EQ(stored(1).up_at, at_s(3));
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::up));
}

TEST_F(RentedStepsTest, WhatCannotBeWrittenIsTriedAgainAfterAWhile) {
  setup_.write_retry = std::chrono::seconds{10};
  rent(record_of(1));
  store_.full = true;
  steps_.take(kOne, Due::up, news_at(3));
  store_.full = false;
  steps_.take(kOne, Due::end, {});
  desk_->run_until_s(9);
  EXPECT_THAT(told(), IsEmpty());
  desk_->run_until_s(10);
  EXPECT_TRUE(stored(1).ending) << "by now that is due, too, and first";
  EXPECT_EQ(stored(1).up_at, at_s(3));
  EXPECT_THAT(terminated_, ElementsAre(kOne));
}

TEST_F(RentedStepsTest, NothingIsWrittenWhileItsPriceChanges) {
  rent(record_of(1), 0);
  store_.slow = true;
  desk_->run_until_s(10);
  offerings_.hear({it3_at(8), {}});
  steps_.take(kOne, Due::gone, news_at({}));
  EXPECT_EQ(store_.waiting.size(), 1U);
  desk_->run_until_s(20);
  flush();
  EXPECT_TRUE(bill_.total == charge(0.8, 10) + charge(8, 10));
}

TEST_F(RentedStepsTest, ARecordThatWasOnItsWayWhileItsPriceChangedIsChargedWithTheNewOne) {
  rent(record_of(1), 0);
  desk_->run_until_s(10);
  store_.slow = true;
  ProviderNews machine;
  machine.text = "i-7";
  steps_.take(kOne, Due::machine, machine);
  offerings_.hear({it3_at(8), {}});
  ASSERT_EQ(store_.waiting.size(), 2U);
  store_.slow = false;
  const auto writes = std::exchange(store_.waiting, {});
  writes[1]();
  writes[0]();
  EXPECT_EQ(book_.at(kOne).record.price, Price::from_usd_h(8));
  EXPECT_TRUE(book_.at(kOne).record.charged == charge(0.8, 10));
}

TEST_F(RentedStepsTest, ARecordIsWrittenAnewWithItsNewestPrice) {
  rent(record_of(1), 0);
  desk_->run_until_s(10);
  offerings_.hear({it3_at(8), {}});
  EXPECT_EQ(stored(1).change, 0U);
  steps_.renew(kOne);
  desk_->run_until_s(10);
  EXPECT_EQ(stored(1).change, 1U);
  EXPECT_EQ(book_.at(kOne).change_on_record, 1U);
}

TEST_F(RentedStepsTest, ABillIsNeverNegativeNorInTheFuture) {
  desk_->run_until_s(5);
  RentedRecord record = record_of(1);
  record.ordered_at = at_s(5);
  rent(record);
  steps_.take(kOne, Due::up, news_at(2));
  EXPECT_EQ(stored(1).up_at, at_s(5)) << "the cloud's clock is behind";
  steps_.take(kOne, Due::gone, news_at(99));
  EXPECT_EQ(stored(1).gone_at, at_s(5));
  rent(record_of(2), 4);
  steps_.take(InstanceId{2}, Due::gone, news_at(1));
  EXPECT_EQ(stored(2).gone_at, at_s(4));
}

TEST_F(RentedStepsTest, ARefusedOrderWasNeverRented) {
  rent(record_of(1));
  steps_.take(kOne, Due::refused, news_at({}, CloudReason::capacity));
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::refused));
  EXPECT_EQ(reported_[0].reason, CloudReason::capacity);
  EXPECT_EQ(bill_.refused, 1U);
  EXPECT_EQ(book_.find(kOne), nullptr);
  EXPECT_TRUE(stored(1).refused);
}

TEST_F(RentedStepsTest, AnOrderThatIsEndingIsEndedAndNotRefused) {
  RentedRecord record = record_of(1);
  record.ending = true;
  rent(record);
  steps_.take(kOne, Due::refused, {});
  EXPECT_THAT(terminated_, ElementsAre(kOne));
  EXPECT_EQ(bill_.refused, 0U);
  EXPECT_NE(book_.find(kOne), nullptr);
}

TEST_F(RentedStepsTest, NothingComesUpForAnOrderThatIsEndingUnlessTheCloudSaysWhenItDid) {
  for (const std::uint64_t id : {1U, 2U}) {
    RentedRecord record = record_of(id);
    record.ending = true;
    rent(record);
  }
  steps_.take(kOne, Due::up, recorded_news());
  steps_.take(InstanceId{2}, Due::up, recorded_news(0));
  EXPECT_EQ(stored(1).up_at, std::nullopt);
  EXPECT_EQ(stored(2).up_at, at_s(0));
  EXPECT_EQ(recorded_.size(), 1U);
}

TEST_F(RentedStepsTest, OnlySpotInstancesThatAreUpAreInterrupted) {
  rent(record_of(1), 0);
  rent(record_of(2, Market::spot));
  RentedRecord ending = record_of(3, Market::spot);
  ending.ending = true;
  rent(ending, 0);
  for (const std::uint64_t id : {1U, 2U, 3U, 4U}) steps_.interrupt(InstanceId{id}, answer());
  cloud_.takes = false;
  rent(record_of(5, Market::spot), 0);
  steps_.interrupt(InstanceId{5}, answer());
  EXPECT_EQ(answers_, (std::vector<std::optional<ActorError>>(5, ActorError::unknown)));
}

TEST_F(RentedStepsTest, AnInterruptionIsAnsweredWhenItsNoticeIsOnRecord) {
  rent(record_of(1, Market::spot), 0);
  steps_.interrupt(kOne, answer());
  steps_.interrupt(kOne, answer());
  EXPECT_THAT(answers_, ElementsAre(ActorError::unknown)) << "it is under way already";
  store_.slow = true;
  steps_.take(kOne, Due::notice, news_at(120));
  EXPECT_EQ(answers_.size(), 1U);
  flush();
  EXPECT_THAT(answers_, ElementsAre(ActorError::unknown, std::nullopt));
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::notice));
  steps_.interrupt(kOne, answer());
  EXPECT_EQ(answers_.size(), 3U) << "it has its notice";
  EXPECT_EQ(answers_.back(), std::nullopt);
}

TEST_F(RentedStepsTest, AnInterruptionThatCannotBeWrittenIsRefusedAndNotRepeated) {
  rent(record_of(1, Market::spot), 0);
  steps_.interrupt(kOne, answer());
  store_.full = true;
  steps_.take(kOne, Due::notice, news_at(120));
  EXPECT_THAT(answers_, ElementsAre(ActorError::store_failed));
  store_.full = false;
  desk_->run_until_s(100);
  EXPECT_EQ(stored(1).notice, std::nullopt);
  steps_.take(kOne, Due::notice, news_at(220));
  EXPECT_EQ(stored(1).notice, at_s(220)) << "the cloud's own notice is another matter";
}

TEST_F(RentedStepsTest, AnInterruptionOfAnInstanceThatGoesIsRefused) {
  rent(record_of(1, Market::spot), 0);
  steps_.interrupt(kOne, answer());
  steps_.take(kOne, Due::gone, {});
  EXPECT_THAT(answers_, ElementsAre(ActorError::unknown));
}

}  // namespace
}  // namespace muster
