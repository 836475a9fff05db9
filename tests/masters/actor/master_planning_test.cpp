// A master's actor goes on while its rounds are decided, and carries their plans out in slices.

#include "model/live_ids.hpp"
#include "tests/masters/actor/master_actor_fixture.hpp"
#include "tests/support/plain_settings.hpp"
#include "tests/support/same_state.hpp"

namespace muster {
namespace {

using test::Heard;
using test::JobBuilder;

/// Shows events to somebody as they are written.
class WatchedJournal final : public Journal {
 public:
  WatchedJournal(Journal& to, std::function<void(const Event&)> show)
      : to_(to), show_(std::move(show)) {}
  void append(std::vector<Event>&& batch, Durable durable) override {
    for (const Event& event : batch) show_(event);
    to_.append(std::move(batch), std::move(durable));
  }

 private:
  Journal& to_;
  std::function<void(const Event&)> show_;
};

class MasterPlanningTest : public test::MasterActorTest {
 protected:
  /// Decisions take so long.
  void decide_in(Duration time, const std::function<void(MasterSetup&)>& change = {}) {
    start([&](MasterSetup& setup) {
      setup.settings.decision_time = time;
      if (change) change(setup);
    });
  }
  static void beside(MasterSetup& setup) { setup.planner = PlannerPlace::beside; }

  void cancel(std::uint64_t job) {
    caf::anon_send(master_, cancel_atom_v, std::vector<JobId>{JobId{job}});
  }
};

TEST_F(MasterPlanningTest, APlanComesWhenItsDecisionHasTakenItsTime) {
  decide_in(std::chrono::seconds{10});
  accept(1);
  system_.run_until_s(9.9);
  EXPECT_EQ(heard_, (std::vector<Heard>{}));
  system_.run_until_s(11);
  EXPECT_EQ(heard_, (std::vector<Heard>{{10.001, "launch 0"}}));
  ASSERT_EQ(all<RoundDecided>().size(), 1U);
  EXPECT_EQ(all<RoundDecided>()[0].took, std::chrono::seconds{10});
}

TEST_F(MasterPlanningTest, WhatComesWhileItDecidesIsHeardAtOnceAndPlannedInTheNextRound) {
  decide_in(std::chrono::seconds{10});
  accept(1);
  system_.run_until_s(5);
  accept(2);
  system_.run_until_s(5.1);
  EXPECT_EQ(all<JobAccepted>().size(), 2U) << "the master is not held up";
  system_.run_until_s(299);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  EXPECT_EQ(times_heard("launch 1"), 0U);
  system_.run_until_s(311);
  EXPECT_EQ(times_heard("launch 1"), 1U);
  EXPECT_EQ(all<RoundDecided>()[0].behind, 1U);
}

TEST_F(MasterPlanningTest, WhatIsCancelledWhileItDecidesIsNotRentedFor) {
  decide_in(std::chrono::seconds{10});
  accept(1);
  system_.run_until_s(5);
  cancel(1);
  system_.run_until_s(20);
  EXPECT_EQ(heard_, (std::vector<Heard>{}));
  ASSERT_EQ(all<PlanPartRefused>().size(), 1U);
  EXPECT_EQ(all<PlanPartRefused>()[0].refusal.code, RefusalCode::outdated);
}

TEST_F(MasterPlanningTest, AMasterThatDiesWhileItDecidesDecidesAgain) {
  decide_in(std::chrono::seconds{10}, beside);
  accept(1);
  system_.run_until_s(5);
  const std::vector<Event> log = journal_.take();
  decide_in(std::chrono::seconds{10}, [&](MasterSetup& setup) {
    beside(setup);
    setup.tail = log;
  });
  system_.run_until_s(16);
  EXPECT_EQ(heard_, (std::vector<Heard>{{15.001, "launch 0"}}));
  EXPECT_EQ(all<RoundDecided>().size(), 1U);
}

TEST_F(MasterPlanningTest, APlannerBesideWithNothingElseToDoAnswersAtOnce) {
  start(beside);
  run_one();
  tell(WorkerReportKind::finished, 1);
  system_.run_until_s(301);
  EXPECT_EQ(heard_,
            (std::vector<Heard>{{0.001, "launch 0"}, {100, "start 1.1"}, {300.001, "end 0"}}));
  for (const RoundDecided& round : all<RoundDecided>()) EXPECT_EQ(round.behind, 0U);
}

TEST_F(MasterPlanningTest, WhatUsersSayIsHeardBetweenTheSlicesOfAPlan) {
  WatchedJournal journal(journal_, [this](const Event& event) {
    const auto* launch = std::get_if<LaunchRequested>(&event.body);
    if (launch != nullptr && launch->instance == InstanceId{0}) cancel(3);
  });
  decide_in(std::chrono::seconds{10}, [&](MasterSetup& setup) {
    setup.settings.slice_parts = 2;
    setup.journal = &journal;
  });
  for (std::uint64_t job : {1, 2, 3}) accept(job);
  system_.run_until_s(20);
  EXPECT_EQ(times_heard("launch 0"), 1U);
  EXPECT_EQ(times_heard("launch 1"), 1U);
  EXPECT_EQ(times_heard("launch 2"), 0U) << "its job was cancelled between two slices";
  EXPECT_EQ(all<RoundDecided>().size(), 1U);
  start([](MasterSetup&) {});
}

TEST_F(MasterPlanningTest, TheSlicesOfAPlanAreOneDecision) {
  decide_in(std::chrono::seconds{1}, [](MasterSetup& setup) { setup.settings.slice_parts = 2; });
  for (std::uint64_t job : {1, 2, 3}) accept(job);
  system_.run_until_s(20);
  caf::scoped_actor self{system_.actors()};
  auto asked = self->request(master_, caf::infinite, decisions_atom_v, DecisionsQuestion{});
  system_.time().drain();
  asked.receive(
      [](const DecisionsView& view) {
        ASSERT_EQ(view.decisions.size(), 1U);
        EXPECT_EQ(view.decisions[0].launches, 3U);
        EXPECT_EQ(view.decisions[0].placements, 3U);
      },
      [](const caf::error&) { FAIL(); });
}

TEST_F(MasterPlanningTest, APlanThatIsAskedForAsATryIsMadeBeside) {
  start(beside);
  run_one();
  caf::scoped_actor self{system_.actors()};
  Job job = JobBuilder(2).build();
  job.tasks[0].id = task_id_of(job.id, 0);
  auto asked = self->request(master_, caf::infinite, plan_atom_v, job);
  system_.time().drain();
  asked.receive(
      [](const PlanView& plan) {
        ASSERT_EQ(plan.launches.size(), 1U);
        EXPECT_EQ(plan.places.size(), 1U);
      },
      [](const caf::error&) { FAIL(); });
  EXPECT_EQ(all<JobAccepted>().size(), 1U);
}

TEST_F(MasterPlanningTest, ASnapshotMadeBesideGoesWithTheEventsAfterIt) {
  std::optional<MasterSnapshot> saved;
  std::uint64_t after = 0;
  start([&](MasterSetup& setup) {
    beside(setup);
    setup.settings.watch.snapshot_every = 1;
    setup.save_snapshot = [&](MasterSnapshot snapshot, std::uint64_t behind) {
      if (!saved) after = journal_.events().size() - behind;
      if (!saved) saved.emplace(std::move(snapshot));
    };
  });
  run_one();
  ASSERT_TRUE(saved);
  const std::vector<Event> log = journal_.events();
  ClusterState whole(catalog_);
  for (const Event& event : log) whole.apply(event);
  for (std::size_t i = after; i < log.size(); ++i) saved->state.apply(log[i]);
  EXPECT_EQ(test::difference(saved->state, whole), "");
}

/// Takes a thousand steps, unless it is allowed fewer.
class Stepper : public Policy {
 public:
  Cadence cadence() const override { return {}; }
  void observe(const Event&, const ClusterView&) override {}
  Plan decide(const ClusterView&, Rng&, Budget& budget) override {
    for (int i = 0; i < 1000 && budget.spend(); ++i) continue;
    return {};
  }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Stepper>(*this); }
};

class PlannerHostTest : public ::testing::Test {
 protected:
  std::unique_ptr<Master> master_of_steps(Duration deadline = {}) {
    MasterSettings settings = test::plain_settings();
    settings.decision_deadline = deadline;
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<Stepper>();
    return std::make_unique<Master>(settings, std::move(parts));
  }

