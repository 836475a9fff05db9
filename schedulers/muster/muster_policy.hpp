#pragma once

#include <memory>
#include <string>

#include "schedulers/muster/fleet_memory.hpp"
#include "schedulers/muster/memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/work_prices.hpp"
#include "schedulers/packing/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Muster's own policy for the instances of one market. Rented: exact repartition of few instances
/// at the price of work. Given: one queue, short jobs first, in each class the one that is done
/// soonest. schedulers/muster/README.md has the objective and what was measured.
class MusterPolicy final : public Policy {
 public:
  MusterPolicy(const Catalog& catalog, Market market, const MusterParams& params);

  Cadence cadence() const override;
  Cadence fleet_cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override;

  /// The pair rates, and who has waited for how long; of a fleet its own memory.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<MusterPolicy>(*this); }

 private:
  Plan use_fleet(const ClusterView& view);

  MusterParams params_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  ThroughputIntake intake_{true};
  PairRates rates_;
  WorkPrices work_;
  Memory memory_;
  FleetMemory fleet_;
  RoundInput input_;
  bool changes_with_time_ = false;
};

}  // namespace muster::own
