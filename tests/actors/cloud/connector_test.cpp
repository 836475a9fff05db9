#include "actors/cloud/connector.hpp"

#include <gmock/gmock.h>

#include "tests/support/builders.hpp"
#include "tests/support/memory_cloud_store.hpp"
#include "tests/support/scripted_cloud.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

using test::at_s;
using test::Heard;
using Transcript = std::vector<Heard>;

/// A connector in virtual time before a cloud that answers as the test wants.
class ConnectorTest : public ::testing::Test {
 protected:
  ConnectorTest() {
    master_ = spawn_listening_master(system_, heard_, nullptr, &reports_);
    setup_.catalog = &catalog_;
    setup_.origin = system_.time().origin();
    setup_.store = &store_;
    setup_.provider = &remote_;
    setup_.bill = &bill_;
    setup_.retries.launch_tries = 3;
  }
  ~ConnectorTest() override {
    system_.end(cloud_);
    system_.end(master_);
  }

  static Catalog with_spot() {
    std::vector<InstanceType> types = test::table3_catalog().types();
    types[2].spot = Price::from_usd_h(0.08);
    return Catalog(std::move(types));
  }
  void make_cloud() {
    cloud_ = system_.actors().spawn<CloudConnector>(setup_);
    system_.time().drain();
  }
  void restart_cloud() {
    system_.end(cloud_);
    bill_ = {};
    make_cloud();
  }
  void launch(std::uint64_t id, Market market = Market::on_demand) {
    caf::anon_send(cloud_, launch_atom_v,
                   LaunchOrder{InstanceId{id}, "it3", static_cast<std::uint8_t>(market)},
                   MasterForCloud{master_});
    system_.time().drain();
  }
  void end(std::uint64_t id) {
    caf::anon_send(cloud_, end_atom_v, InstanceId{id}, MasterForCloud{master_});
    system_.time().drain();
  }
  /// What it3 costs on demand, from now on or since that time.
  void price(double usd_h, std::optional<Instant> at = {}) {
    remote_.change({"it3", Market::on_demand, {}, Price::from_usd_h(usd_h)}, at);
    system_.time().drain();
  }
  std::vector<OfferingChange> told_changes() const {
    std::vector<OfferingChange> all;
    for (const CloudReport& report : reports_) {
      if (report.kind != CloudReportKind::offerings) continue;
      all.insert(all.end(), report.changes.begin(), report.changes.end());
    }
    return all;
  }
  static Money charge(double usd_h, double seconds) {
    return Money::of(Price::from_usd_h(usd_h), from_seconds(seconds));
  }

  test::VirtualSystem system_;
  Catalog catalog_ = with_spot();
  std::vector<Heard> heard_;
  std::vector<CloudReport> reports_;
  test::MemoryCloudStore store_;
  test::ScriptedCloud remote_{catalog_};
  CloudBill bill_;
  ConnectorSetup setup_;
  test::ListeningMaster master_;
  CloudActor cloud_;
};

TEST_F(ConnectorTest, ALaunchForWhichTheCloudWasTooBusyIsTriedAgainAtGrowingPauses) {
  remote_.answers = {{LaunchResult::throttled, "slow down"}, {LaunchResult::throttled, "still"}};
  make_cloud();
  launch(0);
  EXPECT_EQ(remote_.launches, 1);
  system_.run_until_s(1);
  EXPECT_EQ(remote_.launches, 2);
  system_.run_until_s(2.9);
  EXPECT_EQ(remote_.launches, 2) << "the second pause is twice as long";
  system_.run_until_s(10);
  EXPECT_EQ(heard_, (Transcript{{4, "up 0"}}));
}

TEST_F(ConnectorTest, WhatFailsTooOftenIsRefusedWithItsReason) {
  remote_.answers = {3, {LaunchResult::throttled, "slow down"}};
  make_cloud();
  launch(0);
  system_.run_until_s(10);
  EXPECT_EQ(heard_, (Transcript{{3, "refused 0"}}));
  EXPECT_EQ(reports_.back().reason, CloudReason::throttled);
  EXPECT_EQ(remote_.launches, 3);
  restart_cloud();
  launch(0);
  EXPECT_EQ(reports_.back().reason, CloudReason::throttled) << "it is on record";
}

