#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/pollux/pollux_memory.hpp"

namespace muster::pollux {

/// Pollux: in each round all elastic jobs share a cluster of a fixed size so that their goodput is
/// best together, by a search over who has workers where. Jobs that are not elastic have instances
/// of their own. schedulers/pollux/README.md says what the paper leaves open.
class PolluxPolicy final : public Policy {
 public:
  explicit PolluxPolicy(const PolluxParams& params) : params_(params) {}

  Cadence cadence() const override;
  void observe(const Event& event, const ClusterView& view) override;
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override;
  std::string save_state(const ClusterState&) const override { return memory_.save(); }
  bool load_state(std::string_view text, const ClusterView&) override { return memory_.load(text); }
  /// Elastic jobs are shared out anew as they get older.
  bool settled(const ClusterView&) const override { return !memory_.knows_jobs(); }
  std::unique_ptr<Policy> clone() const override { return std::make_unique<PolluxPolicy>(*this); }

 private:
  /// Result of the search of its own last decision: other policies find it by searching again.
  struct Found {
    Instant at{};
    double seed = 0;
    std::vector<NamedLayout> population;
  };

  void remember(const RoundDecided& round, const ClusterView& view);

  PolluxParams params_;
  PolluxMemory memory_;
  PlacementMask mask_;  ///< a cache: follows from the state
  std::optional<Found> found_;
};

}  // namespace muster::pollux
