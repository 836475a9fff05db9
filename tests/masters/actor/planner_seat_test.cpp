#include "masters/actor/planner_seat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;

/// A planner in its master, which saves what it is after 100 events.
class PlannerSeatTest : public test::MasterTest {
 protected:
  PlannerSeatTest() {
    settings_.watch.snapshot_every = 100;
    settings_.decision_time = std::chrono::seconds{30};
    make_master({});
    PlannerSeat::Setup setup;
    setup.stopwatch = [this] { return host_.now().time_since_epoch(); };
    setup.took = [this](Duration) { ++decisions_; };
    setup.save_snapshot = [this](MasterSnapshot&&, std::uint64_t) { ++snapshots_; };
    seat_.emplace(*master_, host_, std::move(setup));
  }

  test::FakePartHost host_;
  int decisions_ = 0;
  int snapshots_ = 0;
  std::optional<PlannerSeat> seat_;
};

TEST_F(PlannerSeatTest, APlanIsHandedOutWhenItsTimeHasPassed) {
  int planned = 0;
  master_->submit(JobBuilder(1).build(), host_.stamp());
  seat_->decide(master_->wish(host_.stamp()), [&](PlannedRound&&) { ++planned; });
  EXPECT_EQ(decisions_, 1);
  host_.run_until_s(29.9);
  EXPECT_EQ(planned, 0);
  host_.run_until_s(30);
  EXPECT_EQ(planned, 1);
}

TEST_F(PlannerSeatTest, ASnapshotIsSavedOnceEnoughHasHappened) {
  seat_->follow(std::vector<Event>(99));
  seat_->save_if_due();
  EXPECT_EQ(snapshots_, 0);
  seat_->follow(std::vector<Event>(1));
  seat_->save_if_due();
  seat_->save_if_due();
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(PlannerSeatTest, SamplesCountByTheRoomThatTheyTakeInTheJournal) {
  Event measured;
  measured.body = Measured{std::vector<ThroughputSample>(16 * 99), {}};
  seat_->follow({measured});
  seat_->save_if_due();
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(PlannerSeatTest, EventsOfBeforeARestartCountUntilASnapshotHasThem) {
  seat_->recall(100);
  seat_->save_if_due();
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(PlannerSeatTest, ADryRunThatFailsIsAnErrorAndNotTheEndOfTheMaster) {
  test::Answered<PlanView> heard;
  const auto fails = [](const Job&) -> PlanView { throw std::runtime_error("no"); };
  seat_->dry_run(JobBuilder(1).build(), fails, heard.answer());
  ASSERT_EQ(heard.errors.size(), 1U);
  EXPECT_EQ(heard.errors[0].code(), static_cast<std::uint8_t>(ActorError::planner_failed));
}

}  // namespace
}  // namespace muster
