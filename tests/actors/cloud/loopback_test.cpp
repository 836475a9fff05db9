#include <gmock/gmock.h>

#include "model/live_ids.hpp"
#include "tests/actors/cloud/loopback_fixture.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using test::at_s;
using test::Heard;
using test::IsGolden;
using test::Transcript;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LoopbackTest : public test::LoopbackFixture {};

TEST_F(LoopbackTest, AnInstanceComesUpGetsAMachineAndEnds) {
  make_cloud();
  launch(0);
  system_.run_until_s(200);
  end(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (Transcript{{10, "up 0"}, {110, "hello 0"}, {201, "gone 0"}}));
  EXPECT_TRUE(machines_.running.empty());
}

TEST_F(LoopbackTest, BillsFromUpToGone) {
  make_cloud();
  launch(0);
  system_.run_until_s(110);
  end(0);
  system_.run_until_s(300);
  EXPECT_TRUE(bill_.total == charge(0.8, 101));
  EXPECT_EQ(bill_.launched, 1u);
  EXPECT_EQ(bill_.rented, 0u);
  EXPECT_EQ(reports_.at(0).at, at_s(10));
  EXPECT_EQ(reports_.at(1).at, at_s(111));
}

TEST_F(LoopbackTest, DelaysAreThoseOfItsCatalog) {
  catalog_ = catalog_.with_delays(0.1);
  make_cloud();
  launch(0);
  system_.run_until_s(50);
  EXPECT_EQ(heard_, (Transcript{{1, "up 0"}, {11, "hello 0"}}));
}

TEST_F(LoopbackTest, ARepeatedOrderChangesNothingAndIsAnsweredWithTheStateAgain) {
  make_cloud();
  launch(0);
  launch(0);
  EXPECT_EQ(take_heard(), Transcript{}) << "nothing is known yet";
  system_.run_until_s(110);
  launch(0);
  EXPECT_EQ(take_heard(), (Transcript{{10, "up 0"}, {110, "hello 0"}, {110, "up 0"}}));
  end(0);
  end(0);
  system_.run_until_s(300);
  launch(0);
  end(0);
  EXPECT_EQ(heard_, (Transcript{{111, "gone 0"}, {300, "gone 0"}, {300, "gone 0"}}));
  for (const CloudReport& report : reports_) {
    EXPECT_EQ(report.at, at_s(report.kind == CloudReportKind::up ? 10 : 111));
  }
  EXPECT_EQ(machines_.boots, 1);
}

TEST_F(LoopbackTest, WhoHearsOfTheEndHearsFromWhenItIsBilledToo) {
  make_cloud();
  launch(0);
  launch(1);
  end(1);
  system_.run_until_s(110);
  end(0);
  system_.run_until_s(300);
  std::map<InstanceId, std::optional<Instant>> billed_from;
  for (const CloudReport& report : reports_) {
    if (report.kind == CloudReportKind::gone) billed_from[report.instance] = report.billed_from;
  }
  EXPECT_EQ(billed_from.size(), 2U);
  EXPECT_EQ(billed_from[InstanceId{0}], at_s(10));
  EXPECT_EQ(billed_from[InstanceId{1}], std::nullopt) << "it never came up";
}

TEST_F(LoopbackTest, ReportsGoToTheMasterThatSpokeLast) {
  make_cloud();
  launch(0);
  std::vector<Heard> heard_by_next;
  const test::ListeningMaster first = master_;
  master_ = test::spawn_listening_master(system_, heard_by_next);
  launch(0);
  system_.run_until_s(50);
  EXPECT_EQ(heard_by_next, (Transcript{{10, "up 0"}}));
  EXPECT_EQ(heard_, Transcript{});
  system_.end(first);
}

TEST_F(LoopbackTest, RefusesWhatItsComputerHasNoRoomFor) {
  machines_.room = 1;
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(20);
  EXPECT_EQ(heard_, (Transcript{{0, "refused 1"}, {10, "up 0"}}));
}

TEST_F(LoopbackTest, RefusesMoreThanItHas) {
  loopback_.limits.instances = 1;
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(5);
  end(0);
  system_.run_until_s(6);
  launch(1);
  EXPECT_EQ(heard_, (Transcript{{0, "refused 1"}, {5, "gone 0"}, {6, "refused 1"}}))
      << "a refused order stays refused; its room goes to others";
  launch(2);
  system_.run_until_s(20);
  EXPECT_EQ(heard_.back(), (Heard{16, "up 2"}));
  EXPECT_EQ(bill_.refused, 1u);
}

