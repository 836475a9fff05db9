#include "schedulers/market_split.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/whole_job.hpp"
#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/rules.hpp"

// Two policies of one kind, each blind to the other's market. The second one costs nothing until a
// job wants spot instances; after that both see every event, so that each is a fold over the whole
// log.

namespace muster {
namespace {

using nlohmann::json;

/// Before what the spot part says, in the note of both.
constexpr std::string_view kSpotChoice = "; spot: ";
constexpr std::string_view kSpotFigure = "spot ";

/// Moves the groups of the plan behind those that end at `first`.
void renumber_groups(Plan& plan, std::uint32_t first) {
  const auto move = [first](auto& parts) {
    for (auto& part : parts) part.group += part.group == 0 ? 0 : first;
  };
  move(plan.launches);
  move(plan.places);
  move(plan.stops);
  move(plan.releases);
}

/// Adds the plan for the spot market; its launches and groups come after those that are there.
void append(Plan&& spot, Plan& plan) {
  renumber_groups(spot, new_group(plan) - 1);
  // Launches are named by their place in the plan: those of the second part move up.
  const auto before = static_cast<std::uint32_t>(plan.launches.size());
  plan.launches.insert(plan.launches.end(), spot.launches.begin(), spot.launches.end());
  for (Place& place : spot.places) {
    if (auto* launch = std::get_if<LaunchIndex>(&place.to)) launch->value += before;
    plan.places.push_back(place);
  }
  plan.stops.insert(plan.stops.end(), spot.stops.begin(), spot.stops.end());
  plan.releases.insert(plan.releases.end(), spot.releases.begin(), spot.releases.end());
  plan.resizes.insert(plan.resizes.end(), spot.resizes.begin(), spot.resizes.end());
  plan.refusals.insert(plan.refusals.end(), spot.refusals.begin(), spot.refusals.end());
  if (!spot.note.choice.empty()) plan.note.choice += std::string(kSpotChoice) + spot.note.choice;
  for (auto& [name, value] : spot.note.figures) {
    plan.note.figures.emplace_back(std::string(kSpotFigure) + name, value);
  }
}

/// There are instances, and all are on the spot market.
bool has_only_spot(const ClusterState& state) {
  bool any = false;
  for (const InstanceRow& row : state.instances()) {
    if (row.market == Market::on_demand) return false;
    any = true;
  }
  return any;
}

/// That of the first of the job's tasks that has a place.
std::optional<Market> market_of(const JobRow& job, const ClusterState& state) {
  for (const Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    const Slot place = task.target != kNoSlot ? task.target : task.at;
    if (place != kNoSlot) return state.instance(place).market;
  }
  return std::nullopt;
}

/// The note's parts of the on-demand and of the spot policy.
std::pair<RoundNote, RoundNote> parts_of(const RoundNote& note) {
  std::pair<RoundNote, RoundNote> parts;
  const std::size_t at = note.choice.find(kSpotChoice);
  parts.first.choice = note.choice.substr(0, at);
  if (at != std::string::npos) parts.second.choice = note.choice.substr(at + kSpotChoice.size());
  for (const auto& [name, value] : note.figures) {
    const bool spot = name.starts_with(kSpotFigure);
    auto& figures = (spot ? parts.second : parts.first).figures;
    figures.emplace_back(spot ? name.substr(kSpotFigure.size()) : name, value);
  }
  return parts;
}

}  // namespace

MarketSplit::MarketSplit(const Make& make, SpotUse use)
    : on_demand_(make(Market::on_demand)), spot_(make(Market::spot)), use_(use) {}

MarketSplit::MarketSplit(const MarketSplit& other)
    // A copy has memories of its own: the planner's decides while the other goes on.
    : Policy(other),
      on_demand_(other.on_demand_->clone()),
      spot_(other.spot_->clone()),
      use_(other.use_),
      prices_(other.prices_),
      spot_wanted_(other.spot_wanted_),
      looked_(other.looked_) {}

bool MarketSplit::wants_spot(const Job& job) const {
  const bool allowed = use_ == SpotUse::allowed && job.markets == MarketChoice::any;
  return allowed || job.markets == MarketChoice::spot;
}

/// Of jobs that take any market, by slot, those that run on spot instances. A function of the state
/// alone, so that nothing of it has to be remembered. O(jobs), and the tasks of those without a
/// place.
std::vector<char> MarketSplit::choose_markets(const ClusterView& view) {
  std::vector<char> on_spot;
  if (use_ == SpotUse::asked && view.rents()) return on_spot;
  // Given instances cost no more on one market than on the other. Where all of it is on spot, jobs
  // that take any market have nothing else.
  const bool only_spot = !view.rents() && has_only_spot(view.state);
  if (view.rents()) {
    if (!prices_) prices_.emplace(view.catalog, MarketChoice::any);
    prices_->learn(view.state);
  }
  for (const JobRow& job : view.state.jobs()) {
    if (job.job.markets != MarketChoice::any) continue;
    // One policy has all of a job: its tasks are not divided between markets.
    const std::optional<Market> has = market_of(job, view.state);
    const bool free_choice =
        view.rents() ? !has && is_cheaper_on_spot(job, view) : only_spot && !has;
    // One that has lost too much there goes there no more, once it has left.
    const bool barred = job.confined > 0 && has != Market::spot;
    if (barred || (has != Market::spot && !free_choice)) continue;
    if (job.slot >= on_spot.size()) on_spot.resize(job.slot + std::size_t{1}, 0);
    on_spot[job.slot] = 1;
  }
  return on_spot;
}

bool MarketSplit::is_cheaper_on_spot(const JobRow& job, const ClusterView& view) const {
  const ShapeId shape = view.state.task(job.tasks.front()).shape;
  const ReservationPrice& spot = prices_->of(shape, MarketChoice::spot);
  const ReservationPrice& on_demand = prices_->of(shape, MarketChoice::on_demand);
  if (!spot.fits() || view.rests(spot.type, Market::spot)) return false;
  return !on_demand.fits() || spot.usd_per_iteration < on_demand.usd_per_iteration;
}

/// Instances from before a policy's first event, as after another policy, count too.
void MarketSplit::look_once(const ClusterView& view) {
  if (std::exchange(looked_, true)) return;
  for (const JobRow& job : view.state.jobs()) spot_wanted_ |= wants_spot(job.job);
  for (const InstanceRow& row : view.state.instances()) spot_wanted_ |= row.market == Market::spot;
}

void MarketSplit::observe(const Event& event, const ClusterView& view) {
  look_once(view);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    spot_wanted_ |= wants_spot(accepted->job);
  }
  // Only a fleet has spot instances before a job wants one.
  if (!spot_wanted_ && !view.rents() && std::holds_alternative<LaunchRequested>(event.body)) {
    spot_wanted_ = has_only_spot(view.state);
  }
  // The note is the on-demand policy's own as long as there is no other.
  if (!spot_wanted_) return on_demand_->observe(event, view);
  if (std::holds_alternative<RoundDecided>(event.body)) return observe_round(event, view);
  on_demand_->observe(event, view);
  spot_->observe(event, view);
}

