// Prices that change while their news are lost on the way.

#include "tests/masters/actor/master_actor_fixture.hpp"

namespace muster {
namespace {

using test::Heard;
using test::MasterActorTest;

TEST_F(MasterActorTest, PricesThatChangedWhileItWasAwayAreHeardOfThoughNewerOnesComeFirst) {
  const auto changed = [this](std::initializer_list<std::uint64_t> numbers, CloudReportKind kind) {
    CloudReport told = report(kind, {});
    for (const std::uint64_t number : numbers) {
      const Price price = Price::from_usd_h(0.01 * static_cast<double>(number));
      told.changes.push_back({number, told.at, {"it3", Market::on_demand, "", price}});
    }
    caf::anon_send(master_, told);
    system_.time().drain();
  };
  clock_is_told_ = false;
  const int greeted = greeted_;
  changed({3}, CloudReportKind::offerings);
  EXPECT_EQ(greeted_, greeted + 1) << "it asks for the first two";
  changed({4}, CloudReportKind::offerings);
  EXPECT_TRUE(all<OfferingChanged>().empty()) << "the answer is on its way still";
  changed({1, 2, 3, 4}, CloudReportKind::clock);
  EXPECT_EQ(all<OfferingChanged>().size(), 4U);
  // What the cloud does not know any more it cannot tell.
  changed({7}, CloudReportKind::offerings);
  changed({7}, CloudReportKind::clock);
  changed({9}, CloudReportKind::offerings);
  EXPECT_EQ(greeted_, greeted + 3);
  changed({}, CloudReportKind::clock);
  changed({10}, CloudReportKind::offerings);
  EXPECT_EQ(all<OfferingChanged>().size(), 6U) << "and it goes on without";
}

TEST_F(MasterActorTest, TheEndOfAnInstanceIsNotBilledBeforeThePricesThatItCost) {
  run_one();
  clock_is_told_ = false;
  const int greeted = greeted_;
  heard_.clear();
  CloudReport end = report(CloudReportKind::gone, InstanceId{0});
  end.last_change = 1;
  caf::anon_send(master_, end);
  system_.time().drain();
  EXPECT_TRUE(all<InstanceGone>().empty());
  EXPECT_EQ(greeted_, greeted + 1);
  CloudReport answer = report(CloudReportKind::clock, {});
  answer.last_change = 1;
  const LaunchRequested rented = all<LaunchRequested>()[0];
  answer.changes.push_back({1, answer.at, {catalog_[rented.type].name, rented.market, "", {}}});
  caf::anon_send(master_, answer);
  system_.time().drain();
  EXPECT_EQ(all<OfferingChanged>().size(), 1U);
  EXPECT_EQ(heard_, (std::vector<Heard>{{100, "launch 0"}})) << "it asks after its instances";
  caf::anon_send(master_, end);
  system_.time().drain();
  EXPECT_EQ(all<InstanceGone>().size(), 1U);
}

TEST_F(MasterActorTest, AnEndIsHeardThoughTheCloudHasForgottenTheChangesBeforeIt) {
  run_one();
  CloudReport end = report(CloudReportKind::gone, InstanceId{0});
  end.last_change = 1;
  caf::anon_send(master_, end);
  system_.time().drain();
  caf::anon_send(master_, end);
  system_.time().drain();
  EXPECT_EQ(all<InstanceGone>().size(), 1U);
}

}  // namespace
}  // namespace muster
