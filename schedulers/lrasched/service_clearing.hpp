#pragma once

#include <vector>

#include "schedulers/lrasched/service_input.hpp"

namespace muster::lrasched {

/// An instance that services alone use, and little of it.
struct PoorInstance {
  InstanceId id;
  double price_usd_h = 0;
  std::vector<Slot> replicas;  ///< all that are on it
};

/// The instances of which the most is paid for and not used, at most kMostCleared: all of their
/// tasks are replicas that may move, and have served for kStayBeforeClearing; ordered by the waste.
/// O(instances and their tasks).
std::vector<PoorInstance> poor_instances(const ClusterView& view);
inline constexpr std::size_t kMostCleared = 4;
inline constexpr Duration kStayBeforeClearing{std::chrono::minutes{10}};

/// Time alone may add to those.
bool may_get_poor(const ClusterView& view);

/// A plan, one group, by which the replicas of one of those go to room on others, or to an instance
/// that costs less, and it is given back: empty where no such way saves a tenth of its price.
Plan plan_of_clearing(const ServiceParts& parts, Rng& rng, Budget& budget);

}  // namespace muster::lrasched
