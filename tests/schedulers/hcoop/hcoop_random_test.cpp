// HCoop over random histories: what it keeps is what the state says, and its plans can be kept.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "schedulers/hcoop/hcoop_policy.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/support/random_cluster.hpp"

namespace muster {
namespace {

using hcoop::HcoopParams;
using hcoop::HcoopPolicy;
using testing::draw;

Catalog two_families() {
  std::vector<InstanceType> types{testing::type_of("g", "gpu", Resources::of(2, 6, 12), 2),
                                  testing::type_of("c", "cpu", Resources::of(0, 8, 16), 0.4)};
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
  return Catalog(std::move(types));
}

/// A random cluster under the policy: what happens is told to it, what it plans is done.
struct History {
  History(HcoopParams the_params, bool fixed, std::uint64_t seed)
      : params(the_params), fixed_fleet(fixed), cluster(catalog, seed), policy(catalog, params) {}

  ClusterView view() const {
    return {cluster.state, catalog, now, fixed_fleet ? nullptr : &cluster.state.offerings()};
  }
  void tell(const Event& event) {
    now = event.at;
    if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
      ever.emplace(launch->type, launch->market);
    }
    policy.observe(event, view());
  }
  void happen(EventBody body) {
    const Event event{now, std::move(body)};
    cluster.ledger.observe(event, cluster.state);
    cluster.state.apply(event);
    tell(event);
  }
  void steps(int count) {
    for (; count > 0; --count) {
      const Event event = cluster.step();
      // Rounds are held here.
      if (!std::holds_alternative<RoundDecided>(event.body)) tell(event);
    }
  }
  Plan decide(HcoopPolicy& who) const {
    Rng rng(1);
    Budget budget;
    return who.decide(view(), rng, budget);
  }
  /// A round, which the policy is told of.
  Plan hold_round() {
    Plan plan = decide(policy);
    happen(RoundDecided{rounds++, plan.note});
    return plan;
  }
  /// Only places on instances that are there.
  void apply_plan(const Plan& plan) {
    for (const Place& place : plan.places) {
      if (const auto* id = std::get_if<InstanceId>(&place.to)) {
        happen(TaskAssigned{place.task, *id, place.cause});
      }
    }
  }
  /// The fleet is as it ever was, so that one who comes late sees the same types.
  bool has_every_type() const {
    std::set<std::pair<TypeId, Market>> present;
    for (const InstanceRow& row : cluster.state.instances()) present.emplace(row.type, row.market);
    return present == ever;
  }

  Catalog catalog = two_families();
  HcoopParams params;
  bool fixed_fleet;
  test::RandomCluster cluster;
  HcoopPolicy policy;
  Instant now{};
  std::uint64_t rounds = 1'000'000;
  std::set<std::pair<TypeId, Market>> ever;
};

std::vector<std::pair<std::uint64_t, std::uint64_t>> places_of(const Plan& plan) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const Place& place : plan.places) {
    const auto* id = std::get_if<InstanceId>(&place.to);
    places.emplace_back(place.task.value, id != nullptr ? id->value : 0);
  }
  return places;
}

HcoopParams any_params(std::uint32_t group) {
  HcoopParams params;
  params.group = group;
  params.backfill = draw(0, 4) > 0;
  params.on_demand_fallback = draw(0, 2) == 0;
  params.max_interruptions = draw(0U, 3U);
  return params;
}

/// What versions before kept: a policy that reads it packs anew.
std::string interruptions_of(const History& history) {
  const auto all = nlohmann::json::parse(history.policy.save_state(history.cluster.state));
  return nlohmann::json{{"interruptions", all["interruptions"]}}.dump();
}

RC_GTEST_PROP(HcoopRandom, whoever_comes_late_places_the_same, ()) {
  History history(any_params(1), true, draw(0U, 1'000'000U));
  int compared = 0;
  for (int round = 0; round < 40; ++round) {
    history.steps(draw(1, 12));
    HcoopPolicy late(history.catalog, history.params);
    RC_ASSERT(late.load_state(interruptions_of(history), history.view()));
    const bool comparable = history.has_every_type();
    const Plan theirs = history.decide(late);
    const Plan ours = history.hold_round();
    if (comparable) {
      RC_ASSERT(places_of(ours) == places_of(theirs));
      ++compared;
    }
    history.apply_plan(ours);
  }
  RC_CLASSIFY(compared > 10, "often the same types");
}

