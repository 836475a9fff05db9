#include "schedulers/baselines/synergy_round.hpp"

#include <algorithm>
#include <variant>

#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// A round looks at every instance once and then costs the logarithm of their number for each task
// that waits (JoinIndex). Instances, tasks that wait and looks at groups of instances are steps of
// the budget. Where it is spent the other tasks go to any given instance with room, or to new ones.

namespace muster {

/// The threshold is the artifact's: together all tasks are worth the instance. By the paper's
/// reason for TNRP no task joins either that slows the others by more than it is worth.
JoinIndex::Rules SynergyRound::rules_of(bool artifact) {
  if (artifact) return {.least_ratio = 1, .may_fall = true};
  return {.least_ratio = 1 - kWorthEpsilon_usd_h, .may_fall = false};
}

SynergyRound::SynergyRound(const Parts& parts, Budget& budget)
    : p_(parts),
      budget_(budget),
      given_{{parts.model, parts.kinds, {}}},
      rented_{{parts.model, parts.kinds, rules_of(parts.artifact)}} {}

Plan SynergyRound::run() {
  plan_.refusals = p_.input.refusals();
  list_waiting();
  if (!waiting_.empty()) {
    add_instances();
    place_all();
    note();
  }
  use_cheapest_types(p_.view, p_.model.prices.mask(), plan_);
  if (p_.view.rents()) release_empty();
  return std::move(plan_);
}

void SynergyRound::list_waiting() {
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const RoundInput::Task& task = p_.input.tasks()[i];
    if (task.home != kUnassigned) continue;
    if (p_.view.state.task(task.slot).phase == TaskPhase::pending) waiting_.push_back(i);
  }
}

void SynergyRound::add_instances() {
  std::vector<std::uint32_t> kinds;
  kinds.reserve(waiting_.size());
  for (std::uint32_t task : waiting_) kinds.push_back(kind_of(task));
  given_.index.expect(kinds);
  rented_.index.expect(kinds);
  budget_.spend(waiting_.size() + p_.input.instances().size());
  std::vector<std::pair<Side*, std::uint32_t>> host_of(p_.input.instances().size());
  for (std::size_t i = 0; i < host_of.size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    const bool given = !p_.view.rents() || instance.owned;
    if (instance.closed || (!p_.view.rents() && !instance.ready)) continue;
    // The artifact never has anything join an instance that has come empty.
    if (!given && p_.artifact && instance.residents == 0) continue;
    kinds.clear();
    for (std::uint32_t task : p_.input.residents(instance)) kinds.push_back(kind_of(task));
    const InstanceRow& row = p_.view.state.instance(instance.slot);
    const Resources free = p_.view.catalog[row.type].capacity - row.committed;
    // Given instances are compared by what they would cost.
    const double price_usd_h =
        given ? p_.model.prices.types().usd_h(instance.type) : instance.price_usd_h;
    Side& side = given ? given_ : rented_;
    host_of[i] = {&side, side.index.add(instance.type, price_usd_h, free, kinds)};
    side.hosts.push_back({instance.id, price_usd_h, instance.residents});
  }
  for (const RoundInput::Peer& peer : p_.input.peers()) {
    const auto& [side, host] = host_of[peer.instance];
    if (side != nullptr) side->peers.add(host, peer.apart);
  }
}

void SynergyRound::place_all() {
  for (std::size_t at = 0; at < waiting_.size();) {
    const std::uint32_t job = p_.input.tasks()[waiting_[at]].job;
    std::size_t end = at + 1;
    // Where nothing is rented the tasks of a gang find room together or not at all.
    const bool gang = !p_.view.rents() && p_.input.jobs()[job].gang;
    while (gang && end < waiting_.size() && p_.input.tasks()[waiting_[end]].job == job) ++end;
    if (gang) {
      place_gang(std::span(waiting_).subspan(at, end - at));
    } else if (!join(waiting_[at], true) && p_.view.rents()) {
      rent(waiting_[at]);
    }
    at = end;
  }
}

void SynergyRound::place_gang(std::span<const std::uint32_t> gang) {
  steps_.clear();
  const bool whole =
      std::all_of(gang.begin(), gang.end(), [&](std::uint32_t task) { return join(task, false); });
  if (whole) return;
  take_back();
  for (std::uint32_t task : gang)
    plan_.refusals.push_back({p_.input.tasks()[task].id, awaits_room()});
}