TEST_F(LoopbackTest, RefusesMoreOfATypeOrAMarketThanItHas) {
  loopback_.limits.by_type["it4"] = 1;
  loopback_.limits.by_market[Market::spot] = 1;
  make_cloud();
  launch(0, Market::on_demand, "it4");
  launch(1, Market::on_demand, "it4");
  launch(2, Market::spot);
  launch(3, Market::spot);
  launch(4);
  EXPECT_EQ(heard_, (Transcript{{0, "refused 1"}, {0, "refused 3"}}));
  EXPECT_EQ(bill_.rented, 3u);
}

TEST_F(LoopbackTest, RefusesWhatItDoesNotOffer) {
  make_cloud();
  launch(0, Market::on_demand, "it99");
  launch(1, Market::spot, "it4");
  launch(2, static_cast<Market>(7));
  EXPECT_EQ(heard_, (Transcript{{0, "refused 0"}, {0, "refused 1"}, {0, "refused 2"}}));
}

TEST_F(LoopbackTest, AnOrderTakenBackBeforeTheInstanceIsUpCostsNothing) {
  make_cloud();
  launch(0);
  end(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (Transcript{{0, "gone 0"}}));
  EXPECT_TRUE(bill_.total == Money{});
}

TEST_F(LoopbackTest, AnEndThatOvertakesItsLaunchFencesItOff) {
  make_cloud();
  end(0);
  system_.run_until_s(5);
  launch(0);
  restart_cloud();
  launch(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (Transcript{{0, "gone 0"}, {5, "gone 0"}, {5, "gone 0"}}));
  EXPECT_EQ(reports_.back().at, at_s(0));
  EXPECT_EQ(machines_.boots, 0);
}

TEST_F(LoopbackTest, GoneIsReportedWhenNothingRunsAnyMore) {
  machines_.slow = true;
  make_cloud();
  launch(0);
  system_.run_until_s(110);
  end(0);
  system_.run_until_s(150);
  EXPECT_EQ(bill_.rented, 1u);
  machines_.ending.at(InstanceId{0})();
  system_.time().drain();
  EXPECT_EQ(heard_.back(), (Heard{150, "gone 0"}));
  EXPECT_TRUE(bill_.total == charge(0.8, 140));
}

TEST_F(LoopbackTest, AMachineThatCannotBeBootedIsTriedAgain) {
  machines_.broken = true;
  make_cloud();
  launch(0);
  system_.run_until_s(115);
  EXPECT_EQ(take_heard(), (Transcript{{10, "up 0"}}));
  machines_.broken = false;
  system_.run_until_s(116);
  EXPECT_EQ(heard_, (Transcript{{116, "hello 0"}}));
}

// Interruptions.

TEST_F(LoopbackTest, ASpotInstanceIsTakenBackAfterTheNotice) {
  make_cloud();
  launch(0, Market::spot);
  system_.run_until_s(200);
  EXPECT_EQ(interrupt(0), "");
  EXPECT_EQ(interrupt(0), "") << "repeating it changes nothing";
  launch(0, Market::spot);
  system_.run_until_s(400);
  EXPECT_EQ(heard_, (Transcript{{10, "up 0"},
                                {110, "hello 0"},
                                {200, "notice 0"},
                                {200, "up 0"},
                                {200, "notice 0"},
                                {320, "gone 0"}}));
  EXPECT_EQ(reports_.at(1).at, at_s(320));
  EXPECT_EQ(reports_.back().at, at_s(320));
  EXPECT_TRUE(bill_.total == charge(0.08, 310));
  EXPECT_TRUE(machines_.running.empty());
}

TEST_F(LoopbackTest, AnInstanceThatItsMasterEndsIsNotTakenBackToo) {
  make_cloud();
  launch(0, Market::spot);
  system_.run_until_s(200);
  interrupt(0);
  end(0);
  system_.run_until_s(400);
  EXPECT_EQ(heard_.back(), (Heard{201, "gone 0"}));
  EXPECT_TRUE(bill_.total == charge(0.08, 191));
}

TEST_F(LoopbackTest, OnlySpotInstancesThatAreUpAreInterrupted) {
  make_cloud();
  launch(0);
  launch(1, Market::spot);
  EXPECT_THAT(interrupt(0), AllOf(HasSubstr("on-demand"), IsGolden()));
  EXPECT_THAT(interrupt(1), AllOf(HasSubstr("instance 1"), IsGolden()));
  EXPECT_THAT(interrupt(2), HasSubstr("instance 2 is not rented"));
  system_.run_until_s(10);
  end(1);
  EXPECT_THAT(interrupt(1), HasSubstr("instance 1 is ending already"));
}

