#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "tests/masters/plan/plain_plan_check.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

/// What a random round has besides launches, places and stops.
struct RoundKind {
  bool gangs = true;
  std::uint32_t groups = 0;  ///< at most so many
};

/// A random cluster of running and waiting tasks, and a plan that asks for too much of it.
class RandomRound {
 public:
  explicit RandomRound(std::uint64_t seed, RoundKind kind = {}) : kind_(kind), dice_(seed) {
    const std::uint64_t instances = 1 + draw(6);
    for (std::uint64_t id = 0; id < instances; ++id) {
      const TypeId type{static_cast<std::uint32_t>(2 + draw(2))};
      apply(LaunchRequested{InstanceId{id}, type, Market::on_demand, catalog_[type].on_demand, {}});
      apply(InstanceUp{InstanceId{id}});
      apply(InstanceReady{InstanceId{id}});
    }
    const std::uint64_t jobs = 1 + draw(14);
    for (std::uint64_t id = 1; id <= jobs; ++id) accept(id, instances);
    plan_for(instances);
    if (kind_.groups > 0) deal_groups(instances);
  }

  const ClusterState& state() const { return state_; }
  const Plan& plan() const { return plan_; }
  PlanLimits limits() {
    PlanLimits limits;
    limits.stay.now = at_s(100);
    if (draw(2) == 0) limits.stay.min_stay = from_seconds(static_cast<double>(draw(100)));
    if (draw(2) == 0) {
      limits.caps.max_instances = static_cast<std::uint32_t>(state_.instances().size() + draw(6));
    }
    return limits;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return dice_() % below; }
  void apply(EventBody body, double at = 0) { state_.apply({at_s(at), std::move(body)}); }

  void accept(std::uint64_t id, std::uint64_t instances) {
    const Resources demand = Resources::of(0, 0.1 * static_cast<double>(1 + draw(50)), 1);
    Job job = JobBuilder(id).tasks(1 + draw(3)).demand(demand).gang(draw(2) == 0).build();
    job.gang = job.gang && kind_.gangs;
    job.movable = draw(8) > 0;
    job.most_an_instance = draw(4) == 0 ? static_cast<std::uint32_t>(1 + draw(2)) : 0;
    apply(JobAccepted{job});
    if (draw(2) == 0) return;
    for (const TaskSpec& task : job.tasks) {
      const InstanceRow& on = *state_.find(InstanceId{draw(instances)});
      if (!(on.committed + demand).fits_in(catalog_[on.type].capacity)) continue;
      if (is_full_of_peers(state_, *state_.find(task.id), on)) continue;
      apply(TaskAssigned{task.id, on.id, {}});
      apply(StartIssued{task.id, on.id, 1});
      apply(TaskStarted{task.id, 1, {}, {}}, static_cast<double>(draw(100)));
    }
  }

  void plan_for(std::uint64_t instances) {
    const std::uint64_t launches = draw(6);
    for (std::uint64_t i = 0; i < launches; ++i) {
      plan_.launches.push_back({TypeId{static_cast<std::uint32_t>(2 + draw(2))}, {}, {}});
    }
    for (const JobRow& job : state_.jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = state_.task(slot);
        if (task.phase == TaskPhase::running && draw(6) == 0) {
          plan_.stops.push_back({task.id, {}});
        } else if (draw(8) > 0) {
          plan_.places.push_back({task.id, target(instances, launches), {}, grant(task)});
        }
      }
    }
    std::shuffle(plan_.places.begin(), plan_.places.end(), dice_);
  }
  /// Releases, too: what a group empties is given back with it.
  void deal_groups(std::uint64_t instances) {
    for (std::uint64_t id = 0; id < instances; ++id) {
      if (draw(3) == 0) plan_.releases.push_back({InstanceId{id}, {}});
    }
    const auto deal = [this](auto& parts) {
      for (auto& part : parts) {
        if (draw(3) == 0) part.group = static_cast<std::uint32_t>(1 + draw(kind_.groups));
      }
    };
    deal(plan_.launches);
    deal(plan_.places);
    deal(plan_.stops);
    deal(plan_.releases);
  }
  /// Mostly none, sometimes more than the task demands, rarely less.
  std::optional<Grant> grant(const TaskRow& task) {
    if (draw(4) > 0) return std::nullopt;
    const Resources& demand = state_.shape(task.shape).demands.entries().front().amount;
    if (draw(8) == 0) return Grant::of(demand - Resources::of(0, 0.5, 0));
    return Grant::of(demand + Resources::of(0, static_cast<double>(draw(3)), 0));
  }
  PlaceTarget target(std::uint64_t instances, std::uint64_t launches) {
    if (launches == 0 || draw(2) == 0) return InstanceId{draw(instances)};
    return LaunchIndex{static_cast<std::uint32_t>(draw(launches))};
  }

  RoundKind kind_;
  std::mt19937_64 dice_;
  Catalog catalog_ = test::table3_catalog();
  ClusterState state_{catalog_};
  Plan plan_;
};

void expect_same(const std::optional<Refusal>& fast, const std::optional<Refusal>& plain) {
  RC_ASSERT(fast.has_value() == plain.has_value());
  if (!fast) return;
  RC_ASSERT(fast->kind == plain->kind);
  RC_ASSERT(fast->code == plain->code);
  RC_ASSERT(fast->binding == plain->binding);
  RC_ASSERT(std::abs(fast->asked - plain->asked) < 1e-9);
  RC_ASSERT(std::abs(fast->available - plain->available) < 1e-9);
}

using Refusals = std::vector<std::optional<Refusal>>;

