#include "schedulers/pollux/pollux_policy.hpp"

#include <utility>

#include "schedulers/packing/rules.hpp"
#include "schedulers/pollux/pollux_round.hpp"

namespace muster::pollux {
namespace {

/// Bits that a figure of a round's note holds exactly.
constexpr int kSeedBits = 32;

}  // namespace

Cadence PolluxPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_departure = params_.eager,
          .on_capacity = params_.eager,
          .wants_throughput = true};
}

void PolluxPolicy::observe(const Event& event, const ClusterView& view) {
  // A search that is repeated is shown what the one was shown that it repeats.
  if (const auto* round = std::get_if<RoundDecided>(&event.body)) remember(*round, view);
  memory_.observe(event, view);
}

void PolluxPolicy::remember(const RoundDecided& round, const ClusterView& view) {
  if (round.note.choice != "genetic") return;
  const double seed = round.note.figures.front().second;
  if (!found_ || found_->at != view.now || found_->seed != seed) {
    Budget budget(round.budget);
    mask_.learn(view.state);
    PolluxRound again(view, mask_, memory_, params_);
    memory_.remember(again.run(static_cast<std::uint64_t>(seed), budget).population);
  } else {
    memory_.remember(std::move(found_->population));
  }
  found_.reset();
}

Plan PolluxPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  const std::uint64_t seed = rng.next() >> (64 - kSeedBits);
  mask_.learn(view.state);
  PolluxRound round(view, mask_, memory_, params_);
  const bool breeds = round.breeds();
  RoundResult result = round.run(seed, budget);
  if (breeds) {
    found_ = Found{view.now, static_cast<double>(seed), std::move(result.population)};
  } else {
    found_.reset();
  }
  tell_who_is_kept_apart(view, result.plan);
  return std::move(result.plan);
}

}  // namespace muster::pollux
