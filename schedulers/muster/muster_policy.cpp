#include "schedulers/muster/muster_policy.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "schedulers/muster/plan_groups.hpp"
#include "schedulers/muster/round.hpp"

namespace muster::own {
namespace {

constexpr const char* kRepartition = "repartition";
constexpr const char* kFleet = "fleet";

}  // namespace

MusterPolicy::MusterPolicy(const Catalog& catalog, Market market, const MusterParams& params)
    : params_(params), prices_(catalog, market), rates_(params.default_pair) {}

Cadence MusterPolicy::cadence() const {
  return {.period = params_.period,
          .on_arrival = params_.eager,
          .on_capacity = params_.eager,
          .on_price = params_.eager,
          .wants_throughput = true};
}

void MusterPolicy::observe(const Event& event, const ClusterView& view) {
  memory_.observe(event, view);
  if (const auto* measured = std::get_if<Measured>(&event.body)) {
    intake_.record(*measured, view.state, rates_);
  }
}

Plan MusterPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  changes_with_time_ = false;
  if (memory_.is_quiet() && view.state.pending().empty()) return {};
  input_.gather({view, prices_.types().market()}, prices_, kinds_);
  changes_with_time_ = input_.changes_with_time() || view.any_rests();
  if (!view.rents()) return use_fleet(view);
  Round round({params_, view, input_, prices_, rates_, memory_, work_, kinds_}, rng, budget);
  round.run();
  const Layout layout = round.layout();
  Plan plan = plan_of(layout, input_, {.prices = prices_}, kinds_, CauseCode::packed);
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    if (task.home == kUnassigned || layout.host_of[i] != kUnassigned) continue;
    plan.stops.push_back({task.id, {CauseCode::evicted, 0}});
  }
  // A refusal that stands already would be an event without news in every round.
  const Refusal waits{RefusalKind::not_now, RefusalCode::better_place, {}, 0, 0};
  for (const std::uint32_t i : round.waiting()) {
    const RoundInput::Task& task = input_.tasks()[i];
    if (task.home != kUnassigned || view.state.task(task.slot).reason == waits) continue;
    plan.refusals.push_back({task.id, waits});
  }
  group_moves(input_, plan);
  plan.note.choice = kRepartition;
  plan.note.figures.emplace_back("value_usd_h", round.value_usd_h());
  plan.note.figures.emplace_back("greedy_usd_h", round.greedy_value_usd_h());
  plan.note.figures.emplace_back("repartitions", round.repartitions());
  plan.note.figures.emplace_back("steps", static_cast<double>(round.steps()));
  return plan;
}

/// On given instances nothing can be saved, and what counts is when jobs end: the one with the
/// fewest tasks that have not started goes first, since it is the soonest done, short jobs before
/// long ones. Each task takes the first instance with room; a gang takes room for all of it or
/// none.
Plan MusterPolicy::use_fleet(const ClusterView& view) {
  Plan plan;
  plan.refusals = input_.refusals();
  plan.note.choice = kFleet;
  std::vector<Resources> used(input_.instances().size());
  for (const RoundInput::Task& task : input_.tasks()) {
    if (task.home == kUnassigned) continue;
    const ShapeId shape = view.state.task(task.slot).shape;
    used[task.home] += prices_.on(shape, input_.instances()[task.home].type).amount;
  }
  std::vector<std::vector<std::uint32_t>> waiting(input_.jobs().size());
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    if (task.home == kUnassigned && task.movable) waiting[task.job].push_back(i);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t job = 0; job < waiting.size(); ++job) {
    if (!waiting[job].empty()) order.push_back(job);
  }
  const auto rank = [&](std::uint32_t job) {
    const JobRow& row = view.state.job(input_.jobs()[job].slot);
    const bool is_long = row.job.prediction.length == JobLength::long_run;
    return std::tuple(-input_.jobs()[job].priority, is_long, row.pending);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  // Instances only fill up: one that is too full for a shape stays so for the rest of the round.
  std::map<std::uint32_t, std::uint32_t> first_host;
  for (std::uint32_t job : order) {
    const std::size_t places = plan.places.size();
    // What the job changed, oldest first, as it was: a gang without room for all gives all back.
    std::vector<std::pair<std::uint32_t, Resources>> used_before;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> first_before;
    bool all = true;
    for (std::uint32_t i : waiting[job]) {
      const ShapeId shape = view.state.task(input_.tasks()[i].slot).shape;
      std::uint32_t& host = first_host[shape.value];
      first_before.emplace_back(shape.value, host);
      for (; host < used.size(); ++host) {
        const TypeId type = input_.instances()[host].type;
        const ShapeOnType& on = prices_.on(shape, type);
        if (on.fits && (used[host] + on.amount).fits_in(prices_.types()[type].capacity)) break;
      }
      if (host == used.size()) {
        all = false;
        break;
      }
      used_before.emplace_back(host, used[host]);
      used[host] += prices_.on(shape, input_.instances()[host].type).amount;
      plan.places.push_back(
          {input_.tasks()[i].id, input_.instances()[host].id, {CauseCode::best_fit, 0}});
    }
    if (all || !input_.jobs()[job].gang) continue;
    plan.places.resize(places);
    std::for_each(used_before.rbegin(), used_before.rend(),
                  [&](const auto& each) { used[each.first] = each.second; });
    std::for_each(first_before.rbegin(), first_before.rend(),
                  [&](const auto& each) { first_host[each.first] = each.second; });
  }
  return plan;
}

bool MusterPolicy::settled(const ClusterView& view) const {
  return view.state.pending().empty() && !changes_with_time_;
}

}  // namespace muster::own