TEST_F(LoopbackTest, SpotInstancesAreTakenBackByChanceAtTimesThatTheSeedFixes) {
  const auto run = [this](std::uint64_t seed, bool restarted) {
    loopback_.interruptions.per_h = 2;
    loopback_.interruptions.seed = seed;
    store_.records.clear();
    machines_.running.clear();
    reports_.clear();
    make_cloud();
    const double begin = to_seconds(system_.time().now());
    for (std::uint64_t id = 0; id < 20; ++id) launch(id, Market::spot);
    launch(20);
    system_.run_until_s(begin + 60);
    if (restarted) restart_cloud();
    for (std::uint64_t id = 0; id <= 20; ++id) launch(id, Market::spot);
    system_.run_until_s(begin + 36000);
    system_.end(cloud_);
    std::map<InstanceId, double> gone;
    for (const CloudReport& report : reports_) {
      if (report.kind == CloudReportKind::gone) {
        gone[report.instance] = to_seconds(report.at) - begin;
      }
    }
    return gone;
  };
  const auto first = run(7, false);
  EXPECT_EQ(first.size(), 20u) << "the on-demand instance stays";
  EXPECT_EQ(first, run(7, true));
  EXPECT_NE(first, run(8, false));
  double sum = 0;
  for (const auto& [id, s] : first) sum += s;
  EXPECT_NEAR(sum / 20 / 3600, 0.5, 0.3) << "two an hour";
}

// Queries.

TEST_F(LoopbackTest, SaysWhatIsRentedAndWhatItCosts) {
  loopback_.limits.by_market[Market::spot] = 0;
  make_cloud();
  launch(0);
  launch(1);
  launch(2, Market::spot);
  system_.run_until_s(109);
  end(1);
  system_.run_until_s(370);
  const auto answer = ask<RentedView>(RentedQuestion{});
  EXPECT_EQ(answer.launched, 2U);
  ASSERT_EQ(answer.rented.size(), 3u);
  const RentedInstance& running = answer.rented[0];
  EXPECT_EQ(running.instance, InstanceId{0});
  EXPECT_EQ(running.type, "it3");
  EXPECT_EQ(running.market, Market::on_demand);
  EXPECT_EQ(running.state, RentState::up);
  EXPECT_EQ(running.up, at_s(10));
  EXPECT_FALSE(running.gone);
  EXPECT_NEAR(running.usd, 0.08, 1e-12);
  const RentedInstance& gone = answer.rented[1];
  EXPECT_EQ(gone.instance, InstanceId{1});
  EXPECT_EQ(gone.state, RentState::gone);
  EXPECT_EQ(gone.gone, at_s(110));
  EXPECT_EQ(answer.rented[2].state, RentState::refused);
  EXPECT_NEAR(answer.total_usd, 0.08 + 0.8 / 36, 1e-12);
  EXPECT_EQ(ask<RentedView>(RentedQuestion{1}).rented.size(), 1u);
  EXPECT_EQ(figures().instances, 1U);
}

TEST_F(LoopbackTest, SaysWhichNumbersEachMasterHasGivenOut) {
  setup_.keep_gone = 1;
  make_cloud();
  launch(first_instance_of(0) + 6);
  launch(first_instance_of(1));
  launch(first_instance_of(0), Market::on_demand, "no such type");
  for (int life = 0; life < 2; ++life) {
    reports_.clear();
    caf::anon_send(cloud_, greet_atom_v, MasterForCloud{master_});
    system_.time().drain();
    ASSERT_EQ(reports_.size(), 1u);
    EXPECT_THAT(reports_[0].newest, testing::ElementsAre(InstanceId{first_instance_of(0) + 6},
                                                         InstanceId{first_instance_of(1)}));
    restart_cloud();
  }
}

TEST_F(LoopbackTest, ANumberThatIsOrderedAsSomethingElseIsRefusedAndNoted) {
  std::string noted;
  setup_.note = [&](const std::string& text) { noted += text; };
  make_cloud();
  launch(1);
  system_.run_until_s(50);
  take_heard();
  launch(1, Market::spot);
  EXPECT_EQ(take_heard(), (Transcript{{50, "refused 1"}}));
  EXPECT_THAT(noted, AllOf(HasSubstr("it3 (on-demand)"), IsGolden()));
  end(1);
  system_.run_until_s(200);
  take_heard();
  launch(1, Market::on_demand, "it1");
  EXPECT_EQ(take_heard(), (Transcript{{200, "refused 1"}}));
}

}  // namespace
}  // namespace muster