/// Given instances come first: they cost nothing more. `alone`: nothing is taken back that was
/// placed before it.
bool SynergyRound::join(std::uint32_t task, bool alone) {
  const PlaceAsks asks{p_.kinds[kind_of(task)].shape, p_.model.prices.types().markets()};
  const Apart apart = p_.input.tasks()[task].apart;
  if (!no_room_.has(asks, apart)) {
    ++looks_;
    if (join(given_, task)) return true;
    if (alone && !given_.index.cut_off()) no_room_.add(asks, apart);
  }
  return join(rented_, task);
}

bool SynergyRound::join(Side& side, std::uint32_t task) {
  const Apart apart = p_.input.tasks()[task].apart;
  const auto found = side.index.best(kind_of(task), budget_, side.peers.rule_for(apart));
  if (!found) return false;
  Host& host = side.hosts[found->host];
  steps_.push_back({&side, found->host, side.index.join(found->host, kind_of(task)), apart});
  side.peers.add(found->host, apart);
  const double gain_usd_h = side.index.worth_usd_h(found->host) - host.price_usd_h;
  const CauseCode code = host.tasks++ == 0 ? CauseCode::alone : CauseCode::packed;
  plan_.places.push_back({p_.input.tasks()[task].id, host.at, {code, gain_usd_h}});
  if (const auto* launch = std::get_if<LaunchIndex>(&host.at)) {
    plan_.launches[launch->value].cause = {code, gain_usd_h};
  }
  least_ratio_ = joins_++ == 0 ? found->ratio : std::min(least_ratio_, found->ratio);
  return true;
}

void SynergyRound::take_back() {
  for (; !steps_.empty(); steps_.pop_back()) {
    const Step& step = steps_.back();
    step.side->index.take_back(step.host, step.before);
    step.side->peers.remove(step.host, step.apart);
    --step.side->hosts[step.host].tasks;
    plan_.places.pop_back();
    --joins_;
  }
}

/// The counted machine that is left of which the shape's work is worth most beyond its price.
std::optional<TypeId> SynergyRound::machine_for(ShapeId shape) {
  const PricedTypes& types = p_.model.prices.types();
  std::optional<TypeId> best;
  double most_usd_h = 0;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const TypeId type{i};
    const ShapeOnType& on = p_.model.prices.on(shape, type);
    if (!types.counted(type) || !on.fits || p_.input.rests(type)) continue;
    if (machines_used_[type] >= p_.input.left(type).value_or(0)) continue;
    const double gain_usd_h = on.worth_usd_h - types.usd_h(type);
    if (gain_usd_h <= most_usd_h) continue;
    best = type;
    most_usd_h = gain_usd_h;
  }
  if (best) ++machines_used_[*best];
  return best;
}

void SynergyRound::rent(std::uint32_t task) {
  const TaskKind& kind = p_.kinds[kind_of(task)];
  const PricedTypes& types = p_.model.prices.types();
  const TypeId type = machine_for(kind.shape).value_or(p_.model.prices.of(kind.shape).type);
  const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
  const Cause cause{CauseCode::alone, 0};
  plan_.launches.push_back({type, types.market_of(type), cause});
  plan_.places.push_back({p_.input.tasks()[task].id, launch, cause});
  const Resources free = types[type].capacity - p_.model.prices.on(kind.shape, type).amount;
  const std::uint32_t there = kind_of(task);
  const std::uint32_t host = rented_.index.add(type, types.usd_h(type), free, std::span(&there, 1));
  rented_.peers.add(host, p_.input.tasks()[task].apart);
  rented_.hosts.push_back({launch, types.usd_h(type), 1});
}

void SynergyRound::release_empty() {
  std::vector<InstanceId> used;
  for (const Place& place : plan_.places) {
    if (const auto* id = std::get_if<InstanceId>(&place.to)) used.push_back(*id);
  }
  std::sort(used.begin(), used.end());
  for (const RoundInput::Instance& instance : p_.input.instances()) {
    // The input leaves some tasks out, as those of a job that is to end.
    const bool empty = p_.view.state.instance(instance.slot).planned.empty();
    if (!empty || instance.owned || std::binary_search(used.begin(), used.end(), instance.id)) {
      continue;
    }
    plan_.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
  }
}

/// How many tasks joined others, the least worth for a dollar at which one did, and whether the
/// budget sufficed.
void SynergyRound::note() {
  if (plan_.places.empty() && !cut_off()) return;
  plan_.note.choice = cut_off() ? "best fit, cut off" : "best fit";
  plan_.note.figures.emplace_back("joined", joins_);
  if (joins_ > 0) plan_.note.figures.emplace_back("least ratio", least_ratio_);
}

}  // namespace muster
