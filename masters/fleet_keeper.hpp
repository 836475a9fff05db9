#pragma once

#include "masters/cloud_orders.hpp"
#include "masters/plan_rules.hpp"

namespace muster {

/// Keeps a fleet: orders what it lacks, whatever the policy thinks of it. Where everything is
/// rented it does nothing.
class FleetKeeper {
 public:
  FleetKeeper(const MasterRecorder& recorder, CloudOrders& cloud, const PlanRules& rules,
              Fleet fleet);

  /// Orders what is lacking, within the caps where nothing else is rented.
  void keep(Instant now);
  /// All that the config wants, drained meanwhile or not: it is there again after the next start.
  const Fleet& configured() const { return configured_; }
  /// Something is lacking, as far as is known, and will be ordered again.
  bool is_short() const { return is_short_; }
  /// An instance may be lacking without an order: of one that was refused, or before a restart.
  void look_again() { is_short_ = !fleet_.empty(); }
  /// A user does not want the instance any more: nothing takes its place before the next start.
  void shrink(const InstanceRow& drained);

 private:
  /// How many of the share there are.
  std::uint32_t count(const FleetShare& share) const;

  const MasterRecorder& recorder_;
  CloudOrders& cloud_;
  const PlanRules& rules_;
  const Fleet configured_;
  Fleet fleet_;  ///< the same without what was drained
  bool is_short_ = false;
};

}  // namespace muster
