#include "schedulers/muster/rented_policy.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "schedulers/muster/plan_groups.hpp"
#include "schedulers/muster/round.hpp"
#include "schedulers/muster/timed_round.hpp"
#include "schedulers/packing/priority_order.hpp"

// Puts the round together: gathers what there is, has Round search, and turns its layout into a
// plan whose note carries back what the memory has to know (see kAgain). decide() itself leaves
// nothing behind that a policy which only followed the events would not have.

namespace muster::own {
namespace {

constexpr const char* kRepartition = "repartition";
constexpr const char* kTimed = "timed tasks";

/// Adds another plan, whose launches and groups get numbers behind those that are there.
void append(Plan& plan, Plan&& more) {
  const auto launches = static_cast<std::uint32_t>(plan.launches.size());
  std::uint32_t groups = 0;
  for (const Launch& launch : plan.launches) groups = std::max(groups, launch.group);
  for (const Place& place : plan.places) groups = std::max(groups, place.group);
  for (const Stop& stop : plan.stops) groups = std::max(groups, stop.group);
  for (const Release& release : plan.releases) groups = std::max(groups, release.group);
  const auto regroup = [&](std::uint32_t& group) {
    if (group > 0) group += groups;
  };
  for (Launch& launch : more.launches) {
    regroup(launch.group);
    plan.launches.push_back(std::move(launch));
  }
  for (Place& place : more.places) {
    regroup(place.group);
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value += launches;
    plan.places.push_back(place);
  }
  for (Release& release : more.releases) {
    regroup(release.group);
    plan.releases.push_back(release);
  }
  plan.refusals.insert(plan.refusals.end(), more.refusals.begin(), more.refusals.end());
}

}  // namespace

RentedPolicy::RentedPolicy(const Catalog& catalog, const MusterParams& params)
    : params_(params), prices_(catalog, MarketChoice::any), rates_(params.default_pair) {}

Cadence RentedPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager || params_.at_once,
          .on_price = params_.eager,
          .wants_throughput = true};
}

void RentedPolicy::observe(const Event& event, const ClusterView& view) {
  memory_.observe(event, view);
  record_.observe(event, view, params_.run_times);
  if (params_.at_once) idle_.observe(event, view.state);
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round != nullptr && round->note.choice != kAtOnce) last_round_ = period_of(view.now);
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    intake_.record(*measured, view.state, rates_);
    forgetting_.look(rates_.beyond_table(), [&] {
      const ClassTable& classes = view.state.classes();
      rates_.keep([&](ClassId id) { return classes.name(id) != nullptr; });
      return rates_.beyond_table();
    });
  }
}

Plan RentedPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  if (params_.at_once && !params_.eager && last_round_ == period_of(view.now)) {
    Plan plan;
    plan.releases = idle_.releases(view);
    plan.note.choice = kAtOnce;
    changes_with_time_ = true;
    return plan;
  }
  // Whether a round has to be held again comes back by its note: see Memory.
  if (memory_.is_quiet() && view.state.pending().empty()) {
    changes_with_time_ = false;
    return {};
  }
  prices_.learn(view.state);
  const TimedJobs split = find_timed_jobs(view, params_, prices_);
  changes_with_time_ = view.any_rests();
  Plan plan;
  if (!split.any() || split.others) plan = hold_round(split, view, rng, budget);
  if (split.any()) hold_timed_round(split, view, budget, plan);
  order_by_priority(view, plan);
  return plan;
}

/// For all but timed jobs.
Plan RentedPolicy::hold_round(const TimedJobs& split, const ClusterView& view, Rng& rng,
                              Budget& budget) {
  input_.gather({view, prices_.types().markets(), split.other_jobs, split.other_instances}, prices_,
                kinds_);
  changes_with_time_ |= input_.changes_with_time();
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
  plan.note.choice = kRepartition;
  plan.note.figures.emplace_back("value_usd_h", round.value_usd_h());
  plan.note.figures.emplace_back("greedy_usd_h", round.greedy_value_usd_h());
  plan.note.figures.emplace_back("repartitions", round.repartitions());
  plan.note.figures.emplace_back("steps", static_cast<double>(round.steps()));
  if (again > 0) plan.note.figures.emplace_back(kAgain, again);
  return plan;
}

/// Its expected end moves nearer with time: the round is held again in any case.
void RentedPolicy::hold_timed_round(const TimedJobs& split, const ClusterView& view, Budget& budget,
                                    Plan& plan) {
  timed_input_.gather({view, prices_.types().markets(), split.jobs, split.instances}, prices_,
                      kinds_);
  const TimedParts parts{params_, view, timed_input_, prices_, record_, !memory_.was_refused()};
  TimedRound round(parts, budget);
  append(plan, round.run());
  changes_with_time_ = true;
  if (plan.note.choice.empty()) plan.note.choice = kTimed;
  auto& figures = plan.note.figures;
  const auto again = std::find_if(figures.begin(), figures.end(),
                                  [](const auto& figure) { return figure.first == kAgain; });
  if (again == figures.end()) figures.emplace_back(kAgain, kLater);
  figures.emplace_back("timed_packed", round.packed());
  figures.emplace_back("timed_moved", round.moved());
}

bool RentedPolicy::settled(const ClusterView& view) const {
  return view.state.pending().empty() && !changes_with_time_;
}

}  // namespace muster::own
