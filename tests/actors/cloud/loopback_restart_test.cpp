#include <gmock/gmock.h>

#include <cmath>

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

class LoopbackRestartTest : public test::LoopbackFixture {};

// A cloud that is started anew on the book of the last one.

TEST_F(LoopbackRestartTest, AfterARestartAnOrderComesUpWhenItWouldHave) {
  make_cloud();
  launch(0);
  system_.run_until_s(4);
  restart_cloud();
  system_.run_until_s(8);
  launch(0);
  system_.run_until_s(200);
  EXPECT_EQ(heard_, (Transcript{{10, "up 0"}, {110, "hello 0"}}));
}

TEST_F(LoopbackRestartTest, AfterARestartTheBillStaysExact) {
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(60);
  end(1);
  system_.run_until_s(90);
  restart_cloud();
  EXPECT_TRUE(bill_.total == charge(0.8, 51));
  system_.run_until_s(200);
  EXPECT_EQ(take_heard().size(), 4u)
      << "up, up, gone, and the worker's hello: who has not spoken is told nothing by the cloud";
  launch(0);
  end(0);
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (Transcript{{200, "up 0"}, {201, "gone 0"}}));
  EXPECT_EQ(reports_.at(3).at, at_s(10));
  EXPECT_TRUE(bill_.total == charge(0.8, 51 + 191));
  EXPECT_EQ(bill_.launched, 2u);
}

TEST_F(LoopbackRestartTest, AfterARestartMachinesAreTakenOver) {
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(150);
  machines_.running.erase(InstanceId{1});
  machines_.running.insert(InstanceId{5});
  restart_cloud();
  EXPECT_EQ(machines_.adopted, (std::vector<std::string>{"machine-0", "machine-1"}));
  EXPECT_EQ(machines_.boots, 2);
  EXPECT_EQ(machines_.running, (std::set{InstanceId{0}})) << "what nobody rents does not run";
  EXPECT_EQ(store_.records.at(InstanceId{1}).gone_at, at_s(150)) << "it is lost";
  take_heard();
  launch(1);
  EXPECT_EQ(heard_, (Transcript{{150, "gone 1"}}));
}

TEST_F(LoopbackRestartTest, WhatWasEndedMeanwhileIsBilledUntilThenAndGetsNoMachine) {
  make_cloud();
  launch(0);  // has its machine at 110 s
  system_.run_until_s(100);
  launch(1);  // is up at 110 s and would have its machine at 210 s
  system_.run_until_s(145);
  launch(2);  // would be up at 155 s
  system_.run_until_s(150);
  system_.end(cloud_);
  machines_.running.clear();
  machines_.all_ended = at_s(150);
  system_.run_until_s(400);
  restart_cloud();
  EXPECT_EQ(bill_.rented, 0u);
  EXPECT_TRUE(bill_.total == charge(0.8, 140 + 40));
  take_heard();
  for (std::uint64_t id = 0; id < 3; ++id) launch(id);
  EXPECT_EQ(heard_, (Transcript{{400, "gone 0"}, {400, "gone 1"}, {400, "gone 2"}}));
  EXPECT_EQ(reports_.back().at, at_s(150));
  launch(3);
  system_.run_until_s(600);
  EXPECT_EQ(machines_.boots, 2) << "of what was ordered before and of what was since";
  restart_cloud();
  EXPECT_EQ(bill_.rented, 1u) << "what was ordered since is still there";
}

TEST_F(LoopbackRestartTest, WhatWasMeantToEndAndStillRunsIsEndedFirst) {
  make_cloud();
  launch(0);
  system_.run_until_s(150);
  machines_.all_ended = at_s(150);
  machines_.slow = true;
  restart_cloud();
  EXPECT_EQ(bill_.rented, 1u);
  ASSERT_TRUE(machines_.ending.contains(InstanceId{0}));
  system_.run_until_s(230);
  machines_.ending.at(InstanceId{0})();
  system_.time().drain();
  EXPECT_EQ(bill_.rented, 0u);
  EXPECT_TRUE(bill_.total == charge(0.8, 220)) << "it ran until then";
  EXPECT_TRUE(machines_.adopted.empty());
}

TEST_F(LoopbackRestartTest, AfterARestartAnEndIsFinished) {
  machines_.slow = true;
  make_cloud();
  launch(0);
  system_.run_until_s(150);
  end(0);
  system_.run_until_s(160);
  machines_.slow = false;
  restart_cloud();
  EXPECT_EQ(bill_.rented, 0u);
  EXPECT_TRUE(bill_.total == charge(0.8, 150));
}

TEST_F(LoopbackRestartTest, AfterARestartANoticeStillHolds) {
  make_cloud();
  launch(0, Market::spot);
  system_.run_until_s(150);
  interrupt(0);
  restart_cloud();
  take_heard();
  launch(0, Market::spot);
  system_.run_until_s(400);
  EXPECT_EQ(heard_, (Transcript{{150, "up 0"}, {150, "notice 0"}, {270, "gone 0"}}));
}

