#include "schedulers/packing/rounds/alone_on_fleet.hpp"

#include <array>

namespace muster {

std::vector<char> refuse_gangs_wider_than_fleet(const ClusterView& view, const RoundInput& input,
                                                Plan& plan) {
  const ClusterState& state = view.state;
  std::array<std::size_t, 2> on_market{};
  for (const RoundInput::Instance& instance : input.instances()) {
    ++on_market[static_cast<std::size_t>(state.instance(instance.slot).market)];
  }
  std::vector<char> wider;
  for (const RoundInput::Job& one : input.jobs()) {
    if (one.slot >= wider.size()) wider.resize(one.slot + std::size_t{1}, 0);
    const JobRow& job = state.job(one.slot);
    std::size_t instances = 0;
    for (const Market market : {Market::on_demand, Market::spot}) {
      if (wants(state.markets(job), market))
        instances += on_market[static_cast<std::size_t>(market)];
    }
    if (!job.job.gang || job.pending <= instances) continue;
    wider[one.slot] = 1;
    const Refusal why{RefusalKind::not_now,
                      RefusalCode::fixed_fleet,
                      {},
                      static_cast<double>(job.pending),
                      static_cast<double>(instances)};
    for (const Slot slot : job.tasks) {
      const TaskRow& task = state.task(slot);
      // A refusal that stands already would be an event without news in every round.
      if (task.phase != TaskPhase::pending || task.reason == why) continue;
      plan.refusals.push_back({task.id, why});
    }
  }
  return wider;
}

}  // namespace muster
