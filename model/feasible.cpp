#include "model/feasible.hpp"

#include <algorithm>

#include "model/check.hpp"
#include "model/stay.hpp"

namespace muster {
namespace {

/// With the resource that there is too little of.
Refusal short_of(RefusalCode code, Resource kind, const Resources& asked,
                 const Resources& available) {
  return {RefusalKind::not_now, code, kind, asked[kind], available[kind]};
}

}  // namespace

bool wants(MarketChoice choice, Market market) {
  return choice == MarketChoice::any || (choice == MarketChoice::spot) == (market == Market::spot);
}

bool admits(const ClusterState& state, const TaskRow& task, TypeId type) {
  return state.shape(task.shape).constraint.admits(state.catalog()[type]);
}

std::optional<Refusal> why_infeasible(const ClusterState& state, const Placing& placing) {
  const TaskRow& task = *placing.task;
  if (!wants(state.markets(task), placing.market)) {
    const bool wanted = wants(state.job(task.job).job.markets, placing.market);
    if (wanted) return why_confined(state, task);
    return Refusal{RefusalKind::not_now, RefusalCode::wrong_market, {}, 0, 0};
  }
  if (!admits(state, task, placing.type)) {
    return Refusal{RefusalKind::not_now, RefusalCode::constraint, {}, 0, 0};
  }
  const FamilyDemand* demand = state.demand(*placing.task, placing.type);
  if (demand == nullptr) return Refusal{RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0};
  const Grant grant = placing.grant.value_or(Grant::of(demand->amount));
  if (placing.grant) {
    const ServiceSpec* service = state.job(task.job).job.service();
    const SizeRange size = service != nullptr ? service->size : SizeRange{};
    const Resources least = least_grant(size, demand->amount);
    if (const auto kind = least.first_exceeding(grant.amount)) {
      return short_of(RefusalCode::malformed, *kind, least, grant.amount);
    }
  }
  const Resources& capacity = state.catalog()[placing.type].capacity;
  if (const auto kind = grant.amount.first_exceeding(capacity)) {
    return short_of(RefusalCode::over_capacity, *kind, grant.amount, capacity);
  }
  return std::nullopt;
}

std::uint32_t peers_on(const ClusterState& state, const TaskRow& task, const InstanceRow& on) {
  std::uint32_t peers = 0;
  const auto is_peer = [&](const TaskRow& other) {
    return other.job == task.job && other.slot != task.slot;
  };
  for (Slot slot : on.occupants) peers += is_peer(state.task(slot));
  for (Slot slot : on.planned) {
    // One that stays where it is, or comes back there, is on both lists.
    const TaskRow& other = state.task(slot);
    peers += is_peer(other) && other.at != on.slot;
  }
  return peers;
}

bool is_full_of_peers(const ClusterState& state, const TaskRow& task, const InstanceRow& on) {
  const std::uint32_t most = state.job(task.job).job.most_an_instance;
  return most > 0 && peers_on(state, task, on) >= most;
}

bool is_resized_by(const TaskRow& task, const InstanceRow& on, const std::optional<Grant>& grant) {
  return task.phase == TaskPhase::running && task.at == on.slot && grant && *grant != task.held;
}

Resources least_grant(const SizeRange& size, const Resources& demand) {
  if (!size.is_there()) return demand;
  Resources least = demand;
  least[Resource::cpu] = std::min(least[Resource::cpu], size.least_cpus);
  least[Resource::memory] = std::min(least[Resource::memory], size.least_memory_gib);
  return least;
}

Grant grant_of(const ClusterState& state, const Placing& placing) {
  if (placing.grant) return *placing.grant;
  const FamilyDemand* demand = state.demand(*placing.task, placing.type);
  MUSTER_CHECK(demand != nullptr, "a task is only placed on a family that it has a demand for");
  return Grant::of(demand->amount);
}

}  // namespace muster
