#pragma once

#include <optional>
#include <vector>

#include "masters/instances/cloud_orders.hpp"
#include "masters/instances/spend_guard.hpp"
#include "masters/plan/plan_check.hpp"

namespace muster {

/// Says at each time what a plan is held against, and whether anything may be rented.
class PlanRules {
 public:
  PlanRules(const MasterRecorder& recorder, const CloudOrders& cloud, const SpendGuard& guard,
            const MasterSettings& settings);

  /// While it is not known which instance numbers were given out, or which day's money is spent,
  /// nothing may be.
  bool may_rent() const { return cloud_.knows_numbers() && guard_.knows_day(); }
  PlanLimits limits(Instant now) const;
  /// From now on the gangs of that round rest or have their turn.
  void begin_round(std::uint64_t round, Instant now);

 private:
  const MasterRecorder& recorder_;
  const CloudOrders& cloud_;
  const SpendGuard& guard_;
  MasterCaps caps_;
  Duration min_stay_;
  std::optional<JobId> turn_;      ///< whose it is in the present round
  std::vector<JobId> backed_off_;  ///< gangs for which nothing is rented in the present round
};

}  // namespace muster
