#include "actors/cloud/cloud_offerings.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The offerings of a catalog with one type, it3: 0.8 USD/h, on the spot market 0.08.
class CloudOfferingsTest : public test::CloudParts {
 protected:
  CloudOfferingsTest() { offerings_.recall(); }
  void on_settle(InstanceId id) override {
    CloudParts::on_settle(id);
    charged_when_settled_.push_back(book_.at(id).record.charged);
  }
  void hear_at(double s, double usd_h, std::optional<Instant> since = {}) {
    desk_->run_until_s(s);
    offerings_.hear({it3_at(usd_h), since});
  }
  void hear_left(double s, std::uint32_t free) {
    desk_->run_until_s(s);
    Offering offering = it3_at(1);
    offering.free = free;
    offerings_.hear({offering, {}});
  }
  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> all;
    for (const OfferingChange& change : announced_) all.push_back(change.number);
    return all;
  }

  std::vector<Money> charged_when_settled_;
};

TEST_F(CloudOfferingsTest, ChangesHaveNumbersWithoutAGapAndAreToldWhenTheyAreOnRecord) {
  store_.slow = true;
  hear_at(5, 1);
  EXPECT_THAT(announced_, IsEmpty()) << "it may be lost in a crash";
  EXPECT_EQ(offerings_.last_change(), 0U);
  flush();
  hear_at(6, 2);
  EXPECT_THAT(numbers(), ElementsAre(1U, 2U));
  EXPECT_EQ(offerings_.last_change(), 2U);
  EXPECT_EQ(announced_[1].at, at_s(6));
}

TEST_F(CloudOfferingsTest, APriceThatIsKnownIsNoChange) {
  hear_at(1, 0.8);
  EXPECT_THAT(announced_, IsEmpty());
  hear_at(2, 1);
  hear_at(3, 1);
  EXPECT_EQ(announced_.size(), 1U);
}

TEST_F(CloudOfferingsTest, OneChangeIsWrittenAtATimeAndOfThoseThatWaitOnlyTheLatest) {
  store_.slow = true;
  for (const double usd_h : {1.0, 2.0, 3.0}) hear_at(1, usd_h);
  EXPECT_EQ(store_.waiting.size(), 1U);
  flush();
  ASSERT_EQ(announced_.size(), 2U);
  EXPECT_EQ(announced_[1].offering.price, Price::from_usd_h(3));
}

TEST_F(CloudOfferingsTest, AChangeBackToTheOldPriceFollowsTheOneThatIsBeingWritten) {
  store_.slow = true;
  hear_at(1, 1);
  hear_at(1, 0.8);
  flush();
  ASSERT_EQ(announced_.size(), 2U);
  EXPECT_EQ(announced_[1].offering.price, Price::from_usd_h(0.8));
}

TEST_F(CloudOfferingsTest, TimesOfChangesNeverGoBackAndAreNotInTheFuture) {
  hear_at(50, 1, at_s(40));
  hear_at(60, 2, at_s(20));
  hear_at(70, 3, at_s(99));
  ASSERT_EQ(announced_.size(), 3U);
  EXPECT_EQ(announced_[0].at, at_s(40));
  EXPECT_EQ(announced_[1].at, at_s(40));
  EXPECT_EQ(announced_[2].at, at_s(70));
}

TEST_F(CloudOfferingsTest, AChangeIsNotInThePastOfABillWhoseEndIsBeingWritten) {
  rent(record_of(1), 0);
  RentedRecord over = stored(1);
  over.gone_at = at_s(45);
  store_.slow = true;
  writer_.write(over, [](bool) {});
  hear_at(50, 1, at_s(40));
  flush();
  ASSERT_EQ(announced_.size(), 1U);
  EXPECT_EQ(announced_[0].at, at_s(50));
}

TEST_F(CloudOfferingsTest, AChangeThatCannotBeWrittenIsTriedAgainAfterAWhile) {
  setup_.write_retry = std::chrono::seconds{10};
  store_.full = true;
  hear_at(1, 1);
  store_.full = false;
  hear_at(10.5, 2);
  EXPECT_THAT(announced_, IsEmpty()) << "not before its time";
  desk_->run_until_s(11);
  ASSERT_EQ(announced_.size(), 1U);
  EXPECT_EQ(announced_[0].number, 1U);
  EXPECT_EQ(announced_[0].offering.price, Price::from_usd_h(2));
}

TEST_F(CloudOfferingsTest, InstancesOfTheOfferingAreChargedAtTheOldPriceBeforeAnythingElse) {
  rent(record_of(1), 0);
  rent(record_of(2, Market::spot), 0);
  store_.slow = true;
  hear_at(10, 8);
  EXPECT_TRUE(offerings_.is_changing(book_.at(InstanceId{1}).record));
  EXPECT_FALSE(offerings_.is_changing(book_.at(InstanceId{2}).record));
  flush();
  EXPECT_FALSE(offerings_.is_changing(book_.at(InstanceId{1}).record));
  EXPECT_THAT(settled_, ElementsAre(InstanceId{1}));
  ASSERT_EQ(charged_when_settled_.size(), 1U);
  EXPECT_TRUE(charged_when_settled_[0] == charge(0.8, 10));
  EXPECT_TRUE(book_.at(InstanceId{2}).record.charged == Money{});
}

