#pragma once

#include <chrono>

#include "schedulers/packing/colocation_memory.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// The settings of synergy.
struct SynergyParams {
  bool artifact = false;       ///< decide as Eva's published simulator does
  double default_pair = 0.95;  ///< expected throughput beside a neighbour never observed
  Duration period{std::chrono::seconds{300}};
  bool eager = false;  ///< rounds at once on arrivals and on resources that come free, too
  SpotUse spot = SpotUse::asked;
};

/// Synergy as the Eva paper compares with: a task that waits joins the tasks of the instance that
/// are worth most with it for the instance's price, by throughput-normalised reservation prices, as
/// long as they are worth the price; a task that joins no instance gets a new one of the cheapest
/// type that holds it. No task is moved. On a fixed fleet, where nothing can be saved, what finds
/// room gets it.
class Synergy final : public Policy {
 public:
  /// Thinks of the jobs and instances of one market.
  Synergy(const Catalog& catalog, Market market, const SynergyParams& params);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }
  /// The co-location table.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Synergy>(*this); }

 private:
  WorthModel model() const;

  SynergyParams params_;
  ColocationMemory memory_;
  ReservationPrices prices_;
  TaskKinds kinds_;
  RoundInput input_;
  bool learned_ = false;  ///< the last report changed the table
  bool settled_ = false;  ///< a cache: of the last decision
};

}  // namespace muster