RC_GTEST_PROP(HcoopRandom, deciding_leaves_nothing_that_observing_the_round_would_not, ()) {
  History history(any_params(draw(1U, 4U)), draw(0, 2) == 0, draw(0U, 1'000'000U));
  for (int round = 0; round < 30; ++round) {
    history.steps(draw(1, 12));
    HcoopPolicy follower = history.policy;  // does not decide this round
    const Plan plan = history.decide(history.policy);
    history.happen(RoundDecided{history.rounds, plan.note});
    const Event event{history.now, RoundDecided{history.rounds++, plan.note}};
    follower.observe(event, history.view());
    RC_ASSERT(history.policy.save_state(history.cluster.state) ==
              follower.save_state(history.cluster.state));
    history.apply_plan(plan);
  }
}

/// What a plan adds to each instance, launched ones by their numbers behind all others.
class Filled {
 public:
  Filled(const Plan& plan, const ClusterState& state) : state_(state) {
    for (const InstanceRow& row : state.instances()) {
      if (!row.released && row.phase != InstancePhase::terminating) {
        rows_[row.id.value] = {row.type, row.market, row.phase, row.committed};
      }
    }
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
      rows_[kLaunched + i] = {
          plan.launches[i].type, plan.launches[i].market, InstancePhase::requested, {}};
    }
    for (const Place& place : plan.places) add(place);
  }
  bool placed(TaskId id) const { return placed_.contains(id); }
  bool fits_somewhere(const TaskRow& task, Market market) const {
    for (const auto& [id, row] : rows_) {
      const FamilyDemand* demand = state_.demand(task, row.type);
      if (demand == nullptr || row.market != market || row.phase != InstancePhase::ready) continue;
      const Resources& capacity = state_.catalog()[row.type].capacity;
      if (demand->amount.fits_in(capacity - row.committed)) return true;
    }
    return false;
  }

 private:
  struct Row {
    TypeId type;
    Market market = Market::on_demand;
    InstancePhase phase = InstancePhase::requested;
    Resources committed;
  };
  static constexpr std::uint64_t kLaunched = 1ULL << 40;

  void add(const Place& place) {
    const TaskRow* task = state_.find(place.task);
    RC_ASSERT(task != nullptr && task->phase == TaskPhase::pending);
    RC_ASSERT(placed_.insert(place.task).second);
    const auto* id = std::get_if<InstanceId>(&place.to);
    Row& row =
        rows_.at(id != nullptr ? id->value : kLaunched + std::get<LaunchIndex>(place.to).value);
    const FamilyDemand* demand = state_.demand(*task, row.type);
    RC_ASSERT(demand != nullptr);
    row.committed += demand->amount;
    RC_ASSERT(row.committed.fits_in(state_.catalog()[row.type].capacity));
  }

  const ClusterState& state_;
  std::map<std::uint64_t, Row> rows_;
  std::set<TaskId> placed_;
};

bool only_regular(const Job& job) {
  if (job.markets != MarketChoice::any) return job.markets == MarketChoice::on_demand;
  return job.prediction.length != JobLength::short_run;
}

RC_GTEST_PROP(HcoopRandom, plans_overfill_nothing_and_leave_no_room_unused, ()) {
  HcoopParams params = any_params(draw(1U, 4U));
  params.backfill = true;
  const bool fixed = draw(0, 2) == 0;
  History history(params, fixed, draw(0U, 1'000'000U));
  for (int round = 0; round < 30; ++round) {
    history.steps(draw(1, 12));
    const Plan plan = history.hold_round();
    const ClusterState& state = history.cluster.state;
    const Filled filled(plan, state);
    RC_ASSERT(!fixed || (plan.launches.empty() && plan.releases.empty()));
    for (const JobRow& job : state.jobs()) {
      std::uint32_t places = 0;
      for (Slot slot : job.tasks) places += filled.placed(state.task(slot).id);
      const bool gang = job.tasks.size() > 1 && job.job.gang;
      if (gang) RC_ASSERT(places == 0 || places == job.pending);
      if (gang || job.terminal_outcome || !fixed || !only_regular(job.job)) continue;
      for (Slot slot : job.tasks) {
        const TaskRow& task = state.task(slot);
        if (task.phase != TaskPhase::pending || filled.placed(task.id)) continue;
        RC_ASSERT(!filled.fits_somewhere(task, Market::on_demand));
      }
    }
    history.apply_plan(plan);
  }
}

}  // namespace
}  // namespace muster
