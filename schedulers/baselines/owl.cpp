#include "schedulers/baselines/owl.hpp"

#include "schedulers/baselines/owl_round.hpp"

namespace muster {
namespace {

bool is_given(const OwlParams& params, const PairTruth& truth) {
  const bool by_default = params.artifact && truth;
  const auto otherwise = by_default ? ProfileSource::given : ProfileSource::learnt;
  return params.profile.value_or(otherwise) == ProfileSource::given;
}

}  // namespace

/// The artifact takes each task for itself wherever it weighs pairs.
Owl::Owl(const Catalog& catalog, Market market, const OwlParams& params, const PairTruth& truth)
    : params_(params),
      memory_(
          {.default_pair = params.default_pair,
           .attribution = params.artifact ? AttributionRules::artifact : AttributionRules::paper}),
      truth_(is_given(params, truth) ? truth : PairTruth{}),
      prices_(catalog, only(market)),
      kinds_(!params.artifact) {}

Cadence Owl::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .wants_throughput = !truth_};
}

void Owl::observe(const Event& event, const ClusterView& view) {
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    if (!truth_) learned_ = memory_.learn(*measured, view.state);
  } else if (std::holds_alternative<RoundDecided>(event.body)) {
    learned_ = false;
  }
}

Plan Owl::decide(const ClusterView& view, Rng&, Budget& budget) {
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  // A round need not be held again while nothing has changed that this decision looked at.
  settled_ = !learned_ && (!view.rents() || !input_.changes_with_time());
  const WorthModel worth{.prices = prices_,
                         .rates = &memory_.table(),
                         .form = params_.artifact ? GangForm::plain : GangForm::job_wide};
  const PairProfile profile = truth_ ? PairProfile(truth_, view.state.classes(), given_rates_)
                                     : PairProfile(memory_.table());
  OwlRound round({view, input_, worth, kinds_, profile, params_.artifact}, budget);
  Plan plan = round.run();
  settled_ = settled_ && !round.cut_off();
  return plan;
}

std::string Owl::save_state(const ClusterState& state) const {
  return memory_.save(state);
}

bool Owl::load_state(std::string_view text, const ClusterView& view) {
  return memory_.load(text, view.state);
}

}  // namespace muster
