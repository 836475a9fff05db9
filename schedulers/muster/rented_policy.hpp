#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedulers/muster/cap_price.hpp"
#include "schedulers/muster/class_times.hpp"
#include "schedulers/muster/empty_record.hpp"
#include "schedulers/muster/memory.hpp"
#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/muster/run_times.hpp"
#include "schedulers/muster/timed_jobs.hpp"
#include "schedulers/muster/work_prices.hpp"
#include "schedulers/packing/forgetting.hpp"
#include "schedulers/packing/rounds/idle_instances.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

class Round;

/// Muster's own policy for rented instances of both markets: exact repartition of few of them at
/// the price of work. README.md has the objective.
class RentedPolicy final : public Policy {
 public:
  RentedPolicy(const Catalog& catalog, const MusterParams& params);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView& view) const override;

  /// The pair rates, who has waited for how long, how wrong what is said of run times is, and when
  /// the last regular round was.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<RentedPolicy>(*this); }

 private:
  Plan hold_round(const TimedJobs& split, const ClusterView& view, Rng& rng, Budget& budget);
  void hold_timed_round(const TimedJobs& split, const ClusterView& view, Budget& budget,
                        Plan& plan);
  static void note_waits(const Round& round, std::span<const std::uint32_t> waiting, Plan& plan);
  void note_place_price(bool any_waits, const ClusterView& view, Plan& plan);
  std::int64_t period_of(Instant now) const { return now.time_since_epoch() / params_.period; }
  /// The first round of its period.
  bool is_regular(Instant now) const;
  bool wants_round(const ClusterView& view) const;
  bool is_kept(InstanceId id, const ClusterView& view) const;
  /// Takes those out that are to stay empty for now; whether there are such.
  bool keep_back(std::vector<Release>& releases, const ClusterView& view) const;
  /// Empty instances are given back, or kept, between the rounds of periods.
  bool follows_empties() const { return params_.eager || params_.at_once || params_.keep > 0; }

  MusterParams params_;
  ReservationPrices prices_;
  TaskKinds kinds_{false};
  ThroughputIntake intake_{true};
  PairRates rates_;
  Duration rest_;   ///< between two rounds
  Price cheapest_;  ///< of an instance
  Forgetting forgetting_;
  WorkPrices work_;
  Memory memory_;
  CapPrice place_;
  RunTimeRecord record_;
  ClassTimes times_;
  IdleInstances idle_;
  EmptyRecord empties_;
  std::optional<Instant> last_round_;  ///< but for those that only give back
  RoundInput input_;
  RoundInput timed_input_;
  bool changes_with_time_ = false;
  bool keeps_ = false;  ///< some empty instance
};

}  // namespace muster::own