void expect_all_same(const Refusals& fast, const Refusals& plain) {
  RC_ASSERT(fast.size() == plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) expect_same(fast[i], plain[i]);
}

/// What the plan leaves when some of its parts are taken out. Launches without places go too.
Plan without(const Plan& plan, const auto& is_out) {
  Plan rest;
  std::vector<bool> used(plan.launches.size());
  const auto keep = [&](const auto& parts, auto& to) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!is_out(parts, i)) to.push_back(parts[i]);
    }
  };
  keep(plan.places, rest.places);
  keep(plan.stops, rest.stops);
  keep(plan.releases, rest.releases);
  for (const Place& place : rest.places) {
    if (const auto* launch = std::get_if<LaunchIndex>(&place.to)) used[launch->value] = true;
  }
  std::vector<std::uint32_t> launch_of;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    launch_of.push_back(static_cast<std::uint32_t>(rest.launches.size()));
    if (used[i] || !is_out(plan.launches, i)) rest.launches.push_back(plan.launches[i]);
  }
  for (Place& place : rest.places) {
    if (auto* launch = std::get_if<LaunchIndex>(&place.to))
      launch->value = launch_of[launch->value];
  }
  return rest;
}

/// Whether the part of the plan is refused.
struct Refused {
  const CheckedPlan& checked;

  bool operator()(const std::vector<Launch>&, std::size_t i) const { return !checked.launched(i); }
  bool operator()(const std::vector<Place>&, std::size_t i) const {
    return bool{checked.places[i]};
  }
  bool operator()(const std::vector<Stop>&, std::size_t i) const { return bool{checked.stops[i]}; }
  bool operator()(const std::vector<Release>&, std::size_t i) const {
    return bool{checked.releases[i]};
  }
};

void expect_rest_stands(const Plan& plan, const ClusterState& state, const PlanLimits& limits) {
  const CheckedPlan checked = check_plan(plan, state, limits);
  const CheckedPlan again = check_plan(without(plan, Refused{checked}), state, limits);
  for (const Refusals* parts : {&again.launches, &again.places, &again.stops, &again.releases}) {
    for (const auto& refusal : *parts) RC_ASSERT(!refusal.has_value());
  }
}

RC_GTEST_PROP(PlanCheckTwin, RefusesWhatThePlainFormRefuses, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>());
  const PlanLimits limits = round.limits();
  const CheckedPlan checked = check_plan(round.plan(), round.state(), limits);
  expect_all_same(checked.places, test::PlainPlanCheck(round.plan(), round.state(), limits).run());
}

RC_GTEST_PROP(PlanCheckTwin, RefusesOfGroupsWhatThePlainFormRefuses, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>(), {.groups = 3});
  const PlanLimits limits = round.limits();
  const CheckedPlan checked = check_plan(round.plan(), round.state(), limits);
  test::PlainPlanCheck plain(round.plan(), round.state(), limits);
  expect_all_same(checked.places, plain.run());
  expect_all_same(checked.stops, plain.stops());
  expect_all_same(checked.releases, plain.releases());
}

RC_GTEST_PROP(PlanCheckTwin, CheckingTheRestAgainRefusesNothing, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>());
  expect_rest_stands(round.plan(), round.state(), round.limits());
}

RC_GTEST_PROP(PlanCheckTwin, CheckingTheRestOfGroupsAgainRefusesNothing, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>(), {.groups = 3});
  expect_rest_stands(round.plan(), round.state(), round.limits());
}

RC_GTEST_PROP(PlanCheckTwin, AGroupIsRefusedWholeOrNotAtAll, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>(), {.groups = 3});
  const Plan& plan = round.plan();
  const CheckedPlan checked = check_plan(plan, round.state(), round.limits());
  std::map<std::uint32_t, bool> refused;
  const auto look = [&](const auto& parts, const Refusals& refusals) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].group == 0) continue;
      RC_ASSERT(refused.try_emplace(parts[i].group, refusals[i]).first->second ==
                refusals[i].has_value());
    }
  };
  look(plan.launches, checked.launches);
  look(plan.places, checked.places);
  look(plan.stops, checked.stops);
  look(plan.releases, checked.releases);
}

/// Of the parts that were in the plan with the group, what the check said to them.
template <class Part>
Refusals of_others(const std::vector<Part>& parts, const Refusals& refusals) {
  Refusals of_others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].group == 0) of_others.push_back(refusals[i]);
  }
  return of_others;
}

RC_GTEST_PROP(PlanCheckTwin, ARefusedGroupLeavesTheOthersAsIfItHadNotBeenThere, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>(), {.gangs = false, .groups = 1});
  Plan plan = round.plan();
  for (Launch& launch : plan.launches) launch.group = 0;
  // Launches that nobody is meant for stay out: the group's would be among them.
  plan = without(plan, [&](const auto& parts, std::size_t) {
    return static_cast<const void*>(&parts) == &plan.launches;
  });
  const PlanLimits limits = round.limits();
  const CheckedPlan checked = check_plan(plan, round.state(), limits);
  bool refused = false;
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    refused |= plan.places[i].group != 0 && checked.places[i];
  }
  if (!refused) return;
  const Plan others = without(plan, [&](const auto& parts, std::size_t i) {
    return parts[i].group != 0 || static_cast<const void*>(&parts) == &plan.launches;
  });
  const CheckedPlan alone = check_plan(others, round.state(), limits);
  expect_all_same(of_others(plan.places, checked.places), alone.places);
  expect_all_same(of_others(plan.stops, checked.stops), alone.stops);
  expect_all_same(of_others(plan.releases, checked.releases), alone.releases);
}

}  // namespace
}  // namespace muster
