#pragma once

#include <optional>

#include "model/cluster_state.hpp"

namespace muster {

/// A task on an instance of a kind.
struct Placing {
  const TaskRow* task = nullptr;
  TypeId type;
  Market market = Market::on_demand;
  std::optional<Grant> grant{};  ///< nothing: the task's demand there
};

/// A job with that wish may be on the market.
bool wants(MarketChoice choice, Market market);

/// The constraint of the task's job admits the type.
bool admits(const ClusterState& state, const TaskRow& task, TypeId type);

/// The one rule of placement, for policies and for the check of their plans: why the task may not
/// be on such an instance, whoever else is there; nor may it be where is_full_of_peers(). Nothing:
/// it may. A task is granted at least all that it demands, and a replica whose size its policy
/// chooses the least of its sizes.
std::optional<Refusal> why_infeasible(const ClusterState& state, const Placing& placing);

/// How many other tasks of the job are on the instance or are to come there. O(tasks there).
std::uint32_t peers_on(const ClusterState& state, const TaskRow& task, const InstanceRow& on);
/// They are as many as the job may have on one instance: the task may not come there, too. Never of
/// a job that may have any number there. O(tasks there) of other jobs, else O(1).
bool is_full_of_peers(const ClusterState& state, const TaskRow& task, const InstanceRow& on);

/// The least grant of a task of that demand, by its service's range of sizes.
Resources least_grant(const SizeRange& size, const Resources& demand);

/// The task runs on the instance with another grant than this one.
bool is_resized_by(const TaskRow& task, const InstanceRow& on, const std::optional<Grant>& grant);

/// Grant of the task there. The placing has to be feasible.
Grant grant_of(const ClusterState& state, const Placing& placing);

}  // namespace muster
