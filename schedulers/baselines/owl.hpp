#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "schedulers/baselines/pair_profile.hpp"
#include "schedulers/packing/colocation_memory.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/policy.hpp"

namespace muster {

/// Where Owl knows from how two tasks slow each other.
enum class ProfileSource : std::uint8_t {
  given,  ///< it is told in advance; in replays only
  learnt  ///< from what workers measure
};

/// The settings of owl.
struct OwlParams {
  bool artifact = false;  ///< decide as Eva's published simulator does
  /// Not said: learnt, but given where `artifact` is told what it needs.
  std::optional<ProfileSource> profile{};
  double default_pair = 0.95;  ///< expected throughput beside a neighbour never observed
  Duration period{std::chrono::seconds{300}};
  bool eager = false;  ///< rounds at once on arrivals and on resources that come free, too
  SpotUse spot = SpotUse::asked;
};

/// Owl as the Eva paper compares with: at most two tasks share an instance. Of all pairs of those
/// that wait, or are alone on their instances, the ones go together first that are worth most for
/// the price of the cheapest type that holds both, by throughput-normalised reservation prices; a
/// task that is alone then is on an instance of the cheapest type that holds it. On a fixed fleet
/// no task is moved: a task that waits gets an empty instance, or else joins one task that is
/// alone.
class Owl final : public Policy {
 public:
  /// Thinks of the jobs and instances of one market. `truth` may be empty.
  Owl(const Catalog& catalog, Market market, const OwlParams& params, const PairTruth& truth);

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  bool settled(const ClusterView&) const override { return settled_; }
  /// The co-location table.
  std::string save_state(const ClusterState& state) const override;
  bool load_state(std::string_view text, const ClusterView& view) override;
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Owl>(*this); }

 private:
  OwlParams params_;
  ColocationMemory memory_;
  PairTruth truth_;  ///< empty where the profile is learnt
  ReservationPrices prices_;
  TaskKinds kinds_;
  RoundInput input_;
  GivenRates given_rates_;  ///< a cache of the truth
  bool learned_ = false;    ///< the last report changed the table
  bool settled_ = false;    ///< a cache: of the last decision
};

}  // namespace muster
