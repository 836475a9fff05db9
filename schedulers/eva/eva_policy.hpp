#pragma once

#include "schedulers/eva/artifact_layouts.hpp"
#include "schedulers/eva/eva_params.hpp"
#include "schedulers/eva/fleet_layout.hpp"
#include "schedulers/eva/lifetime_estimator.hpp"
#include "schedulers/eva/migration.hpp"
#include "schedulers/eva/paper_layouts.hpp"
#include "schedulers/packing/colocation_memory.hpp"
#include "schedulers/policy.hpp"

namespace muster::eva {

/// Eva (EuroSys'25): packs tasks onto instances as long as that costs less than hosting each on
/// its own, learning how much tasks slow each other, and each round adopts either a new layout of
/// everything (Full Reconfiguration) or a repair of the present one (Partial), by equation 1. Of a
/// fixed fleet, where nothing can be saved, it uses whatever there is (FleetLayout).
/// schedulers/eva/README.md says what the paper leaves open and how the artifact differs.
class EvaPolicy final : public Policy {
 public:
  /// Thinks of the jobs and instances of one market.
  EvaPolicy(const Catalog& catalog, Market market, const EvaParams& params);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }

  /// The co-location table, the arrivals and departures, and how often Full was adopted.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<EvaPolicy>(*this); }

  const ColocationTable& table() const { return memory_.table(); }

 private:
  /// One of the two layouts with the figures that the choice looks at.
  struct Proposal {
    Layout layout;
    double saving_usd_h = 0;   ///< S
    double migration_usd = 0;  ///< M
  };

  WorthModel model() const;
  void propose(Proposal& proposal, bool full, const ClusterView& view);
  double gain_usd(const Proposal& proposal, double lifetime_s) const;
  bool full_is_better(const std::optional<double>& lifetime_s) const;
  bool stays_with(bool full, const LifetimeEstimator::Estimate& estimate) const;
  bool affords_full(const ClusterView& view, Budget& budget) const;
  Plan adopt(bool full, bool looked_at_all, const LifetimeEstimator::Estimate& estimate);
  Plan keep_everything();
  Plan use_fleet(const ClusterView& view);

  EvaParams params_;
  ColocationMemory memory_;
  ReservationPrices prices_;
  TaskKinds kinds_;
  LifetimeEstimator lifetime_;
  RoundInput input_;
  PaperLayouts paper_;
  ArtifactLayouts artifact_;
  FleetLayout fleet_;
  MigrationCost migration_;
  ArtifactMigrationCost artifact_migration_;
  Proposal full_, partial_;
  bool learned_ = false;  ///< the last report changed the table
  bool settled_ = false;
};

}  // namespace muster::eva