TEST_F(LoopbackRestartTest, AClockSetBackOverARestartHoldsNothingUp) {
  constexpr auto kStep = std::chrono::hours{1};
  setup_.origin.start -= 3 * kStep;
  make_cloud();
  launch(0);
  launch(1, Market::spot);
  system_.run_until_s(4);
  setup_.origin.start += kStep;
  restart_cloud();
  launch(0);
  launch(1, Market::spot);
  system_.run_until_s(60);
  EXPECT_EQ(take_heard(), (Transcript{{14, "up 0"}, {14, "up 1"}}));
  setup_.origin.start += kStep;
  restart_cloud();
  system_.run_until_s(200);
  EXPECT_EQ(machines_.boots, 2);
  launch(1, Market::spot);
  interrupt(1);
  setup_.origin.start += kStep;
  restart_cloud();
  take_heard();
  launch(1, Market::spot);
  system_.run_until_s(400);
  EXPECT_EQ(heard_, (Transcript{{200, "up 1"}, {200, "notice 1"}, {320, "gone 1"}}));
}

TEST_F(LoopbackRestartTest, AfterARestartWithoutTheTypeWhatHasNoMachineEnds) {
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(110);
  launch(2);
  system_.run_until_s(115);
  catalog_ = Catalog({catalog_.types()[0]});
  restart_cloud();
  take_heard();
  for (std::uint64_t id = 0; id < 3; ++id) launch(id);
  EXPECT_EQ(heard_, (Transcript{{115, "up 0"}, {115, "up 1"}, {115, "gone 2"}}));
  end(0);
  system_.run_until_s(116);
  EXPECT_EQ(bill_.rented, 1u);
}

TEST_F(LoopbackRestartTest, DelaysThatVaryDependOnTheInstanceAndTheSeedAlone) {
  const auto ups = [this](DelayKind kind, std::uint64_t seed, bool restarted) {
    loopback_.delays = {kind, 0.3, seed};
    store_.records.clear();
    machines_.running.clear();
    reports_.clear();
    make_cloud();
    const double begin = to_seconds(system_.time().now());
    for (std::uint64_t id = 0; id < 300; ++id) launch(id);
    if (restarted) restart_cloud();
    system_.run_until_s(begin + 1000);
    system_.end(cloud_);
    std::map<InstanceId, double> after_s;
    for (const auto& [id, record] : store_.records) after_s[id] = to_seconds(*record.up_at) - begin;
    return after_s;
  };
  loopback_.quantum = setup_.quantum = Duration{};
  for (const DelayKind kind : {DelayKind::uniform, DelayKind::normal, DelayKind::lognormal}) {
    const auto drawn = ups(kind, 7, false);
    const auto again = ups(kind, 7, true);
    double mean = 0, squares = 0;
    for (const auto& [id, s] : drawn) {
      EXPECT_NEAR(again.at(id), s, 1e-6);
      mean += s / 300;
      squares += s * s / 300;
    }
    EXPECT_NEAR(mean, 10, 0.7);
    EXPECT_NEAR(std::sqrt(squares - mean * mean), 3, 0.6) << "0.3 of the mean";
    EXPECT_NE(drawn, ups(kind, 8, false));
  }
}

// A book that takes nothing.

TEST_F(LoopbackRestartTest, WhatCannotBeWrittenDownIsNotRented) {
  store_.full = true;
  make_cloud();
  launch(0);
  system_.run_until_s(100);
  EXPECT_EQ(take_heard(), Transcript{}) << "nor is it refused for good";
  EXPECT_EQ(bill_.rented, 0u);
  store_.full = false;
  launch(0);
  system_.run_until_s(150);
  EXPECT_EQ(heard_, (Transcript{{110, "up 0"}}));
}

TEST_F(LoopbackRestartTest, ARefusalIsToldWhenItIsWrittenDownAndHolds) {
  loopback_.limits.instances = 1;
  make_cloud();
  launch(0);
  store_.slow = true;
  launch(1);
  EXPECT_EQ(take_heard(), Transcript{});
  // What was not told may still come up after a crash.
  loopback_.limits.instances = 2;
  store_.waiting.clear();
  store_.slow = false;
  restart_cloud();
  launch(1);
  system_.run_until_s(15);
  EXPECT_EQ(take_heard(), (Transcript{{10, "up 1"}}));
  launch(2);
  EXPECT_EQ(take_heard(), (Transcript{{15, "refused 2"}}));
  loopback_.limits.instances = 3;
  restart_cloud();
  launch(2);
  EXPECT_EQ(heard_, (Transcript{{15, "refused 2"}})) << "what was told holds";
}

