#pragma once

#include <memory>
#include <string>

#include "schedulers/muster/memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/work_prices.hpp"
#include "schedulers/packing/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Muster's own policy for rented instances of both markets: exact repartition of few of them at
/// the price of work. README.md has the objective.
class RentedPolicy final : public Policy {
 public:
  RentedPolicy(const Catalog& catalog, const MusterParams& params);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override;

  /// The pair rates, and who has waited for how long.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<RentedPolicy>(*this); }

 private:
  MusterParams params_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  ThroughputIntake intake_{true};
  PairRates rates_;
  WorkPrices work_;
  Memory memory_;
  RoundInput input_;
  bool changes_with_time_ = false;
};

}  // namespace muster::own