TEST_F(ConnectorTest, WhatTheCloudDoesNotHaveIsRefusedAtOnce) {
  remote_.answers = {{LaunchResult::capacity, "none left"},
                     {LaunchResult::quota, "32 at most"},
                     {LaunchResult::price, "it costs more"}};
  make_cloud();
  for (std::uint64_t id = 0; id < 3; ++id) launch(id);
  EXPECT_EQ(heard_, (Transcript{{0, "refused 0"}, {0, "refused 1"}, {0, "refused 2"}}));
  EXPECT_EQ(reports_[0].reason, CloudReason::capacity);
  EXPECT_EQ(reports_[1].reason, CloudReason::quota);
  EXPECT_EQ(reports_[2].reason, CloudReason::price);
}

TEST_F(ConnectorTest, ALaunchWhoseAnswersAreLostIsFoundAgain) {
  remote_.answers = {3, {LaunchResult::failed, "no answer"}};
  remote_.loses_answers = 3;
  remote_.dumb_lists = 1;
  remote_.boot = std::chrono::seconds{20};
  make_cloud();
  launch(0);
  system_.run_until_s(100);
  EXPECT_EQ(heard_, (Transcript{{20, "up 0"}})) << "it was granted, and is not refused";
  EXPECT_EQ(remote_.exists.size(), 1U);
  end(0);
  system_.run_until_s(200);
  EXPECT_TRUE(remote_.exists.empty());
}

TEST_F(ConnectorTest, AnEndWaitsForTheAnswerToItsLaunch) {
  remote_.holds_answers = true;
  make_cloud();
  launch(0);
  end(0);
  EXPECT_EQ(remote_.ends, 0) << "the cloud may not know it yet";
  system_.run_until_s(5);
  remote_.held.at(0)();
  system_.run_until_s(10);
  EXPECT_EQ(heard_.back(), (Heard{6, "gone 0"}));
  EXPECT_TRUE(remote_.exists.empty());
}

TEST_F(ConnectorTest, AnEndForWhichTheCloudWasTooBusyIsRepeated) {
  make_cloud();
  launch(0);
  system_.run_until_s(10);
  remote_.end_results = {EndResult::throttled, EndResult::failed};
  end(0);
  system_.run_until_s(100);
  EXPECT_EQ(heard_.back(), (Heard{14, "gone 0"}));
  EXPECT_EQ(reports_.back().reason, CloudReason::ended);
  EXPECT_TRUE(bill_.total == charge(0.8, 13));
}

TEST_F(ConnectorTest, WhatNobodyRentsIsEnded) {
  remote_.exists = {InstanceId{7}};
  make_cloud();
  system_.run_until_s(5);
  EXPECT_TRUE(remote_.exists.empty());
}

TEST_F(ConnectorTest, WhatIsGoneWhenAConnectorStartsIsToldAsLost) {
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(10);
  remote_.exists.erase(InstanceId{0});
  restart_cloud();
  launch(0);
  launch(1);
  EXPECT_EQ(heard_.at(2), (Heard{10, "gone 0"}));
  EXPECT_EQ(reports_.at(2).reason, CloudReason::failed);
  EXPECT_EQ(heard_.at(3), (Heard{10, "up 1"}));
}

TEST_F(ConnectorTest, AnOrderThatDidNotComeToTheCloudBeforeACrashIsRepeated) {
  remote_.answers = {{LaunchResult::failed, "no answer"}};
  make_cloud();
  launch(0);
  restart_cloud();
  launch(0);
  system_.run_until_s(5);
  EXPECT_EQ(heard_, (Transcript{{1, "up 0"}}));
}

TEST_F(ConnectorTest, WhatVanishesIsFoundByTheNextLook) {
  setup_.list_every = std::chrono::minutes{1};
  make_cloud();
  launch(0);
  system_.run_until_s(70);
  remote_.exists.clear();
  system_.run_until_s(130);
  EXPECT_EQ(heard_.back(), (Heard{120, "gone 0"}));
}

// Prices.

