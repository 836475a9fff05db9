// What a master and its policy know is a fold over the events: one that is killed and started again
// from a snapshot and the events after it goes on as the one that was not.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

#include "schedulers/registry.hpp"
#include "storage/records/record_codec.hpp"
#include "tests/masters/fold_world.hpp"
#include "tests/support/plain_settings.hpp"

namespace muster {
namespace {

Catalog two_markets() {
  std::vector<InstanceType> types = test::table3_catalog().types();
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
  return Catalog(std::move(types));
}

/// How much a run is to do; the environment may ask for more, as MUSTER_FOLD_EVENTS=100000 does.
struct Effort {
  std::size_t events = 40'000;
  std::size_t kills = 20;
  std::uint64_t seed = 1;

  static std::size_t asked(const char* name, std::size_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  }
  static Effort of(std::size_t events) {
    return {asked("MUSTER_FOLD_EVENTS", events), asked("MUSTER_FOLD_KILLS", 20),
            asked("MUSTER_FOLD_SEED", 1)};
  }
};

/// Two masters to which the same happens; one of them is killed and started again at times.
class Twins {
 public:
  Twins(const std::string& policy, bool fixed_fleet, const Effort& effort, MasterCaps caps = {})
      : spec_(parse_policy(policy).value()),
        fixed_fleet_(fixed_fleet),
        caps_(caps),
        effort_(effort),
        dice_(effort.seed * 31 + 7),
        spared_(fresh()),
        killed_(fresh()),
        world_(effort.seed, spared_->cadence(), fixed_fleet, cloud_ahead()) {
    for (std::size_t i = 0; i < effort.kills; ++i) instants_.insert(dice_.below(effort.events));
  }

  /// Stops at the first difference.
  void run() {
    while (log_.size() < effort_.events && !::testing::Test::HasFatalFailure()) {
      step();
      if (log_.size() >= next_snapshot_) take_snapshot();
      while (!instants_.empty() && *instants_.begin() <= log_.size()) {
        instants_.erase(instants_.begin());
        kill();
      }
    }
    if (!::testing::Test::HasFatalFailure()) kill();
  }

  std::size_t kills() const { return kills_; }
  const std::vector<Event>& log() const { return log_; }
  std::uint64_t rounds() const { return spared_->facts().rounds; }
  std::size_t count(std::size_t kind) const {
    return static_cast<std::size_t>(std::count_if(
        log_.begin(), log_.end(), [&](const Event& event) { return event.body.index() == kind; }));
  }

 private:
  struct Snapshot {
    std::size_t at = 0;  ///< number of events before it
    std::string bytes;
  };

  std::unique_ptr<Master> fresh() const {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::move(make_policy(spec_, catalog_)).value();
    settings.caps = caps_;
    settings.caps.max_instances = fixed_fleet_ ? 0 : 40;
    settings.launch_backoff = std::chrono::seconds{30};
    settings.gangs = {std::chrono::minutes{3}, std::chrono::minutes{1}, std::chrono::minutes{30}};
    settings.min_stay = std::chrono::minutes{2};
    settings.starve_after = std::chrono::minutes{5};
    parts.seed = effort_.seed;
    parts.name = "m";
    if (fixed_fleet_) {
      parts.fleet = {{test::type_named(catalog_, "it1"), Market::on_demand, 4},
                     {test::type_named(catalog_, "it3"), Market::on_demand, 6},
                     {test::type_named(catalog_, "it4"), Market::spot, 4}};
    }
    auto master = std::make_unique<Master>(settings, std::move(parts));
    master->set_cloud_ahead(cloud_ahead());
    return master;
  }

  /// Where a day's money is capped its days are those of another clock.
  Duration cloud_ahead() const { return std::chrono::hours{caps_.max_usd_day > 0 ? 7 : 0}; }

  void step() {
    const test::MasterInput input = world_.next(*spared_);
    input(*spared_);
    input(*killed_);
    Commit one = spared_->commit();
    const Commit other = killed_->commit();
    ASSERT_EQ(one.events.size(), other.events.size()) << where();
    ASSERT_EQ(one.effects.size(), other.effects.size()) << where();
    for (std::size_t i = 0; i < one.events.size(); ++i) {
      ASSERT_TRUE(one.events[i].body == other.events[i].body) << where() << ", event " << i;
    }
    world_.perform(one.effects);
    world_.watch(one.events);
    log_.insert(log_.end(), one.events.begin(), one.events.end());
  }

  void take_snapshot() {
    snapshots_.push_back({log_.size(), encode_snapshot(killed_->snapshot())});
    if (snapshots_.size() > 2) snapshots_.pop_front();
    next_snapshot_ = log_.size() + 1 + dice_.below(1500);
  }

