#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "schedulers/lrasched/limit_search.hpp"
#include "schedulers/lrasched/lrasched_params.hpp"
#include "schedulers/lrasched/service_memory.hpp"
#include "schedulers/muster/muster_policy.hpp"
#include "schedulers/packing/programs/integer_program.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// Places services as LRASched does, and all other jobs as `muster` does: to that one a replica
/// that has a place is fixed room. Services go first in a round, so that the instances which they
/// join take nothing else in it.
class LraPolicy final : public Policy {
 public:
  /// No solver: heuristics alone.
  LraPolicy(const Catalog& catalog, const LraParams& params,
            std::shared_ptr<const IntegerSolver> solver);

  Cadence cadence() const override { return with_numbers(batch_.cadence()); }
  Cadence fleet_cadence() const override { return with_numbers(batch_.fleet_cadence()); }
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override;

  /// The memories of both parts.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<LraPolicy>(*this); }

 private:
  /// Findings on services when a round decides: those of its own steps count.
  struct Books {
    SizeBook sizes;
    LimitBook limits;
  };
  Plan place_services(const ClusterView& view, const Books& books, Rng rng, Budget& budget);
  /// Of a decision.
  struct Means {
    const Rng& rng;
    Budget& budget;
  };
  void add_clearing(const ClusterView& view, const Books& books, Plan& to, const Means& means);
  bool any_waits(const ClusterView& view, const Books& books) const;
  /// Sizes and limits follow from the numbers that replicas say.
  Cadence with_numbers(Cadence cadence) const {
    cadence.wants_metrics |= params_.sizes.learns || params_.learns_limits;
    return cadence;
  }

  LraParams params_;
  std::shared_ptr<const IntegerSolver> solver_;
  ReservationPrices prices_;  // caches
  ServiceMemory services_;
  Books books_;
  SizeSearch search_;
  LimitSearch limit_search_;
  own::MusterPolicy batch_;
};

}  // namespace muster::lrasched
