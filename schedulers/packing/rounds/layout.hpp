#pragma once

#include <cstdint>
#include <vector>

#include "model/plan.hpp"
#include "schedulers/packing/rounds/round_input.hpp"

namespace muster {

/// Where a round would have all tasks, on present instances and on new ones.
struct Layout {
  /// An instance of the layout.
  struct Host {
    TypeId type;
    Market market = Market::on_demand;    ///< where it is rented; only of a new one
    std::uint32_t present = kUnassigned;  ///< in the round's instances; kUnassigned: a new one
    std::uint32_t tasks = 0;
    double worth_usd_h = 0;  ///< TNRP of the tasks
    double price_usd_h = 0;
  };
  std::vector<Host> hosts;
  std::vector<std::uint32_t> host_of;  ///< of each of the round's tasks; kUnassigned: no place

  /// Starts a layout without hosts for that number of tasks.
  void reset(std::size_t tasks);
  std::uint32_t add_present(const RoundInput& input, std::uint32_t instance);
  std::uint32_t add_new(const PricedTypes& types, TypeId type) {
    return add_new(types, type, types.market_of(type));
  }
  std::uint32_t add_new(const PricedTypes& types, TypeId type, Market market);
  void assign(std::uint32_t task, std::uint32_t host) {
    host_of[task] = host;
    ++hosts[host].tasks;
  }

  /// The task gets a place that it has not now.
  bool moves(const RoundInput& input, std::uint32_t task) const {
    const std::uint32_t host = host_of[task];
    if (host == kUnassigned) return false;
    return hosts[host].present == kUnassigned || hosts[host].present != input.tasks()[task].home;
  }

  double worth_usd_h() const;
  double cost_usd_h() const;
};

/// The changes that lead from the present to the layout: launches, places for the tasks whose
/// place changes, and releases of rented instances that the layout does not hold. `reconfiguration`
/// is the cause of what happens to tasks that had a place. Gains are TNRP less price per instance.
Plan plan_of(const Layout& layout, const RoundInput& input, const WorthModel& model,
             const TaskKinds& kinds, CauseCode reconfiguration);

/// TNRP of the tasks that are meant to be on the instance now, $/h.
double present_worth(const RoundInput& input, const RoundInput::Instance& instance,
                     const WorthModel& model, const TaskKinds& kinds, InstanceWorth& scratch);

}  // namespace muster