  /// Starts the one anew from a snapshot and the events after it, both as they are on disk.
  void kill() {
    ++kills_;
    std::size_t from = 0;
    std::optional<MasterSnapshot> snapshot;
    if (!snapshots_.empty()) {
      const Snapshot& chosen = snapshots_[dice_.below(snapshots_.size())];
      from = chosen.at;
      auto read = decode_snapshot(chosen.bytes, catalog_);
      ASSERT_TRUE(read) << read.error().message;
      snapshot.emplace(std::move(read).value());
    }
    std::vector<Event> tail;
    if (from < log_.size()) {
      auto read = decode_events(encode_events(std::span(log_).subspan(from), catalog_), catalog_);
      ASSERT_TRUE(read) << read.error().message;
      tail = std::move(read).value();
    }
    killed_ = fresh();
    ASSERT_EQ(killed_->restore(std::move(snapshot), tail), "") << where();
    const MasterSnapshot was = spared_->snapshot(), is = killed_->snapshot();
    ASSERT_EQ(is.policy_state, was.policy_state) << where();
    ASSERT_TRUE(encode_snapshot(is) == encode_snapshot(was))
        << where() << ": state or ledger differs";
  }

  std::string where() const {
    return "policy " + spec_.name + ", seed " + std::to_string(effort_.seed) + ", after " +
           std::to_string(log_.size()) + " events and " + std::to_string(kills_) + " kills";
  }

