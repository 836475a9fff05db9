#include "schedulers/baselines/no_packing.hpp"

namespace muster {

void NoPacking::observe(const Observation& observation, const ClusterView&) {
  changed_ |= std::holds_alternative<JobArrived>(observation) ||
              std::holds_alternative<JobDeparted>(observation);
}

Plan NoPacking::decide(const ClusterView& view, Rng&) {
  Plan plan;
  if (!changed_ && view.state.pending().empty()) return plan;
  changed_ = false;
  input_.gather(view, prices_, kinds_);
  plan.refusals = input_.refusals();
  for (const RoundInput::Task& task : input_.tasks()) {
    const TaskRow& row = view.state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending) continue;
    const ReservationPrice& price = prices_.of(row.shape);
    const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
    plan.launches.push_back({price.type, Market::on_demand, {CauseCode::alone, 0}});
    plan.places.push_back({row.id, launch, {CauseCode::alone, 0}});
  }
  for (const RoundInput::Instance& instance : input_.instances()) {
    if (instance.residents > 0) continue;
    plan.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
  }
  return plan;
}

}  // namespace muster
