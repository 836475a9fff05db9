#include "schedulers/eva/eva_policy.hpp"

#include <cmath>
#include <utility>

namespace muster::eva {
namespace {

/// Layouts whose gains differ by less do not differ: Partial is kept then, which moves less.
constexpr double kMoneyEpsilon_usd = 1e-6;

/// The choices that the notes of rounds tell.
constexpr const char* kFull = "full";
constexpr const char* kPartial = "partial";
constexpr const char* kFleet = "fleet";

// The artifact rounds money to cents before it compares.
double to_cents(double usd) {
  return std::nearbyint(usd * 100) / 100;
}

}  // namespace

EvaPolicy::EvaPolicy(const Catalog& catalog, Market market, const EvaParams& params)
    : params_(params),
      memory_({params.default_pair, params.gangs,
               params.artifact ? AttributionRules::artifact : AttributionRules::paper}),
      prices_(catalog, only(market)),
      kinds_(params.gangs),
      paper_(params.cheapest_types) {}

Cadence EvaPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .on_price = params_.eager,
          .wants_throughput = true};
}

WorthModel EvaPolicy::model() const {
  return {.prices = prices_,
          .rates = params_.interference ? &memory_.table() : nullptr,
          .form = params_.artifact ? GangForm::plain : GangForm::job_wide,
          .alone_is_learned = params_.artifact};
}

void EvaPolicy::observe(const Event& event, const ClusterView& view) {
  if (std::holds_alternative<JobAccepted>(event.body)) {
    lifetime_.note_event(event.at);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    lifetime_.note_event(event.at);
    artifact_migration_.forget(over->job);
  } else if (const auto* measured = std::get_if<Measured>(&event.body)) {
    learned_ = memory_.learn(*measured, view.state);
  } else if (std::holds_alternative<OfferingChanged>(event.body)) {
    artifact_migration_.forget_prices();
    // Counted when the round is on record and not in decide(): a memory that only follows events
    // has to count equally.
  } else if (const auto* round = std::get_if<RoundDecided>(&event.body)) {
    if (round->note.choice == kFull) lifetime_.full_chosen();
    learned_ = false;
  }
}

void EvaPolicy::propose(Proposal& proposal, bool full, const ClusterView& view) {
  const WorthModel worth = model();
  Layout& layout = proposal.layout;
  if (params_.artifact) {
    full ? artifact_.full(input_, worth, kinds_, layout)
         : artifact_.partial(input_, worth, kinds_, layout);
    proposal.saving_usd_h = layout.worth_usd_h() - to_cents(layout.cost_usd_h());
    proposal.migration_usd =
        artifact_migration_.of(layout, input_, view.state, artifact_, worth, kinds_);
  } else {
    full ? paper_.full(input_, worth, kinds_, layout)
         : paper_.partial(input_, worth, kinds_, layout);
    proposal.saving_usd_h = layout.worth_usd_h() - layout.cost_usd_h();
    proposal.migration_usd = migration_.of(layout, input_, view, prices_);
  }
}

double EvaPolicy::gain_usd(const Proposal& proposal, double lifetime_s) const {
  // Equation 1: S x D - M, with S in $/h, D in s and M in $.
  return proposal.saving_usd_h / 3600 * lifetime_s - proposal.migration_usd;
}

bool EvaPolicy::full_is_better(const std::optional<double>& lifetime_s) const {
  if (params_.choice() != Choice::ensemble) return params_.choice() == Choice::full_only;
  // Without D the savings cannot be weighed against the cost of moving: repair only.
  if (!lifetime_s) return false;
  const double full = gain_usd(full_, *lifetime_s);
  const double partial = gain_usd(partial_, *lifetime_s);
  if (params_.artifact) return to_cents(full) > to_cents(partial);
  return full > partial + kMoneyEpsilon_usd;
}

/// The choice would not change at any later time. Choosing Full raises p; while D is not known it
/// grows with the time, and with it what the layout that saves more is worth.
bool EvaPolicy::stays_with(bool full, const LifetimeEstimator::Estimate& estimate) const {
  if (params_.choice() != Choice::ensemble) return true;
  if (full) return false;
  if (!estimate.lifetime_s || (estimate.probability > 0 && estimate.rate_per_s)) return true;
  return full_.saving_usd_h <= partial_.saving_usd_h &&
         gain_usd(full_, *estimate.lifetime_s) <= gain_usd(partial_, *estimate.lifetime_s);
}

