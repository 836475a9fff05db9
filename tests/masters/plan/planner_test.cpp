// A planner with a memory of its own, beside a master that goes on while it decides: it knows what
// its master knew, whatever happens meanwhile is neither lost nor overrun, and a master that is
// started again goes on as if it had not died.

#include "masters/plan/planner.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "masters/master.hpp"
#include "schedulers/registry.hpp"
#include "storage/records/record_codec.hpp"
#include "tests/masters/fold_world.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/plain_settings.hpp"

namespace muster {
namespace {

/// A master and the planner beside it.
struct Pair {
  std::unique_ptr<Master> master;
  std::unique_ptr<Planner> planner;
  std::optional<RoundWish> wish;
  std::optional<PlannedRound> planned;
};

/// Two pairs to which the same happens, rounds that take their time included; one of them is killed
/// and started again at times.
class BesideTwins {
 public:
  BesideTwins(const std::string& policy, std::uint64_t seed, std::size_t slice_parts)
      : spec_(parse_policy(policy).value()),
        slice_parts_(slice_parts),
        dice_(seed * 17 + 3),
        spared_(fresh()),
        killed_(fresh()),
        world_(seed, spared_.master->cadence(), false, {}) {
    world_.hold_rounds([this](auto samples, Instant now) { return begin(samples, now); });
  }

  void run(std::size_t events) {
    while (log_.size() < events && !::testing::Test::HasFatalFailure()) {
      step();
      if (phase_ != Phase::none || log_.size() < next_kill_) continue;
      next_kill_ = log_.size() + 1 + dice_.below(1000);
      dice_.below(2) == 0 ? take_snapshot() : kill();
      compare();
    }
    ASSERT_GT(kills_, events / 5000);
  }

  const std::vector<Event>& log() const { return log_; }
  std::size_t most_slices() const { return most_slices_; }

 private:
  /// Of a round.
  enum class Phase { none, decided, carried_out };

  Pair fresh(std::optional<MasterSnapshot> snapshot = {}, std::span<const Event> tail = {}) {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::move(make_policy(spec_, catalog_)).value();
    settings.caps.max_instances = 40;
    settings.launch_backoff = std::chrono::seconds{30};
    settings.gangs = {std::chrono::minutes{3}, std::chrono::minutes{1}, std::chrono::minutes{30}};
    settings.min_stay = std::chrono::minutes{2};
    parts.name = "m";
    Pair pair{std::make_unique<Master>(settings, std::move(parts)), {}, {}, {}};
    EXPECT_EQ(pair.master->restore(std::move(snapshot), tail), "");
    pair.planner = pair.master->send_planner_off();
    return pair;
  }
  Pair& pair_of(const Master& master) {
    return &master == spared_.master.get() ? spared_ : killed_;
  }

  /// One round at a time: what is wanted meanwhile becomes one after it. A plan comes at once, or
  /// when much may have happened.
  test::MasterInput begin(const std::vector<ThroughputSample>& samples, Instant now) {
    if (phase_ != Phase::none) {
      wanted_ = true;
      return {};
    }
    phase_ = Phase::decided;
    world_.later(dice_.below(3) == 0 ? 0 : world_.draw(40), [this](Master& m, Instant at) {
      Pair& pair = pair_of(m);
      phase_ = Phase::carried_out;
      if (!pair.planned) return;
      most_slices_ = std::max(most_slices_, pair.planned->slices.size());
      m.take_plan(*std::exchange(pair.planned, std::nullopt), at);
      m.apply_slice(at);
    });
    return [this, samples, now](Master& m) { pair_of(m).wish = m.begin_round(samples, now); };
  }

  void step() {
    const test::MasterInput input = world_.next(*spared_.master);
    input(*spared_.master);
    input(*killed_.master);
    Commit one = spared_.master->commit();
    const Commit other = killed_.master->commit();
    ASSERT_EQ(one.events.size(), other.events.size()) << log_.size();
    ASSERT_EQ(one.effects.size(), other.effects.size()) << log_.size();
    for (std::size_t i = 0; i < one.events.size(); ++i) {
      ASSERT_TRUE(one.events[i].body == other.events[i].body) << log_.size() + i;
    }
    log_.insert(log_.end(), one.events.begin(), one.events.end());
    for (Pair* pair : {&spared_, &killed_}) {
      pair->planner->follow(one.events);
      if (const auto wish = std::exchange(pair->wish, std::nullopt)) {
        RoundWish sliced = *wish;
        sliced.slice_parts = slice_parts_;
        pair->planned = pair->planner->decide(sliced);
      }
    }
    world_.perform(one.effects);
    world_.watch(one.events);
    if (phase_ == Phase::carried_out) go_on();
  }

  void go_on() {
    if (spared_.master->slices_left() > 0) {
      return world_.later(world_.draw(2), [](Master& m, Instant at) { m.apply_slice(at); });
    }
    phase_ = Phase::none;
    if (std::exchange(wanted_, false)) world_.want_round();
  }

  void take_snapshot() {
    snapshot_ = encode_snapshot(killed_.planner->snapshot());
    snapshot_at_ = log_.size();
  }