TEST_F(ConnectorTest, AnInstanceCostsThePriceOfTheMoment) {
  make_cloud();
  launch(0);  // up at 1 s
  system_.run_until_s(51);
  price(1.6);
  system_.run_until_s(81);
  price(0.2);
  launch(1);  // up at 82 s
  system_.run_until_s(181);
  end(0);
  end(1);
  system_.run_until_s(200);
  EXPECT_TRUE(bill_.total ==
              charge(0.8, 50) + charge(1.6, 30) + charge(0.2, 101) + charge(0.2, 100));
  const std::vector<OfferingChange> changes = told_changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].number, 1U);
  EXPECT_EQ(changes[0].at, at_s(51));
  EXPECT_EQ(changes[1].number, 2U);
  EXPECT_EQ(changes[1].offering.price, Price::from_usd_h(0.2));
}

TEST_F(ConnectorTest, AChangeThatIsToldLateCountsSinceItHappened) {
  make_cloud();
  launch(0);  // up at 1 s
  system_.run_until_s(51);
  price(1.6, at_s(41));
  system_.run_until_s(61);
  price(3.2, at_s(21));
  price(0.2, at_s(99));
  system_.run_until_s(101);
  end(0);
  system_.run_until_s(200);
  const std::vector<OfferingChange> changes = told_changes();
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].at, at_s(41));
  EXPECT_EQ(changes[1].at, at_s(41)) << "times of changes never go back";
  EXPECT_EQ(changes[2].at, at_s(61)) << "nor are they in the future";
  EXPECT_TRUE(bill_.total == charge(0.8, 40) + charge(3.2, 20) + charge(0.2, 41));
}

TEST_F(ConnectorTest, AChangeThatIsToldLateCountsForWhatIsOnItsWayIntoTheStore) {
  make_cloud();
  launch(0);
  system_.run_until_s(51);
  store_.slow = true;
  end(0);
  ASSERT_EQ(store_.waiting.size(), 1U) << "that it is to end";
  price(1.6, at_s(41));
  store_.slow = false;
  store_.flush();
  system_.run_until_s(100);
  EXPECT_TRUE(bill_.total == charge(0.8, 40) + charge(1.6, 11));
  restart_cloud();
  EXPECT_TRUE(bill_.total == charge(0.8, 40) + charge(1.6, 11));
}

TEST_F(ConnectorTest, NoBillIsPricedAnewWhoseEndIsOnItsWayIntoTheStore) {
  make_cloud();
  launch(0);
  system_.run_until_s(51);
  end(0);
  system_.run_until_s(51.5);
  store_.slow = true;
  system_.run_until_s(60);
  ASSERT_EQ(store_.waiting.size(), 1U) << "that it is gone since 52 s";
  price(1.6, at_s(40));
  store_.slow = false;
  store_.flush();
  system_.time().drain();
  ASSERT_EQ(told_changes().size(), 1U);
  EXPECT_EQ(told_changes()[0].at, at_s(60));
  EXPECT_TRUE(bill_.total == charge(0.8, 51));
  restart_cloud();
  EXPECT_TRUE(bill_.total == charge(0.8, 51));
}

TEST_F(ConnectorTest, AConnectorThatIsStartedAnewBillsTheSame) {
  const auto run = [this](bool restarted) {
    const double begin = to_seconds(system_.time().now());
    const std::uint64_t id = restarted ? 1 : 0;
    const auto until = [&](double s) {
      system_.run_until_s(begin + s);
      if (restarted) restart_cloud();
    };
    launch(id);
    system_.run_until_s(begin + 5);
    for (const double usd_h : {1.0, 3.0, 0.5, 0.8}) {
      price(usd_h);
      until(to_seconds(system_.time().now()) - begin + 7);
    }
    launch(id);
    end(id);
    system_.run_until_s(begin + 100);
    return charge_of(store_.records.at(InstanceId{id}), {});
  };
  make_cloud();
  const Money once = run(false);
  EXPECT_TRUE(once == run(true));
  EXPECT_TRUE(bill_.total == once + once);
}

TEST_F(ConnectorTest, APriceThatChangesWhileNoConnectorRunsCountsFromItsStart) {
  make_cloud();
  launch(0);
  system_.run_until_s(11);
  system_.end(cloud_);
  remote_.change({"it3", Market::on_demand, {}, Price::from_usd_h(8)});
  system_.run_until_s(21);
  make_cloud();
  launch(0);
  EXPECT_EQ(store_.changed.at(1).at, at_s(21));
  system_.run_until_s(30);
  end(0);
  system_.run_until_s(100);
  EXPECT_TRUE(charge_of(store_.records.at(InstanceId{0}), {}) == charge(0.8, 20) + charge(8, 10));
}

