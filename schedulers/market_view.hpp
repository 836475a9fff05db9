#pragma once

#include "schedulers/policy.hpp"

namespace muster {

/// One market of a cluster, for a policy that thinks of no other: the jobs that want it, its
/// instances, and what of it can be had. Jobs that take any market are those of on demand.
struct MarketView {
  const ClusterView& cluster;
  Market market = Market::on_demand;

  bool shows(const JobRow& row) const {
    return (row.job.markets == MarketChoice::spot) == (market == Market::spot);
  }
  bool shows(const InstanceRow& row) const { return row.market == market; }
  /// The cloud does not have the type on this market now.
  bool rests(TypeId type) const { return cluster.rests(type, market); }
};

}  // namespace muster
