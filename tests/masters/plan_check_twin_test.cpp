#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "tests/masters/plain_plan_check.hpp"
#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::at_s;
using test::JobBuilder;

/// A random cluster of running and waiting tasks, and a plan that asks for too much of it.
class RandomRound {
 public:
  explicit RandomRound(std::uint64_t seed) : dice_(seed) {
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
    job.movable = draw(8) > 0;
    apply(JobAccepted{job});
    if (draw(2) == 0) return;
    for (const TaskSpec& task : job.tasks) {
      const InstanceRow& on = *state_.find(InstanceId{draw(instances)});
      if (!(on.committed + demand).fits_in(catalog_[on.type].capacity)) continue;
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
  /// Mostly none, sometimes more than the task demands, rarely less.
  std::optional<Grant> grant(const TaskRow& task) {
    if (draw(4) > 0) return std::nullopt;
    const Resources& demand = state_.shape(task.shape).entries().front().amount;
    if (draw(8) == 0) return Grant::of(demand - Resources::of(0, 0.5, 0));
    return Grant::of(demand + Resources::of(0, static_cast<double>(draw(3)), 0));
  }
  PlaceTarget target(std::uint64_t instances, std::uint64_t launches) {
    if (launches == 0 || draw(2) == 0) return InstanceId{draw(instances)};
    return LaunchIndex{static_cast<std::uint32_t>(draw(launches))};
  }

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

RC_GTEST_PROP(PlanCheckTwin, RefusesWhatThePlainFormRefuses, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>());
  const PlanLimits limits = round.limits();
  const CheckedPlan checked = check_plan(round.plan(), round.state(), limits);
  const auto plain = test::PlainPlanCheck(round.plan(), round.state(), limits).run();
  for (std::size_t i = 0; i < plain.size(); ++i) expect_same(checked.places[i], plain[i]);
}

RC_GTEST_PROP(PlanCheckTwin, CheckingTheRestAgainRefusesNothing, ()) {
  RandomRound round(*rc::gen::arbitrary<std::uint64_t>());
  const PlanLimits limits = round.limits();
  const CheckedPlan checked = check_plan(round.plan(), round.state(), limits);
  Plan rest;
  for (std::size_t i = 0; i < round.plan().stops.size(); ++i) {
    if (!checked.stops[i]) rest.stops.push_back(round.plan().stops[i]);
  }
  std::vector<std::uint32_t> launch_of;
  for (std::size_t i = 0; i < round.plan().launches.size(); ++i) {
    launch_of.push_back(static_cast<std::uint32_t>(rest.launches.size()));
    if (checked.launched(i)) rest.launches.push_back(round.plan().launches[i]);
  }
  for (std::size_t i = 0; i < round.plan().places.size(); ++i) {
    if (checked.places[i]) continue;
    rest.places.push_back(round.plan().places[i]);
    if (auto* launch = std::get_if<LaunchIndex>(&rest.places.back().to)) {
      launch->value = launch_of[launch->value];
    }
  }
  for (const auto& refusal : check_plan(rest, round.state(), limits).places) {
    RC_ASSERT(!refusal.has_value());
  }
}

}  // namespace
}  // namespace muster