TEST_F(LoopbackRestartTest, TimeDoesNotGoBehindTheBookWhenTheClockIsSetBack) {
  constexpr auto kStep = std::chrono::hours{1};
  setup_.origin.start -= 2 * kStep;
  make_cloud();
  launch(0);
  launch(1);
  system_.run_until_s(200);
  end(0);
  system_.run_until_s(300);
  setup_.origin.start += kStep;
  restart_cloud();
  take_heard();
  reports_.clear();
  caf::anon_send(cloud_, greet_atom_v, MasterForCloud{master_});
  launch(1);
  system_.run_until_s(400);
  end(1);
  system_.run_until_s(500);
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_EQ(reports_[0].kind, CloudReportKind::clock);
  EXPECT_EQ(reports_[0].now, at_s(7200 + 201)) << "that of the newest record";
  EXPECT_EQ(reports_[1].now, reports_[0].now);
  EXPECT_EQ(reports_[2].at, at_s(7200 + 201 + 101));
  EXPECT_TRUE(bill_.total == charge(0.8, 191 + 292));
}

TEST_F(LoopbackRestartTest, NothingIsDoneNorToldBeforeItIsWrittenDown) {
  make_cloud();
  launch(0);
  store_.full = true;
  system_.run_until_s(30);
  EXPECT_EQ(take_heard(), Transcript{});
  store_.full = false;
  system_.run_until_s(200);
  EXPECT_EQ(take_heard(), (Transcript{{31, "up 0"}, {131, "hello 0"}}))
      << "billing begins when it can be recorded";
  store_.full = true;
  end(0);
  end(0);
  system_.run_until_s(250);
  EXPECT_EQ(machines_.running.size(), 1u);
  EXPECT_EQ(figures().trouble, test::MemoryCloudStore::kFull);
  store_.full = false;
  system_.run_until_s(300);
  EXPECT_EQ(heard_, (Transcript{{252, "gone 0"}}));
  EXPECT_TRUE(bill_.total == charge(0.8, 221));
  EXPECT_THAT(figures().trouble, "");
}

TEST_F(LoopbackRestartTest, ANoticeThatCannotBeWrittenDownIsNotGiven) {
  make_cloud();
  launch(0, Market::spot);
  system_.run_until_s(150);
  store_.full = true;
  EXPECT_THAT(interrupt(0), AllOf(HasSubstr(test::MemoryCloudStore::kFull), IsGolden()));
  EXPECT_EQ(heard_.back().what, "hello 0");
}

// A book that takes its time.

TEST_F(LoopbackRestartTest, WhileABookWritesNothingOfItsInstanceIsDoneNorTold) {
  store_.slow = true;
  make_cloud();
  launch(0);
  launch(0);
  EXPECT_EQ(figures().instances, 1U) << "ordered twice, rented once";
  system_.run_until_s(30);
  EXPECT_EQ(take_heard(), Transcript{});
  flush();
  system_.run_until_s(31);
  EXPECT_EQ(take_heard(), Transcript{}) << "up is not told before it is written down";
  flush();
  EXPECT_EQ(take_heard(), (Transcript{{31, "up 0"}}));
  EXPECT_EQ(store_.records.at(InstanceId{0}).up_at, at_s(30));
}

TEST_F(LoopbackRestartTest, OrdersThatComeWhileARecordIsWrittenAreTakenAfterwards) {
  store_.slow = true;
  make_cloud();
  launch(0);
  end(0);
  launch(1);
  EXPECT_EQ(store_.waiting.size(), 2u) << "one record an instance is on its way";
  flush();  // ordered
  flush();  // instance 0 is ending
  system_.run_until_s(5);
  flush();  // and gone, without ever having been up
  system_.run_until_s(15);
  flush();
  EXPECT_EQ(heard_, (Transcript{{5, "gone 0"}, {15, "up 1"}}));
  EXPECT_TRUE(bill_.total == Money{});
}

TEST_F(LoopbackRestartTest, WhatABookRefusesAfterAWhileIsNotRented) {
  loopback_.limits.by_type["it3"] = 1;
  store_.slow = true;
  make_cloud();
  launch(0);
  launch(1);
  EXPECT_EQ(figures().instances, 2U) << "the cloud is asked when the orders are on record";
  store_.full = true;
  flush();
  EXPECT_EQ(take_heard(), Transcript{});
  store_.full = false;
  launch(2);
  flush();
  system_.run_until_s(10);
  flush();
  EXPECT_EQ(heard_, (Transcript{{10, "up 2"}}));
  EXPECT_EQ(bill_.rented, 1u);
}

TEST_F(LoopbackRestartTest, ARepeatedInterruptionWaitsForTheFirstOne) {
  make_cloud();
  launch(0, Market::spot);
  system_.run_until_s(150);
  take_heard();
  store_.slow = true;
  caf::scoped_actor self{system_.actors()};
  auto first = self->request(cloud_, caf::infinite, interrupt_atom_v, InstanceId{0});
  auto second = self->request(cloud_, caf::infinite, interrupt_atom_v, InstanceId{0});
  system_.time().drain();
  EXPECT_EQ(store_.waiting.size(), 1u);
  flush();
  int answers = 0;
  for (auto* asked : {&first, &second}) {
    asked->receive([&](InstanceId) { ++answers; }, [](const caf::error&) {});
  }
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(heard_, (Transcript{{150, "notice 0"}}));
}

}  // namespace
}  // namespace muster