  Catalog catalog_ = two_markets();
  PolicySpec spec_;
  bool fixed_fleet_;
  MasterCaps caps_;
  Effort effort_;
  Rng dice_;
  std::unique_ptr<Master> spared_, killed_;
  test::FoldWorld world_;
  std::multiset<std::uint64_t> instants_;
  std::vector<Event> log_;
  std::deque<Snapshot> snapshots_;
  std::size_t next_snapshot_ = 200;
  std::size_t kills_ = 0;
};

void expect_the_same(const std::string& policy, bool fixed_fleet, const Effort& effort) {
  SCOPED_TRACE(policy + (fixed_fleet ? ", fixed fleet" : ""));
  Twins twins(policy, fixed_fleet, effort);
  twins.run();
  EXPECT_GT(twins.kills(), effort.kills);
  EXPECT_GT(twins.rounds(), effort.events / 1000);
  // On a fixed fleet gangs wait for their turns, and fewer tasks come to their end.
  const std::size_t finished = effort.events / (fixed_fleet ? 500 : 250);
  EXPECT_GT(twins.count(EventBody(TaskFinished{}).index()), finished);
  EXPECT_GT(twins.count(EventBody(InstanceGone{}).index()), 0u);
  EXPECT_GT(twins.count(EventBody(OfferingChanged{}).index()), 0u);
}

/// Effort for this policy. Those that place batch tasks as `muster` does value sets of tasks in
/// each round, which takes ten times as long as the rounds of others, with events of no other
/// kinds.
Effort effort_for(const PolicyModule& policy, std::size_t events) {
  static constexpr std::array kThorough{"muster", "lrasched", "ffd", "lra-ilp"};
  const bool thorough = std::ranges::find(kThorough, policy.name) != kThorough.end();
  return Effort::of(thorough ? events * 3 / 10 : events);
}

/// The policies that are tried: all, or one where the others are tried by another program.
std::vector<PolicyModule> tried_policies() {
  std::vector<PolicyModule> all = known_policies();
#ifdef MUSTER_TRIED_POLICY
  std::erase_if(all, [](const PolicyModule& each) { return each.name != MUSTER_TRIED_POLICY; });
  EXPECT_EQ(all.size(), 1U) << MUSTER_TRIED_POLICY;
#endif
  return all;
}

TEST(Fold, AMasterThatWasKilledGoesOnAsIfItWasNotUnderAnyPolicy) {
  for (const PolicyModule& policy : tried_policies()) {
    expect_the_same(policy.name, false, effort_for(policy, 40'000));
  }
}

TEST(Fold, TheSameOnAFixedFleet) {
  for (const PolicyModule& policy : tried_policies()) {
    expect_the_same(policy.name, true, effort_for(policy, 20'000));
  }
}

TEST(Fold, TheSameWhenWhatMayBeSpentIsCapped) {
  MasterCaps caps;
  caps.max_usd_h = 12;
  caps.max_usd_day = 3;
  caps.spend_margin = std::chrono::minutes{1};
  std::size_t ended = 0;  // some policies rent so little at a time that the cap is never reached
  for (const PolicyModule& policy : tried_policies()) {
    SCOPED_TRACE(policy.name);
    Twins twins(policy.name, false, effort_for(policy, 15'000), caps);
    twins.run();
    std::size_t by_hour = 0, by_day = 0;
    for (const Event& event : twins.log()) {
      if (const auto* part = std::get_if<PlanPartRefused>(&event.body)) {
        by_hour += part->refusal.code == RefusalCode::spend_cap;
        by_day += part->refusal.code == RefusalCode::day_cap;
      } else if (const auto* release = std::get_if<ReleaseDecided>(&event.body)) {
        ended += release->capped_day >= 0;
      }
    }
    EXPECT_GT(by_hour, 0u);
    EXPECT_GT(by_day, 0u);
  }
  if (tried_policies().size() > 1) {
    EXPECT_GT(ended, 0u);
  }
}

#ifndef MUSTER_TRIED_POLICY
TEST(Fold, TheSameWithOtherParameters) {
  for (const char* policy : {"eva,artifact",
                             "eva,full-only,eager",
                             "eva,partial-only,single",
                             "eva,rp,period_s=60",
                             "no-packing,eager",
                             "hcoop,group=3",
                             "hcoop,pairing=exact",
                             "hcoop,backfill=false",
                             "hcoop,on_demand_fallback=false,max_interruptions=0,period_s=300",
                             "hcoop-no-packing,backfill=false",
                             "stratus,eager,clear_after=1,clear_below=0.9",
                             "stratus,period_s=20,packing=dot,at_once=false",
                             "spot-fleet,eager,pack=memory",
                             "supercloud,dot,run_times=unknown,default_s=100000",
                             "synergy,artifact,eager",
                             "synergy,spot=allowed",
                             "owl,artifact,eager",
                             "owl,spot=allowed",
                             "stratus,artifact,run_times=hinted",
                             "muster,at_once,eager=false,keep=0"}) {
    expect_the_same(policy, false, Effort::of(10'000));
  }
}

/// Draws a different number of times each round, and tells the first draw.
class Gambler : public Policy {
 public:
  Cadence cadence() const override { return {}; }
  void observe(const Event&, const ClusterView&) override {}
  Plan decide(const ClusterView&, Rng& rng, Budget&) override {
    Plan plan;
    plan.note.figures.emplace_back("first", rng.uniform());
    for (int i = 0; i < draws_; ++i) rng.next();
    ++draws_;
    return plan;
  }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Gambler>(*this); }

 private:
  int draws_ = 0;
};

TEST(Fold, EachRoundHasItsOwnChance) {
  const Catalog catalog = two_markets();
  const auto master_of = [&](std::uint64_t seed, const std::string& name) {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog;
    parts.policy = std::make_unique<Gambler>();
    parts.seed = seed;
    parts.name = name;
    return Master(settings, std::move(parts));
  };
  const auto draw = [](Master& master) {
    master.round({}, test::at_s(2));
    return std::get<RoundDecided>(master.commit().events.back().body).note.figures[0].second;
  };
  Master first = master_of(1, "m");
  ASSERT_EQ(first.submit(test::JobBuilder(1).build(), test::at_s(1)), SubmitResult::accepted);
  const double round_0 = draw(first);
  const MasterSnapshot after_round_0 = first.snapshot();
  const double round_1 = draw(first);
  EXPECT_NE(round_0, round_1);
  Master again = master_of(1, "m");
  again.restore(after_round_0, {});
  EXPECT_EQ(draw(again), round_1) << "whatever was drawn before";
  for (auto [seed, name] : {std::pair(1, "n"), std::pair(2, "m")}) {
    Master other = master_of(static_cast<std::uint64_t>(seed), name);
    other.restore(after_round_0, {});
    EXPECT_NE(draw(other), round_1) << seed << name;
  }
}

#endif

TEST(Fold, SaysThatThePolicyDoesNotUnderstandASnapshot) {
  const Catalog catalog = two_markets();
  const auto master_of = [&](const std::string& policy) {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog;
    parts.policy = std::move(make_policy(parse_policy(policy).value(), catalog)).value();
    return Master(settings, std::move(parts));
  };
  for (const PolicyModule& policy : tried_policies()) {
    Master other = master_of(policy.name.starts_with("hcoop") ? "eva" : "hcoop");
    ASSERT_EQ(other.submit(test::JobBuilder(1).build(), test::at_s(1)), SubmitResult::accepted);
    Job spot = test::JobBuilder(2).build();
    spot.markets = MarketChoice::spot;
    ASSERT_EQ(other.submit(spot, test::at_s(1)), SubmitResult::accepted);
    Master master = master_of(policy.name);
    EXPECT_NE(master.restore(other.snapshot(), {}).find("cannot read its memory"),
              std::string::npos)
        << policy.name;
    // A patient policy may let tasks wait for a while, and for no longer.
    master.round({}, test::at_s(2));
    master.round({}, test::at_s(3600));
    EXPECT_EQ(master.state().pending().size(), 0u) << policy.name << " decides all the same";
  }
}

}  // namespace
}  // namespace muster
