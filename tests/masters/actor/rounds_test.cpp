#include "masters/actor/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/masters/actor/part_host.hpp"
#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::FakePartHost;
using test::JobBuilder;

/// Has a round every 300 s and when the rest of the master wants one, and wants throughputs.
class SamplingPolicy final : public Policy {
 public:
  explicit SamplingPolicy(std::vector<std::size_t>& shown) : shown_(shown) {}
  Cadence cadence() const override {
    return {.period = std::chrono::seconds{300}, .wants_throughput = true};
  }
  void observe(const Event& event, const ClusterView&) override {
    if (const auto* measured = std::get_if<Measured>(&event.body)) {
      shown_.push_back(measured->samples.size());
    }
  }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<SamplingPolicy>(*this); }
  Plan decide(const ClusterView&, Rng&, Budget&) override { return {}; }

 private:
  std::vector<std::size_t>& shown_;
};

/// A master whose planner is with it, and workers that the test speaks for.
class RoundsTest : public ::testing::Test {
 protected:
  RoundsTest() { make({}); }

  void make(Duration decision_time) {
    rounds_.reset();
    seat_.reset();
    settings_ = test::plain_settings();
    settings_.round_settle = std::chrono::milliseconds{1};
    settings_.sample_timeout = std::chrono::seconds{2};
    settings_.decision_time = decision_time;
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<SamplingPolicy>(shown_);
    master_.emplace(settings_, std::move(parts));
    host_.on_commit = [this] { count(master_->commit()); };
    seat_.emplace(*master_, host_,
                  PlannerSeat::Setup{PlannerPlace::in_master, [] { return Duration{}; },
                                     [this](Duration) { ++decisions_; },
                                     [this](MasterSnapshot&&, std::uint64_t) { ++snapshots_; }});
    Rounds::Host host;
    host.ask_samples = [this](std::uint64_t round) {
      asked_.push_back(round);
      return workers_;
    };
    host.stopwatch = [] { return Duration{}; };
    host.took = [this](Duration) { ++decisions_; };
    host.begin_slice = [] {};
    host.end_slice = [](bool) {};
    rounds_.emplace(Rounds::Parts{*master_, *seat_, host_}, std::move(host));
    ASSERT_EQ(master_->submit(JobBuilder(1).build(), host_.stamp()), SubmitResult::accepted);
    count(master_->commit());
  }
  void count(const Commit& commit) {
    seat_->follow(commit.events);
    for (const Event& event : commit.events) {
      rounds_decided_ += std::holds_alternative<RoundDecided>(event.body);
    }
  }
  static SampleAnswer answer(std::uint64_t instance, std::uint64_t round) {
    return {InstanceId{instance}, round, {}, {}};
  }

  FakePartHost host_;
  Catalog catalog_ = test::table3_catalog();
  MasterSettings settings_;
  std::vector<std::size_t> shown_;
  std::optional<Master> master_;
  std::optional<PlannerSeat> seat_;
  std::optional<Rounds> rounds_;
  std::set<InstanceId> workers_;
  std::vector<std::uint64_t> asked_;
  int decisions_ = 0;
  int rounds_decided_ = 0;
  int snapshots_ = 0;
};

TEST_F(RoundsTest, WhatComesWithinTheSettlingIsOneRound) {
  rounds_->want();
  rounds_->want();
  EXPECT_EQ(decisions_, 0);
  host_.run_until_s(1);
  EXPECT_EQ(decisions_, 1);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(RoundsTest, TheLastAnswerOfAWorkerStartsTheDecision) {
  workers_ = {InstanceId{1}, InstanceId{2}};
  rounds_->want();
  host_.run_until_s(1);
  ASSERT_EQ(asked_.size(), 1U);
  rounds_->hear(answer(1, asked_[0]));
  rounds_->hear(answer(1, asked_[0]));
  rounds_->hear(answer(2, asked_[0] + 1));
  EXPECT_EQ(decisions_, 0) << "one has not answered that question";
  rounds_->hear(answer(2, asked_[0]));
  EXPECT_EQ(decisions_, 1);
  host_.run_until_s(10);
  EXPECT_EQ(decisions_, 1) << "the time for answers ends nothing any more";
}

TEST_F(RoundsTest, WorkersThatDoNotAnswerAreNotWaitedForLonger) {
  workers_ = {InstanceId{1}};
  rounds_->want();
  host_.run_until_s(1.9);
  EXPECT_EQ(decisions_, 0);
  host_.run_until_s(2.1);
  EXPECT_EQ(decisions_, 1);
  rounds_->hear(answer(1, asked_[0]));
  EXPECT_EQ(decisions_, 1) << "it comes too late";
}

TEST_F(RoundsTest, RegularRoundsComeAtTheirTimeAndTakeInWhatHappensWithinTheirSettling) {
  rounds_->await_tick();  // at the beginning of a period, within its settling
  host_.run_until_s(1);
  EXPECT_EQ(decisions_, 1);
  master_->submit(JobBuilder(2).build(), host_.stamp());
  rounds_->await_tick();
  host_.run_until_s(299);
  EXPECT_EQ(decisions_, 1);
  host_.run_until_s(301);
  EXPECT_EQ(decisions_, 2);
}

TEST_F(RoundsTest, WhileADecisionIsMadeNoOtherBeginsAndNoSnapshotIsMade) {
  make(std::chrono::seconds{30});
  rounds_->want();
  host_.run_until_s(1);
  EXPECT_TRUE(seat_->is_planning());
  EXPECT_EQ(decisions_, 1);
  EXPECT_EQ(rounds_decided_, 0) << "its plan is on its way";
  seat_->recall(1'000'000);
  seat_->save_if_due();
  EXPECT_EQ(snapshots_, 0);
  rounds_->want();
  host_.run_until_s(29);
  EXPECT_EQ(asked_.size(), 1U);
  host_.run_until_s(31);
  EXPECT_EQ(rounds_decided_, 1);
  EXPECT_EQ(snapshots_, 1) << "the plan is carried out";
  EXPECT_EQ(asked_.size(), 2U) << "and the round that was wanted meanwhile begins";
}

}  // namespace
}  // namespace muster
