#include "schedulers/boa/boa_policy.hpp"

#include <optional>

#include "schedulers/boa/boa_round.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::boa {

Cadence BoaPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_departure = params_.eager,
          .on_capacity = true,
          .on_progress = params_.eager,
          .wants_throughput = true};
}

Plan BoaPolicy::decide(const ClusterView& view, Rng&, Budget& budget) {
  // A policy that did not decide makes an equal plan when the round's note comes back to it. Until
  // it is due by its age, a new class goes on at its least width where a plan is dearer than is
  // allowed.
  const std::uint64_t steps = memory_.steps_of_plan();
  const bool affords = budget.allowed() == 0 || budget.used() + steps <= budget.allowed();
  const bool due = memory_.is_due(view.now) && (affords || memory_.is_overdue(view.now));
  if (due) budget.spend(steps);
  std::optional<BoaMemory> later;
  if (due) later.emplace(memory_).replan(view.now);
  mask_.learn(view.state);
  Plan plan = later ? BoaRound(view, *later, mask_).run(BoaMemory::kRecomputed)
                    : BoaRound(view, memory_, mask_).run("keep");
  tell_who_is_kept_apart(view, plan);
  return plan;
}

}  // namespace muster::boa