Plan EvaPolicy::adopt(bool full, bool looked_at_all, const LifetimeEstimator::Estimate& estimate) {
  const CauseCode cause =
      full ? CauseCode::full_reconfiguration : CauseCode::partial_reconfiguration;
  Plan plan = plan_of((full ? full_ : partial_).layout, input_, model(), kinds_, cause);
  plan.note.choice = full ? kFull : kPartial;
  auto& figures = plan.note.figures;
  if (looked_at_all) {
    figures.emplace_back("S_F", full_.saving_usd_h);
    figures.emplace_back("M_F", full_.migration_usd);
  }
  if (params_.choice() != Choice::full_only) {
    figures.emplace_back("S_P", partial_.saving_usd_h);
    figures.emplace_back("M_P", partial_.migration_usd);
  }
  if (estimate.lifetime_s) figures.emplace_back("D", *estimate.lifetime_s);
  if (estimate.rate_per_s) figures.emplace_back("lambda", *estimate.rate_per_s);
  figures.emplace_back("p", estimate.probability);
  return plan;
}

/// With nothing to reconfigure only instances without tasks are given back.
Plan EvaPolicy::keep_everything() {
  Layout& layout = partial_.layout;
  layout.reset(input_.tasks().size());
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    if (input_.instances()[i].residents > 0) layout.add_present(input_, i);
  }
  return plan_of(layout, input_, model(), kinds_, CauseCode::partial_reconfiguration);
}

Plan EvaPolicy::use_fleet(const ClusterView& view) {
  std::vector<Refuse> refusals;
  Layout& layout = partial_.layout;
  fleet_.run(input_, view.state, model(), kinds_, layout, refusals);
  Plan plan = plan_of(layout, input_, model(), kinds_, CauseCode::partial_reconfiguration);
  plan.refusals.insert(plan.refusals.end(), refusals.begin(), refusals.end());
  plan.note.choice = kFleet;
  return plan;
}

/// A layout of everything looks at each task on each type, a repair only where something is amiss.
/// Where the work is bounded, a full one that would go over the bound is not made: the repair is a
/// whole plan too.
bool EvaPolicy::affords_full(const ClusterView& view, Budget& budget) const {
  const std::uint64_t steps = std::uint64_t{input_.tasks().size()} * view.catalog.size();
  const bool affords = budget.allowed() == 0 || steps <= budget.allowed() - budget.used();
  if (affords) budget.spend(steps);
  return affords;
}

Plan EvaPolicy::decide(const ClusterView& view, Rng&, Budget& budget) {
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  // An offering that backs off is asked for again later, which makes another layout the best one.
  const bool waits_for_offer = params_.cheapest_types && view.any_rests();
  // A round need not be held again while nothing has changed that this decision looked at.
  settled_ = !learned_ && (!view.rents() || (!input_.changes_with_time() && !waits_for_offer));
  if (!view.rents()) return use_fleet(view);
  if (!input_.any_movable()) return keep_everything();
  const LifetimeEstimator::Estimate estimate =
      params_.artifact ? lifetime_.estimate_of_artifact(view.now) : lifetime_.estimate(view.now);
  paper_.expect(estimate.lifetime_s.value_or(0));
  const bool only_full = params_.choice() == Choice::full_only;
  const bool looks_at_all =
      only_full || (params_.choice() == Choice::ensemble && affords_full(view, budget));
  if (looks_at_all) propose(full_, true, view);
  if (!only_full) propose(partial_, false, view);
  const bool full = looks_at_all && full_is_better(estimate.lifetime_s);
  // With more to spend it might choose otherwise.
  const bool bounded = !looks_at_all && params_.choice() == Choice::ensemble;
  settled_ = settled_ && !bounded && stays_with(full, estimate);
  return adopt(full, looks_at_all, estimate);
}

}  // namespace muster::eva
