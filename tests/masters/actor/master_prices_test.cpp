// How a master hears of offerings, over a link on which news may get lost.

#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::MasterActorTest;

class MasterPricesTest : public MasterActorTest {
 protected:
  CloudReport changes(CloudReportKind kind, std::vector<std::uint64_t> numbers) {
    CloudReport news = report(kind, {});
    for (std::uint64_t number : numbers) {
      const Price price = Price::from_usd_h(static_cast<double>(number));
      news.changes.push_back(
          {number, system_.time().now(), {"it3", Market::on_demand, "", price, true, 0}});
    }
    return news;
  }
  void hear(CloudReportKind kind, std::vector<std::uint64_t> numbers) {
    caf::anon_send(master_, changes(kind, std::move(numbers)));
    system_.time().drain();
  }
  std::vector<std::uint64_t> known() const {
    std::vector<std::uint64_t> numbers;
    for (const OfferingChanged& e : all<OfferingChanged>()) numbers.push_back(e.change.number);
    return numbers;
  }
};

TEST_F(MasterPricesTest, takes_each_change_in_once) {
  hear(CloudReportKind::offerings, {1, 2});
  hear(CloudReportKind::offerings, {1, 2, 3});
  hear(CloudReportKind::offerings, {3});
  EXPECT_EQ(known(), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(greeted_, 1);
}

TEST_F(MasterPricesTest, greets_the_cloud_when_a_change_is_missing) {
  hear(CloudReportKind::offerings, {1});
  hear(CloudReportKind::offerings, {3});
  EXPECT_EQ(known(), (std::vector<std::uint64_t>{1})) << "not before what it missed";
  EXPECT_EQ(greeted_, 2);
  hear(CloudReportKind::clock, {2, 3});
  EXPECT_EQ(known(), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(MasterPricesTest, goes_on_without_what_the_cloud_does_not_tell_any_more) {
  hear(CloudReportKind::clock, {7, 9});
  EXPECT_EQ(known(), (std::vector<std::uint64_t>{7, 9}));
  hear(CloudReportKind::offerings, {12});
  EXPECT_EQ(greeted_, 2);
  hear(CloudReportKind::offerings, {12});  // the answer may come as a report of its own
  EXPECT_EQ(known(), (std::vector<std::uint64_t>{7, 9, 12}));
  EXPECT_EQ(greeted_, 2);
}

TEST_F(MasterPricesTest, rents_at_the_price_that_was_told) {
  hear(CloudReportKind::offerings, {1});
  accept(1);
  system_.run_until_s(50);
  ASSERT_FALSE(all<LaunchRequested>().empty());
  const LaunchRequested order = all<LaunchRequested>().front();
  EXPECT_EQ(order.max_price, order.price);
}

}  // namespace
}  // namespace muster