  test::VirtualSystem system_;
  Catalog catalog_ = test::table3_catalog();
};

TEST_F(PlannerHostTest, KnowsHowFarThePlannerIsBehind) {
  const auto master = master_of_steps();
  PlannerHost seat(system_.actors(), master->send_planner_off(), PlannerPlace::beside,
                   [] { return Duration{}; });
  for (std::uint64_t job : {1, 2}) master->submit(JobBuilder(job).build(), Instant{});
  seat.follow(master->commit().events);
  EXPECT_EQ(seat.lag(), 2U);
  system_.time().drain();
  EXPECT_EQ(seat.lag(), 0U);
}

TEST_F(PlannerHostTest, ADeadlineIsAsManyStepsAsTheLastDecisionTookInThatTime) {
  const auto master = master_of_steps(std::chrono::microseconds{500});
  PlannerHost seat(
      system_.actors(), master->send_planner_off(), PlannerPlace::beside,
      [clock = Duration{}]() mutable { return clock += std::chrono::milliseconds{1}; });
  master->submit(JobBuilder(1).build(), Instant{});
  std::vector<std::uint64_t> allowed, used;
  for (int round = 0; round < 2; ++round) {
    const auto wish = master->begin_round({}, Instant{});
    seat.follow(master->commit().events);
    seat.decide(*wish, [&](PlannedRound&& planned, Duration) {
      allowed.push_back(planned.budget.allowed());
      used.push_back(planned.budget.used());
      master->take_plan(std::move(planned), Instant{});
    });
    system_.time().drain();
    const std::vector<Event> events = master->commit().events;
    EXPECT_EQ(std::get<RoundDecided>(events.at(0).body).budget, allowed.back());
    seat.follow(events);
    system_.time().drain();
  }
  EXPECT_EQ(allowed, (std::vector<std::uint64_t>{0, 500})) << "1,000 steps took a millisecond";
  EXPECT_EQ(used, (std::vector<std::uint64_t>{1000, 500}));
}

}  // namespace
}  // namespace muster
