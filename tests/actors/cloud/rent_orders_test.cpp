#include "actors/cloud/rent_orders.hpp"

#include <gmock/gmock.h>

#include "tests/actors/cloud/cloud_parts.hpp"

namespace muster {
namespace {

using test::at_s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RentOrdersTest : public test::CloudParts {
 protected:
  RentOrdersTest() { offerings_.recall(); }
  void on_settle(InstanceId id) override { steps_.settle(id); }
  void order(std::uint64_t id, Market market = Market::on_demand) {
    orders_.rent({InstanceId{id}, "it3", static_cast<std::uint8_t>(market)}, {});
  }

  std::vector<InstanceId> launched_, terminated_;
  RentedSteps steps_{
      setup_,
      {book_, writer_, offerings_, reports_},
      {desk_, [this](InstanceId id) { terminated_.push_back(id); }, [](InstanceId) {}}};
  RentOrders orders_{bill_,
                     {book_, writer_, offerings_, reports_},
                     steps_,
                     {desk_, [this](InstanceId id) { launched_.push_back(id); }}};
};

TEST_F(RentOrdersTest, AnOrderIsOnRecordBeforeTheCloudHearsOfIt) {
  store_.slow = true;
  order(1, Market::spot);
  EXPECT_THAT(launched_, IsEmpty());
  flush();
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
  EXPECT_EQ(stored(1).type, "it3");
  EXPECT_EQ(stored(1).market, Market::spot);
  EXPECT_EQ(stored(1).price, Price::from_usd_h(0.08));
}

TEST_F(RentOrdersTest, AnOrderThatIsRepeatedChangesNothingAndIsAnswered) {
  store_.slow = true;
  order(1);
  order(1);
  flush();
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
  EXPECT_THAT(told(), IsEmpty()) << "there is nothing to tell yet";
  steps_.take(InstanceId{1}, RentedSteps::Due::up, {});
  order(1);
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::up, CloudReportKind::up));
}

TEST_F(RentOrdersTest, AnOrderThatCannotBeWrittenMayComeAgain) {
  store_.full = true;
  order(1);
  EXPECT_EQ(book_.find(InstanceId{1}), nullptr);
  EXPECT_THAT(launched_, IsEmpty());
  store_.full = false;
  order(1);
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
}

TEST_F(RentOrdersTest, ANumberThatWasGivenToSomethingElseIsRefused) {
  order(1);
  order(1, Market::spot);
  steps_.take(InstanceId{1}, RentedSteps::Due::gone, {});
  order(1, Market::spot);
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::refused, CloudReportKind::gone,
                                  CloudReportKind::refused));
  EXPECT_EQ(reported_[0].reason, CloudReason::failed);
  EXPECT_EQ(bill_.refused, 2U);
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
}

TEST_F(RentOrdersTest, AnOrderOfAnInstanceThatIsOverRentsNothing) {
  order(1);
  steps_.take(InstanceId{1}, RentedSteps::Due::gone, {});
  order(1);
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::gone, CloudReportKind::gone));
  EXPECT_THAT(launched_, ElementsAre(InstanceId{1}));
}

TEST_F(RentOrdersTest, AnOrderOfANumberThatIsForgottenRentsNothing) {
  book_.note_number(InstanceId{5});
  book_.end_recall();
  order(5);
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::gone));
  EXPECT_EQ(reported_[0].reason, CloudReason::ended);
  EXPECT_THAT(launched_, IsEmpty());
  order(6);
  EXPECT_THAT(launched_, ElementsAre(InstanceId{6}));
}

TEST_F(RentOrdersTest, AnEndIsOnRecordBeforeTheCloudHearsOfIt) {
  order(1);
  store_.slow = true;
  orders_.end(InstanceId{1}, {});
  orders_.end(InstanceId{1}, {});
  EXPECT_THAT(terminated_, IsEmpty());
  flush();
  EXPECT_THAT(terminated_, ElementsAre(InstanceId{1})) << "once";
  EXPECT_TRUE(stored(1).ending);
}

TEST_F(RentOrdersTest, AnEndThatComesBeforeItsOrderIsOnRecordAndTheOrderTooLate) {
  store_.slow = true;
  orders_.end(InstanceId{1}, {});
  order(1);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(book_.newest(), ElementsAre(InstanceId{1})) << "the number is given";
  flush();
  EXPECT_THAT(told(), ElementsAre(CloudReportKind::gone, CloudReportKind::gone));
  EXPECT_EQ(reported_[0].billed_from, std::nullopt);
  EXPECT_THAT(launched_, IsEmpty());
}

}  // namespace
}  // namespace muster