TEST_F(ConnectorTest, NothingOfAnOfferingEndsWhileItsPriceIsBeingWrittenDown) {
  make_cloud();
  launch(0);
  system_.run_until_s(11);
  store_.slow = true;
  price(8);
  end(0);
  EXPECT_EQ(store_.waiting.size(), 1U);
  EXPECT_TRUE(told_changes().empty()) << "it may be lost in a crash";
  system_.run_until_s(21);
  store_.slow = false;
  store_.flush();
  system_.run_until_s(100);
  EXPECT_TRUE(bill_.total == charge(0.8, 10) + charge(8, 11));
}

TEST_F(ConnectorTest, AChangeThatCannotBeWrittenDownIsToldWhenItCan) {
  make_cloud();
  launch(0);
  system_.run_until_s(11);
  store_.full = true;
  price(8);
  price(4);
  system_.run_until_s(20.5);
  EXPECT_TRUE(told_changes().empty());
  store_.full = false;
  system_.run_until_s(30);
  ASSERT_EQ(told_changes().size(), 1U) << "only what holds by now";
  EXPECT_EQ(told_changes()[0].offering.price, Price::from_usd_h(4));
  end(0);
  system_.run_until_s(40);
  EXPECT_TRUE(bill_.total == charge(0.8, 20) + charge(4, 10));
}

TEST_F(ConnectorTest, WhoGreetsIsToldTheChangesThatItMayNotKnow) {
  make_cloud();
  price(2);
  price(3);
  restart_cloud();
  reports_.clear();
  caf::anon_send(cloud_, greet_atom_v, MasterForCloud{master_});
  system_.time().drain();
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].kind, CloudReportKind::clock);
  ASSERT_EQ(reports_[0].changes.size(), 2U);
  EXPECT_EQ(reports_[0].changes[1].number, 2U);
  price(4);
  EXPECT_EQ(told_changes().at(0).number, 3U) << "the numbers go on after a restart";
}

TEST_F(ConnectorTest, KeepsAllChangesSinceTheOldestOpenOrderAndAFewBesides) {
  setup_.keep_changes = 4;
  make_cloud();
  launch(0);
  Money expected = charge(0.8, 10);
  for (int i = 0; i < 50; ++i) {
    system_.run_until_s(11 + i);
    price(1 + i);
    expected += charge(1 + i, 1);
  }
  EXPECT_EQ(store_.changed.size(), 50U) << "the ledger of a master that was away needs each";
  EXPECT_EQ(store_.changed.rbegin()->first, 50U);
  system_.run_until_s(60.5);
  restart_cloud();
  launch(0);
  system_.run_until_s(60.9);
  end(0);
  system_.run_until_s(100);
  EXPECT_TRUE(bill_.total == expected + charge(50, 0.9));
  for (int i = 0; i < 50; ++i) {
    system_.run_until_s(101 + i);
    price(100 + i);
  }
  EXPECT_LE(store_.changed.size(), 6U) << "no order is open any more";
}

TEST_F(ConnectorTest, AnOrderOfANumberThatIsForgottenRentsNothing) {
  setup_.keep_gone = 1;
  make_cloud();
  for (const std::uint64_t id : {1U, 2U, 3U}) {
    launch(id);
    system_.run_until_s(100.0 * static_cast<double>(id));
    end(id);
    system_.run_until_s(100.0 * static_cast<double>(id) + 50);
  }
  const std::uint64_t rented = bill_.launched;
  launch(1);
  system_.run_until_s(500);
  EXPECT_EQ(bill_.launched, rented);
  EXPECT_EQ(bill_.rented, 0U);
  store_.records.erase(InstanceId{1});  // as a store does that keeps the newest only
  restart_cloud();
  launch(1);
  system_.run_until_s(600);
  EXPECT_EQ(bill_.rented, 0U) << "nor after a restart";
}

}  // namespace
}  // namespace muster
