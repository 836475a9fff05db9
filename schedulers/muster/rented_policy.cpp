#include "schedulers/muster/rented_policy.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "schedulers/muster/plan_groups.hpp"
#include "schedulers/muster/round.hpp"
#include "schedulers/packing/priority_order.hpp"

// Puts the round together: gathers what there is, has Round search, and turns its layout into a
// plan whose note carries back what the memory has to know (see kAgain). decide() itself leaves
// nothing behind that a policy which only followed the events would not have.

namespace muster::own {
namespace {

constexpr const char* kRepartition = "repartition";

}  // namespace

RentedPolicy::RentedPolicy(const Catalog& catalog, const MusterParams& params)
    : params_(params), prices_(catalog, MarketChoice::any), rates_(params.default_pair) {}

Cadence RentedPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .on_price = params_.eager,
          .wants_throughput = true};
}

void RentedPolicy::observe(const Event& event, const ClusterView& view) {
  memory_.observe(event, view);
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    intake_.record(*measured, view.state, rates_);
  }
}

Plan RentedPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  // Whether a round has to be held again comes back by its note: see Memory.
  if (memory_.is_quiet() && view.state.pending().empty()) {
    changes_with_time_ = false;
    return {};
  }
  input_.gather({view, prices_.types().markets()}, prices_, kinds_);
  changes_with_time_ = input_.changes_with_time() || view.any_rests();
  Round round({params_, view, input_, prices_, rates_, memory_, work_, kinds_}, rng, budget);
  round.run();
  const bool unfinished = round.is_unfinished();
  const double again = unfinished ? kUnfinished : changes_with_time_ ? kLater : 0;
  changes_with_time_ |= unfinished;
  const Layout layout = round.layout();
  Plan plan = plan_of(layout, input_, {.prices = prices_}, kinds_, CauseCode::packed);
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    if (task.home == kUnassigned || layout.host_of[i] != kUnassigned) continue;
    plan.stops.push_back({task.id, {CauseCode::evicted, 0}});
  }
  const Refusal waits{RefusalKind::not_now, RefusalCode::better_place, {}, 0, 0};
  const Refusal lacks{RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0};
  for (const std::uint32_t i : round.waiting()) {
    const RoundInput::Task& task = input_.tasks()[i];
    const Refusal& why = round.is_on_offer(i) ? waits : lacks;
    // A refusal that stands already would be an event without news in every round.
    if (task.home != kUnassigned || view.state.task(task.slot).reason == why) continue;
    plan.refusals.push_back({task.id, why});
  }
  group_moves(input_, plan);
  order_by_priority(view.state, plan);
  plan.note.choice = kRepartition;
  plan.note.figures.emplace_back("value_usd_h", round.value_usd_h());
  plan.note.figures.emplace_back("greedy_usd_h", round.greedy_value_usd_h());
  plan.note.figures.emplace_back("repartitions", round.repartitions());
  plan.note.figures.emplace_back("steps", static_cast<double>(round.steps()));
  if (again > 0) plan.note.figures.emplace_back(kAgain, again);
  return plan;
}

bool RentedPolicy::settled(const ClusterView& view) const {
  return view.state.pending().empty() && !changes_with_time_;
}

}  // namespace muster::own
