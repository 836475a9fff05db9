#include "actors/cloud/rented_book.hpp"

#include <gmock/gmock.h>

#include "model/live_ids.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RentedBook::Rented it3_in_the_book(std::uint64_t id, double ordered_s = 0) {
  RentedRecord record;
  record.instance = InstanceId{id};
  record.type = "it3";
  record.ordered_at = test::at_s(ordered_s);
  return {record, {}};
}

TEST(RentedBookTest, FindsTheInstancesOfAnOfferingForAsLongAsTheyAreRented) {
  CloudBill bill;
  RentedBook book(bill, 10);
  const OfferingName it3{"it3", Market::on_demand, {}};
  book.add(it3_in_the_book(1));
  book.add(it3_in_the_book(2));
  EXPECT_THAT(book.rented_of(it3), ElementsAre(InstanceId{1}, InstanceId{2}));
  EXPECT_EQ(bill.rented, 2U);
  book.remove(InstanceId{1});
  EXPECT_THAT(book.rented_of(it3), ElementsAre(InstanceId{2}));
  EXPECT_THAT(book.rented_of({"it3", Market::spot, {}}), IsEmpty());
  EXPECT_EQ(book.find(InstanceId{1}), nullptr);
  EXPECT_EQ(bill.rented, 1U);
}

TEST(RentedBookTest, KnowsTheOldestOrderThatIsOpen) {
  CloudBill bill;
  RentedBook book(bill, 10);
  EXPECT_EQ(book.oldest_order(), Instant::max());
  book.add(it3_in_the_book(1, 20));
  book.add(it3_in_the_book(2, 10));
  book.add(it3_in_the_book(3, 30));
  EXPECT_EQ(book.oldest_order(), test::at_s(10));
  book.remove(InstanceId{2});
  EXPECT_EQ(book.oldest_order(), test::at_s(20));
}

TEST(RentedBookTest, RemembersTheLatestThatAreOverAndTheNumbersOfTheOthers) {
  CloudBill bill;
  RentedBook book(bill, 2);
  for (const std::uint64_t id : {3U, 1U, 2U}) book.remember(it3_in_the_book(id).record);
  EXPECT_EQ(book.find_over(InstanceId{3}), nullptr) << "the first that was over";
  EXPECT_TRUE(book.is_forgotten(InstanceId{3}));
  EXPECT_NE(book.find_over(InstanceId{1}), nullptr);
  EXPECT_FALSE(book.is_forgotten(InstanceId{1}));
}

TEST(RentedBookTest, NumbersOfBeforeTheStartAreForgottenWithoutARecord) {
  CloudBill bill;
  RentedBook book(bill, 10);
  book.note_number(InstanceId{5});
  book.end_recall();
  book.note_number(InstanceId{8});
  EXPECT_TRUE(book.is_forgotten(InstanceId{4}));
  EXPECT_TRUE(book.is_forgotten(InstanceId{5}));
  EXPECT_FALSE(book.is_forgotten(InstanceId{6})) << "its order may be under way";
  EXPECT_FALSE(book.is_forgotten(InstanceId{kIdBlock + 4})) << "of another master";
}

TEST(RentedBookTest, KnowsTheHighestNumberOfEachMaster) {
  CloudBill bill;
  RentedBook book(bill, 10);
  for (const std::uint64_t id : {7U, 3U}) book.note_number(InstanceId{id});
  book.add(it3_in_the_book(kIdBlock + 2));
  EXPECT_THAT(book.newest(), ElementsAre(InstanceId{7}, InstanceId{kIdBlock + 2}));
}

TEST(RentedBookTest, ShowsTheRentedOnesAndThenTheLatestThatAreOver) {
  CloudBill bill;
  bill.total = Money::of(Price::from_usd_h(1), std::chrono::hours{2});
  RentedBook book(bill, 10);
  for (const std::uint64_t id : {1U, 2U}) book.remember(it3_in_the_book(id).record);
  RentedBook::Rented up = it3_in_the_book(3);
  up.record.up_at = test::at_s(0);
  up.record.price = Price::from_usd_h(1);
  book.add(up);
  const RentedView view = book.show({2}, test::at_s(3600));
  ASSERT_EQ(view.rented.size(), 2U);
  EXPECT_EQ(view.rented[0].instance, InstanceId{3});
  EXPECT_EQ(view.rented[1].instance, InstanceId{2});
  EXPECT_DOUBLE_EQ(view.total_usd, 3) << "with what is not billed yet";
}

}  // namespace
}  // namespace muster
