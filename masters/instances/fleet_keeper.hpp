#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "masters/instances/cloud_orders.hpp"
#include "masters/plan/plan_rules.hpp"

namespace muster {

/// The fleet that is to be, and how much of it is ordered at once.
struct FleetOrders {
  Fleet fleet;
  std::size_t at_once = 0;  ///< instances, one at least
};

/// Keeps a fleet: orders what it lacks, whatever the policy thinks of it. Where everything is
/// rented it does nothing.
class FleetKeeper final : public EventListener {
 public:
  FleetKeeper(MasterRecorder& recorder, CloudOrders& cloud, const PlanRules& rules,
              const FleetOrders& orders);

  /// Orders missing instances, as many as may be at once, within the caps where nothing else is
  /// rented. True: more is lacking, to be ordered after what has come in meanwhile was heard.
  bool keep(Instant now);
  /// All that the config wants, drained meanwhile or not: it is there again after the next start.
  const Fleet& configured() const { return configured_; }
  /// Something is lacking, as far as is known, and will be ordered again.
  bool is_short() const { return is_short_; }
  /// An instance may be lacking without an order: of one that was refused, or before a restart.
  void look_again() { is_short_ = !fleet_.empty(); }
  /// A user does not want the instance any more: nothing takes its place before the next start.
  void shrink(const InstanceRow& drained);

  void before(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  void count_owned(const InstanceRow& row, int change);
  /// How many of the share there are.
  std::uint32_t count(const FleetShare& share) const;

  const MasterRecorder& recorder_;
  CloudOrders& cloud_;
  const PlanRules& rules_;
  const Fleet configured_;
  const std::size_t at_once_;
  /// Owned instances by type and market, where more than the fleet is rented.
  std::map<std::pair<TypeId, Market>, std::uint32_t> owned_;
  Fleet fleet_;  ///< likewise, without drained ones
  bool is_short_ = false;
};

}  // namespace muster