  /// Starts the one anew from the snapshot and the events after it, both as they are on disk.
  void kill() {
    ++kills_;
    std::optional<MasterSnapshot> snapshot;
    if (!snapshot_.empty()) snapshot.emplace(decode_snapshot(snapshot_, catalog_).value());
    const auto after = std::span(log_).subspan(snapshot_at_);
    killed_ =
        fresh(std::move(snapshot),
              after.empty() ? std::vector<Event>{}
                            : decode_events(encode_events(after, catalog_), catalog_).value());
  }

  /// The planners know what the masters know, and the one that was started again what the other
  /// remembers.
  void compare() {
    const std::string known = encode_snapshot(spared_.master->memory().snapshot());
    ASSERT_EQ(encode_snapshot(spared_.planner->memory().snapshot()), known) << log_.size();
    ASSERT_EQ(encode_snapshot(killed_.planner->memory().snapshot()), known) << log_.size();
    ASSERT_EQ(spared_.planner->snapshot().policy_state, killed_.planner->snapshot().policy_state)
        << log_.size();
  }

  Catalog catalog_ = test::table3_catalog();
  PolicySpec spec_;
  std::size_t slice_parts_;
  Rng dice_;
  Pair spared_, killed_;
  test::FoldWorld world_;
  Phase phase_ = Phase::none;
  bool wanted_ = false;
  std::vector<Event> log_;
  std::string snapshot_;
  std::size_t snapshot_at_ = 0;
  std::size_t next_kill_ = 100;
  std::size_t kills_ = 0;
  std::size_t most_slices_ = 0;
};

TEST(PlannerBeside, KnowsWhatItsMasterKnowsUnderAnyPolicyWhateverHappensMeanwhile) {
  for (const PolicyModule& policy : known_policies()) {
    SCOPED_TRACE(policy.name);
    BesideTwins twins(policy.name, 1, 500);
    twins.run(15'000);
    std::size_t behind = 0, at_once = 0, outdated = 0;
    for (const Event& event : twins.log()) {
      if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
        (round->behind > 0 ? behind : at_once) += 1;
        EXPECT_TRUE(round->behind == 0 || !round->settled);
      } else if (const auto* part = std::get_if<PlanPartRefused>(&event.body)) {
        outdated += part->refusal.code == RefusalCode::outdated;
      }
    }
    EXPECT_GT(behind, 20u);
    EXPECT_GT(at_once, 20u);
    EXPECT_GT(outdated, 0u);
  }
}

TEST(PlannerBeside, TheSameWhenPlansAreCarriedOutInSmallSlices) {
  for (const char* policy : {"eva", "hcoop", "no-packing"}) {
    SCOPED_TRACE(policy);
    BesideTwins twins(policy, 2, 3);
    twins.run(8'000);
    EXPECT_GT(twins.most_slices(), 3u);
  }
}

/// A master whose policy says what the test wants, with its planner beside it.
class PlannerBesideTest : public test::MasterTest {
 protected:
  void send_off() {
    commit();
    planner_ = master_->send_planner_off();
  }
  PlannedRound decide(Plan plan, std::size_t slice_parts = 0) {
    script_.plans.push_back(std::move(plan));
    auto wish = master_->begin_round({}, now());
    tell();
    wish->slice_parts = slice_parts;
    return planner_->decide(*wish);
  }
  /// Events become known to the planner, and to the test.
  void tell() {
    const std::size_t before = events_.size();
    effects_ = commit();
    planner_->follow(std::span(events_).subspan(before));
  }
  void apply_plan(PlannedRound planned) {
    const Instant at = now();
    master_->take_plan(std::move(planned), at);
    while (master_->apply_slice(at)) continue;
    tell();
  }
  std::vector<RefusalCode> refused() const {
    std::vector<RefusalCode> codes;
    for (const Event& event : events_) {
      const auto* part = std::get_if<PlanPartRefused>(&event.body);
      if (part != nullptr) codes.push_back(part->refusal.code);
    }
    return codes;
  }
  std::size_t count_launches() const {
    return static_cast<std::size_t>(std::count_if(
        effects_.begin(), effects_.end(),
        [](const Effect& effect) { return std::holds_alternative<LaunchInstance>(effect); }));
  }

  std::unique_ptr<Planner> planner_;
  std::vector<Effect> effects_;
};

TEST_F(PlannerBesideTest, APlanForAJobThatWasCancelledMeanwhileRentsNothingAndSaysWhy) {
  master_->submit(test::JobBuilder(1).build(), now());
  send_off();
  PlannedRound planned = decide(together({1}));
  master_->cancel(JobId{1}, now());
  tell();
  apply_plan(std::move(planned));
  EXPECT_EQ(count_launches(), 0u);
  EXPECT_EQ(refused(), std::vector{RefusalCode::outdated});
}

TEST_F(PlannerBesideTest, AnAttemptThatCameAfterTheDecisionIsNotMoved) {
  master_->submit(test::JobBuilder(1).build(), now());
  round(together({1}));
  boot(0);
  master_->task_started({TaskId{1}, 1, {}, {}}, now());
  send_off();
  PlannedRound planned = decide(together({1}));
  ASSERT_EQ(planned.slices.at(0).places.at(0).expects, Attempt{1});
  planned.slices[0].places[0].expects = 0;  // as if it had been decided before the task started
  apply_plan(std::move(planned));
  EXPECT_EQ(count_launches(), 0u);
  EXPECT_EQ(refused(), std::vector{RefusalCode::outdated});
}

TEST_F(PlannerBesideTest, AJobThatComesWhileItDecidesWaitsForTheNextRound) {
  master_->submit(test::JobBuilder(1).build(), now());
  send_off();
  PlannedRound planned = decide(together({1}));
  master_->submit(test::JobBuilder(2).build(), now());
  tell();
  apply_plan(std::move(planned));
  ASSERT_EQ(master_->state().pending().size(), 1u);
  EXPECT_EQ((*master_->state().pending().begin()).id, TaskId{2});
  apply_plan(decide(together({2})));
  EXPECT_EQ(master_->state().pending().size(), 0u);
}

TEST_F(PlannerBesideTest, ARoundSaysHowFarBehindItsDecisionWas) {
  master_->submit(test::JobBuilder(1).build(), now());
  send_off();
  PlannedRound planned = decide({});
  for (std::uint64_t id : {2, 3}) master_->submit(test::JobBuilder(id).build(), now());
  tell();
  apply_plan(std::move(planned));
  const auto& round = std::get<RoundDecided>(events_.back().body);
  EXPECT_EQ(round.behind, 2u);
  EXPECT_EQ(round.took, std::chrono::seconds{3});
}

TEST_F(PlannerBesideTest, ItsPolicyIsShownTheRoundBeforeWhatHappenedWhileItWasCarriedOut) {
  master_->submit(test::JobBuilder(1).build(), now());
  send_off();
  script_.seen.clear();
  PlannedRound planned = decide({});
  master_->submit(test::JobBuilder(2).build(), now());
  tell();
  apply_plan(std::move(planned));
  ASSERT_EQ(script_.seen.size(), 2u) << "the round counts once";
  EXPECT_TRUE(std::holds_alternative<RoundDecided>(script_.seen[0].body));
  EXPECT_TRUE(std::holds_alternative<JobAccepted>(script_.seen[1].body));
  // So it is for one that learns from the log.
  const std::vector<Event> log = events_;
  script_.seen.clear();
  make_master({});
  master_->restore(std::nullopt, log);
  ASSERT_EQ(script_.seen.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<RoundDecided>(script_.seen[1].body));
}

/// A master whose policy places tasks in the first round of each minute alone.
TEST(DryRuns, SayWhatABatchWillBeGivenAtItsNextSchedulingEvent) {
  const Catalog catalog = test::table3_catalog();
  for (const char* name : {"stratus", "hotspot", "spot-fleet", "supercloud"}) {
    MasterDependencies parts;
    parts.catalog = &catalog;
    parts.policy = std::move(make_policy(parse_policy(name).value(), catalog)).value();
    parts.name = "m";
    Master master(test::plain_settings(), std::move(parts));
    master.submit(test::JobBuilder(1).build(), test::at_s(60));
    master.round({}, test::at_s(61));
    master.commit();
    const DryRun run = master.dry_run(test::JobBuilder(2).build(), test::at_s(62));
    ASSERT_EQ(run.plan.places.size(), 1U) << name << ": the event of this minute is over";
    const TaskRow* task = run.state->find(run.plan.places[0].task);
    EXPECT_EQ(run.state->job(task->job).job.id, JobId{2});
    EXPECT_FALSE(run.checked.places[0].has_value());
  }
}

TEST_F(PlannerBesideTest, ADryRunIsHeldAgainstWhatIsAllowedAtTheRoundThatItShows) {
  settings_.min_stay = std::chrono::minutes{5};  // as long as the policy's period
  make_master({});
  one_running(1);
  const Instant soon = now();
  EXPECT_TRUE(check_plan(together({1}), master_->state(), master_->limits(soon)).places[0]);
  script_.plans.push_back(together({1}));
  const DryRun run = master_->dry_run(test::JobBuilder(2).build(), soon);
  ASSERT_EQ(run.checked.places.size(), 1U);
  EXPECT_FALSE(run.checked.places[0].has_value()) << "by then the task has stayed long enough";
}

TEST_F(PlannerBesideTest, ADryRunOfThePlannerChangesNothing) {
  master_->submit(test::JobBuilder(1).build(), now());
  send_off();
  const std::string before = encode_snapshot(planner_->snapshot());
  const RoundWish wish = master_->wish(now());
  script_.plans.push_back(together({2}));
  const DryRun run =
      planner_->dry_run(test::JobBuilder(2).build(), wish, master_->limits(wish.now));
  ASSERT_EQ(run.checked.places.size(), 1u);
  EXPECT_FALSE(run.checked.places[0].has_value());
  EXPECT_NE(run.state->find(JobId{2}), nullptr);
  EXPECT_EQ(encode_snapshot(planner_->snapshot()), before);
}

}  // namespace
}  // namespace muster
