#include "schedulers/baselines/synergy.hpp"

#include "schedulers/baselines/synergy_round.hpp"

namespace muster {
namespace {

/// The artifact takes each task for itself wherever it weighs who joins whom.
bool counts_gangs(const SynergyParams& params) {
  return !params.artifact;
}

}  // namespace

Synergy::Synergy(const Catalog& catalog, Market market, const SynergyParams& params)
    : params_(params),
      memory_(
          {.default_pair = params.default_pair,
           .attribution = params.artifact ? AttributionRules::artifact : AttributionRules::paper}),
      prices_(catalog, only(market)),
      kinds_(counts_gangs(params)) {}

Cadence Synergy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .wants_throughput = true};
}

WorthModel Synergy::model() const {
  return {.prices = prices_,
          .rates = &memory_.table(),
          .form = params_.artifact ? GangForm::plain : GangForm::job_wide,
          .alone_is_learned = params_.artifact};
}

void Synergy::observe(const Event& event, const ClusterView& view) {
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    learned_ = memory_.learn(*measured, view.state);
  } else if (std::holds_alternative<RoundDecided>(event.body)) {
    learned_ = false;
  }
}

Plan Synergy::decide(const ClusterView& view, Rng&, Budget& budget) {
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  const WorthModel worth = model();
  SynergyRound round({view, input_, worth, kinds_.all(), params_.artifact}, budget);
  Plan plan = round.run();
  settled_ = !learned_ && !round.cut_off();
  return plan;
}

std::string Synergy::save_state(const ClusterState& state) const {
  return memory_.save(state);
}

bool Synergy::load_state(std::string_view text, const ClusterView& view) {
  return memory_.load(text, view.state);
}

}  // namespace muster
