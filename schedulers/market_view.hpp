#pragma once

#include <cstdint>
#include <span>

#include "model/feasible.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// The choice of one market.
constexpr MarketChoice only(Market market) {
  return market == Market::spot ? MarketChoice::spot : MarketChoice::on_demand;
}

/// Which jobs may be put on spot instances.
enum class SpotUse : std::uint8_t {
  allowed,  ///< all that take any market, where it pays
  asked     ///< only those that ask for them
};

/// One market of a cluster, for a policy that thinks of no other: the jobs that want it, its
/// instances, and what of it can be had. Jobs that take any market are those of on demand, unless
/// the cluster's view says otherwise. With `any` it shows everything.
struct MarketView {
  const ClusterView& cluster;
  MarketChoice markets = MarketChoice::on_demand;
  /// The jobs and the instances that are shown at all, by slot. None: all of them.
  std::span<const char> jobs{};
  std::span<const char> instances{};

  bool shows(const JobRow& row) const {
    if (!is_among(jobs, row.slot)) return false;
    if (markets == MarketChoice::any) return true;
    const bool chosen = row.job.markets == MarketChoice::any && row.slot < cluster.on_spot.size() &&
                        cluster.on_spot[row.slot] != 0;
    const bool on_spot = row.job.markets == MarketChoice::spot || chosen;
    return on_spot == (markets == MarketChoice::spot);
  }
  bool shows(const InstanceRow& row) const {
    return is_among(instances, row.slot) && wants(markets, row.market);
  }
  /// The cloud does not have the type now on any market that is shown.
  bool rests(TypeId type) const {
    const auto rests_on = [&](Market market) {
      return !wants(markets, market) || cluster.rests(type, market);
    };
    return rests_on(Market::on_demand) && rests_on(Market::spot);
  }

 private:
  static bool is_among(std::span<const char> marks, Slot slot) {
    return marks.empty() || (slot < marks.size() && marks[slot] != 0);
  }
};

}  // namespace muster
