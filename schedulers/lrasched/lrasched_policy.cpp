#include "schedulers/lrasched/lrasched_policy.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "schedulers/lrasched/service_clearing.hpp"
#include "schedulers/lrasched/service_input.hpp"
#include "schedulers/lrasched/service_plan.hpp"
#include "schedulers/lrasched/service_round.hpp"
#include "schedulers/packing/priority_order.hpp"

namespace muster::lrasched {
namespace {

using nlohmann::json;

/// Before what the part for services says, in the note of both.
constexpr std::string_view kChoice = "; services";
constexpr std::string_view kFigure = "services_";

/// The cluster as the policy for batch sees it.
ClusterView with_fixed_services(const ClusterView& view) {
  ClusterView fixed = view;
  fixed.services_are_fixed = true;
  return fixed;
}

/// The note without what the part for services has added to it.
RoundNote batch_note(const RoundNote& note) {
  RoundNote of_batch;
  of_batch.choice = note.choice.substr(0, note.choice.find(kChoice));
  for (const auto& figure : note.figures) {
    if (!figure.first.starts_with(kFigure)) of_batch.figures.push_back(figure);
  }
  return of_batch;
}

/// Instances that the plan puts something on.
std::vector<InstanceId> targets_of(const Plan& plan) {
  std::set<InstanceId> ids;
  for (const Place& place : plan.places) {
    if (const auto* id = std::get_if<InstanceId>(&place.to)) ids.insert(*id);
  }
  return {ids.begin(), ids.end()};
}

/// Those, and the instances that its tasks leave.
std::vector<InstanceId> touched_by(const Plan& plan, const ClusterState& state) {
  std::vector<InstanceId> ids = targets_of(plan);
  for (const Place& place : plan.places) {
    const Slot at = state.find(place.task)->at;
    if (at != kNoSlot) ids.push_back(state.instance(at).id);
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

LimitRules limit_rules(const LraParams& params) {
  return {params.learns_limits,   params.limit > 0 ? params.limit : params.goal_limit,
          params.limit,           params.sizes.learner,
          params.sizes.probe_for, params.sizes.changes_a_day};
}

template <class Parts>
void add(std::vector<Parts>& to, const std::vector<Parts>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Adds the plan for services to that for batch, whose numbers of groups and launches stay.
void append(Plan&& services, Plan& plan) {
  std::uint32_t groups = 0;
  const auto look = [&](const auto& parts) {
    for (const auto& part : parts) groups = std::max(groups, part.group);
  };
  look(plan.launches);
  look(plan.places);
  look(plan.stops);
  look(plan.releases);
  const auto launches = static_cast<std::uint32_t>(plan.launches.size());
  for (Launch& launch : services.launches) {
    if (launch.group > 0) launch.group += groups;
  }
  for (Release& release : services.releases) {
    if (release.group > 0) release.group += groups;
  }
  for (Place& place : services.places) {
    if (place.group > 0) place.group += groups;
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value += launches;
  }
  add(plan.launches, services.launches);
  add(plan.places, services.places);
  add(plan.refusals, services.refusals);
  add(plan.releases, services.releases);
  if (services.note.figures.empty()) return;
  plan.note.choice += kChoice;
  add(plan.note.figures, services.note.figures);
}

}  // namespace

LraPolicy::LraPolicy(const Catalog& catalog, const LraParams& params,
                     std::shared_ptr<const IntegerSolver> solver)
    : params_(params),
      solver_(std::move(solver)),
      prices_(catalog, MarketChoice::any),
      search_(params.sizes),
      limit_search_(limit_rules(params)),
      batch_(catalog, own::with_strict(params.batch)) {}

void LraPolicy::observe(const Event& event, const ClusterView& view) {
  services_.observe(event, view);
  books_.sizes.observe(event, view);
  books_.limits.observe(event, view);
  const ClusterView fixed = with_fixed_services(view);
  const auto* round = std::get_if<RoundDecided>(&event.body);
  if (round == nullptr || round->note.choice.find(kChoice) == std::string::npos) {
    return batch_.observe(event, fixed);
  }
  RoundDecided of_batch = *round;
  of_batch.note = batch_note(round->note);
  batch_.observe({event.at, std::move(of_batch), event.cell}, fixed);
}

/// The generator is batch's: services have a copy, so that batch decides as it would without them.
Plan LraPolicy::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  const std::vector<SizeStep> steps = search_.steps(books_.sizes, view);
  std::optional<Books> stepped;
  if (!steps.empty()) stepped = books_;
  for (const SizeStep& step : steps) stepped->sizes.take(step, view.now);
  const std::vector<LimitStep> limits =
      limit_search_.steps(books_.limits, stepped ? stepped->sizes : books_.sizes, view);
  if (!limits.empty() && !stepped) stepped = books_;
  for (const LimitStep& step : limits) stepped->limits.take(step, view.now);
  const Books& books = stepped ? *stepped : books_;
  Plan services;
  if (any_waits(view, books)) services = place_services(view, books, rng, budget);
  // A service that waits for money may be helped by it.
  if (services.places.empty() && params_.clears && view.rents()) {
    add_clearing(view, books, services, {rng, budget});
  }
  books.sizes.write(steps, services.note);
  LimitBook::write(limits, services.note);
  ClusterView fixed = with_fixed_services(view);
  const std::vector<InstanceId> targets = targets_of(services);
  const std::vector<InstanceId> touched = touched_by(services, view.state);
  fixed.given_away = touched;
  for (const Launch& launch : services.launches) {
    fixed.left.take(price_of(view, launch));
  }
  Plan plan = batch_.decide(fixed, rng, budget);
  if (services.note.figures.empty()) return plan;
  // Services join an instance that batch sees as empty.
  std::erase_if(plan.releases, [&](const Release& release) {
    return std::binary_search(targets.begin(), targets.end(), release.instance);
  });
  append(std::move(services), plan);
  order_by_priority(view, plan);
  return plan;
}

bool LraPolicy::any_waits(const ClusterView& view, const Books& books) const {
  return std::ranges::any_of(services_.services(), [&](JobId id) {
    return wants_places(view, *view.state.find(id), books.sizes, books.limits);
  });
}

Plan LraPolicy::place_services(const ClusterView& view, const Books& books, Rng rng,
                               Budget& budget) {
  prices_.learn(view.state);
  const ServiceParts parts{params_, view, prices_, services_, books.sizes, books.limits};
  ServiceInput input = gather_services(parts);
  Plan plan;
  if (input.waiting.empty()) {
    plan.refusals = std::move(input.refusals);
  } else {
    budget.spend(input.waiting.size() * input.nodes.size() / kLooksOfStep);
    ServiceRound round(params_, input, solver_.get());
    const ServiceChoice choice = round.run(view.left, view.rents(), rng);
    plan = plan_of_services(parts, input, choice);
  }
  plan.note.figures.emplace_back("services_placed", static_cast<double>(plan.places.size()));
  plan.note.figures.emplace_back("services_rented", static_cast<double>(plan.launches.size()));
  return plan;
}

void LraPolicy::add_clearing(const ClusterView& view, const Books& books, Plan& to,
                             const Means& means) {
  if (services_.services().empty() || view.turn) return;
  prices_.learn(view.state);
  Rng rng = means.rng;
  const ServiceParts parts{params_, view, prices_, services_, books.sizes, books.limits};
  Plan plan = plan_of_clearing(parts, rng, means.budget);
  if (plan.places.empty()) return;
  to.note.figures.emplace_back("services_moved", static_cast<double>(plan.places.size()));
  to.launches = std::move(plan.launches);
  to.places = std::move(plan.places);
  to.releases = std::move(plan.releases);
}

bool LraPolicy::settled(const ClusterView& view) const {
  const auto may_clear = [&] { return params_.clears && view.rents() && may_get_poor(view); };
  return batch_.settled(with_fixed_services(view)) && !any_waits(view, books_) &&
         !search_.may_come(books_.sizes, view) && !limit_search_.may_come(books_.limits, view) &&
         !may_clear();
}

std::string LraPolicy::save_state(const ClusterState& state) const {
  const json all{{"batch", batch_.save_state(state)},
                 {"services", services_.save()},
                 {"sizes", books_.sizes.save()},
                 {"limits", books_.limits.save()}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool LraPolicy::load_state(std::string_view text, const ClusterView& view) {
  const json both = json::parse(text, nullptr, false);
  const auto words = [&](const char* name) {
    return both.is_object() && both.contains(name) && both[name].is_string()
               ? both[name].get<std::string>()
               : std::string();
  };
  // Earlier versions chose no sizes, or learnt no limits.
  const auto or_nothing = [&](const char* name) {
    std::string saved = words(name);
    return saved.empty() ? std::string("[]") : saved;
  };
  return services_.load(words("services"), view) && books_.sizes.load(or_nothing("sizes"), view) &&
         books_.limits.load(or_nothing("limits"), view) &&
         batch_.load_state(words("batch"), with_fixed_services(view));
}

}  // namespace muster::lrasched