TEST_F(CloudOfferingsTest, AnInstanceCostsThePriceOfEachMoment) {
  hear_at(10, 1);
  hear_at(20, 2);
  RentedRecord record = record_of(1);
  offerings_.price_from(record, at_s(15));
  EXPECT_EQ(record.price, Price::from_usd_h(1));
  EXPECT_EQ(record.change, 1U);
  record.up_at = at_s(15);
  offerings_.catch_up(record);
  EXPECT_TRUE(charge_of(record, at_s(30)) == charge(1, 5) + charge(2, 10));
  offerings_.catch_up(record);
  EXPECT_TRUE(charge_of(record, at_s(30)) == charge(1, 5) + charge(2, 10)) << "not twice";
}

TEST_F(CloudOfferingsTest, NothingIsChargedForAChangeAfterTheBillHasEnded) {
  hear_at(20, 2);
  RentedRecord record = record_of(1);
  record.up_at = at_s(0);
  record.gone_at = at_s(20);
  offerings_.catch_up(record);
  EXPECT_TRUE(charge_of(record, at_s(30)) == charge(0.8, 20));
  EXPECT_EQ(record.change, 0U);
}

TEST_F(CloudOfferingsTest, ChangesThatNobodyNeedsAreDropped) {
  setup_.keep_changes = 4;
  for (int i = 1; i <= 20; ++i) hear_at(i, i);
  EXPECT_LE(store_.changed.size(), 6U);
  EXPECT_EQ(offerings_.changes().size(), store_.changed.size());
  EXPECT_EQ(offerings_.changes().back().number, 20U);
  EXPECT_THAT(renewed_, IsEmpty());
  const OfferingChange first = offerings_.changes().front();
  RentedRecord record = record_of(1);
  offerings_.price_from(record, first.at - std::chrono::seconds{1});
  EXPECT_EQ(record.price, Price::from_usd_h(static_cast<double>(first.number) - 1))
      << "the price of the change before, which is not kept";
}

TEST_F(CloudOfferingsTest, ChangesSinceTheOldestOpenOrderAreKept) {
  setup_.keep_changes = 4;
  rent(record_of(1), 0);
  book_.at(InstanceId{1}).change_on_record = 20;
  for (int i = 1; i <= 20; ++i) hear_at(i, i);
  EXPECT_EQ(store_.changed.size(), 20U);
}

TEST_F(CloudOfferingsTest, ChangesOfCountsAreDroppedHoweverOldTheOldestOpenOrderIs) {
  setup_.keep_changes = 4;
  rent(record_of(1), 0);
  hear_at(1, 1);
  for (std::uint32_t i = 2; i <= 20; ++i) hear_left(i, i);
  EXPECT_LE(store_.changed.size(), 7U);
  EXPECT_TRUE(store_.changed.contains(1)) << "the price has changed since the order";
  EXPECT_TRUE(store_.changed.contains(20));
  RentedRecord record = record_of(2);
  offerings_.price_from(record, at_s(0));
  EXPECT_EQ(record.price, it3_at(0.8).price);
  offerings_.price_from(record, at_s(10));
  EXPECT_EQ(record.price, it3_at(1).price);
}

TEST_F(CloudOfferingsTest, AnEqualCountIsToldOnceSomethingWasRentedSince) {
  hear_left(1, 3);
  hear_left(2, 3);
  EXPECT_EQ(announced_.size(), 1U);
  rent(record_of(1), 0);
  hear_left(3, 3);
  hear_left(4, 3);
  EXPECT_EQ(announced_.size(), 2U);
}

TEST_F(CloudOfferingsTest, AChangeIsKeptUntilTheRecordsOfItsInstancesHaveIt) {
  setup_.keep_changes = 4;
  for (int i = 1; i <= 3; ++i) hear_at(i, i);
  RentedRecord record = record_of(1);
  record.ordered_at = at_s(10);
  rent(record);
  for (int i = 11; i <= 20; ++i) hear_at(i, i);
  EXPECT_TRUE(store_.changed.contains(1)) << "the record does not have it";
  EXPECT_FALSE(renewed_.empty());
  EXPECT_THAT(renewed_, Each(InstanceId{1}));
  book_.at(InstanceId{1}).change_on_record = offerings_.last_change();
  for (int i = 21; i <= 30; ++i) hear_at(i, i);
  EXPECT_FALSE(store_.changed.contains(1));
}

TEST_F(CloudOfferingsTest, NumbersAndPricesGoOnAfterARestart) {
  hear_at(10, 1);
  hear_at(20, 2);
  CloudOfferings next(setup_, book_, writer_,
                      {desk_, [](const OfferingChange&) {}, [](InstanceId) {}, [](InstanceId) {}});
  next.recall();
  EXPECT_EQ(next.last_change(), 2U);
  EXPECT_EQ(next.last_change_at(), at_s(20));
  RentedRecord record = record_of(1);
  next.price_from(record, at_s(10));
  EXPECT_EQ(record.price, Price::from_usd_h(1));
}

}  // namespace
}  // namespace muster