/// Each gets its own part of the note back.
void MarketSplit::observe_round(const Event& event, const ClusterView& view) {
  const auto& round = std::get<RoundDecided>(event.body);
  auto [on_demand, spot] = parts_of(round.note);
  on_demand_->observe(
      {event.at, RoundDecided{round.round, std::move(on_demand), round.quiet, round.settled},
       event.cell},
      view);
  spot_->observe({event.at, RoundDecided{round.round, std::move(spot), round.quiet, round.settled},
                  event.cell},
                 view);
}

Plan MarketSplit::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  look_once(view);
  const std::vector<char> on_spot = choose_markets(view);
  ClusterView divided = view;
  divided.on_spot = on_spot;
  Plan plan = on_demand_->decide(divided, rng, budget);
  for (const Launch& launch : plan.launches) {
    if (const auto price = view.price(launch.type, launch.market)) divided.left.take(*price);
  }
  if (spot_wanted_) append(spot_->decide(divided, rng, budget), plan);
  // Two lists one after the other are not in the order of priorities.
  order_by_priority(view, plan);
  tell_who_is_kept_apart(view, plan);
  return plan;
}

std::string MarketSplit::save_state(const ClusterState& state) const {
  json both{{"on_demand", on_demand_->save_state(state)}};
  if (spot_wanted_) both["spot"] = spot_->save_state(state);
  return both.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool MarketSplit::load_state(std::string_view text, const ClusterView& view) {
  const json both = json::parse(text, nullptr, false);
  if (both.is_object() && both.contains("on_demand")) {
    spot_wanted_ = both.contains("spot");
    looked_ = true;
    if (!both["on_demand"].is_string() || (spot_wanted_ && !both["spot"].is_string())) return false;
    if (!on_demand_->load_state(both["on_demand"].get<std::string>(), view)) return false;
    return !spot_wanted_ || spot_->load_state(both["spot"].get<std::string>(), view);
  }
  // Earlier versions kept what one of the two remembered, for both.
  look_once(view);
  return on_demand_->load_state(text, view) && spot_->load_state(text, view);
}

}  // namespace muster
