#include "schedulers/baselines/supercloud.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "schedulers/packing/rules.hpp"

namespace muster {
namespace {

/// Number of other tasks that are tried beside each task that is kept apart.
constexpr std::size_t kTriedBeside = 16;

}  // namespace

/// Expected remaining time of a task.
Duration Supercloud::left_of(const ClusterView& view, std::uint32_t task) const {
  const TaskRow& row = view.state.task(input_.tasks()[task].slot);
  const Duration expected =
      expected_run(view.state.job(row.job).job, view.state.spec(row), params_.run_times);
  return expected_left(expected, ran_so_far(row, view.now), params_.run_times);
}

/// Gives what finds no place: all that waits, unless running instances take tasks. Those of a fixed
/// fleet do in any case, since there are no others.
std::vector<std::uint32_t> Supercloud::place_on_running(const ClusterView& view, Plan& plan) {
  const bool take = params_.dot || !view.rents();
  OrderedRooms rooms(RoomGroups::size(prices_.mask()));
  PeerRooms peers = input_.peer_rooms();
  std::vector<Resources> free;
  joined_.assign(input_.instances().size(), 0);
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    const InstanceRow& row = view.state.instance(input_.instances()[i].slot);
    free.push_back(view.catalog[row.type].capacity - row.committed);
    const bool open =
        take && (view.rents() || input_.instances()[i].ready) && !input_.instances()[i].closed;
    const auto order = static_cast<double>(i);
    if (open)
      rooms.insert(RoomGroups::of(prices_.mask(), row.type, row.market), {order, i}, free.back());
  }
  std::vector<std::uint32_t> left;
  FoundNoRoom no_room;
  for (std::uint32_t i = 0; i < input_.tasks().size(); ++i) {
    const RoundInput::Task& task = input_.tasks()[i];
    const TaskRow& row = view.state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending) continue;
    const PlaceAsks asks = asks_of(view.state, row);
    if (!take || no_room.has(asks, task.apart)) {
      left.push_back(i);
      continue;
    }
    ++searches_;
    const GroupNeeds needs = RoomGroups::needs(prices_.mask(), asks);
    const auto found = rooms.most_aligned(needs, groups_.per_unit(), peers.rule_for(task.apart));
    if (!found) {
      no_room.add(asks, task.apart);
      left.push_back(i);
      continue;
    }
    const InstanceRow& to = view.state.instance(input_.instances()[found->room].slot);
    const std::uint32_t group = RoomGroups::of(prices_.mask(), to.type, to.market);
    rooms.erase(group, *found);
    free[found->room] -= *needs[group];
    rooms.insert(group, *found, free[found->room]);
    peers.add(found->room, task.apart);
    joined_[found->room] = 1;
    const double worth_usd_h = prices_.of(row.shape, asks.markets).usd_h;
    plan.places.push_back({row.id, to.id, {CauseCode::packed, worth_usd_h}});
  }
  return left;
}

void Supercloud::buy(const Work& work, std::span<const std::uint32_t> waiting) const {
  const ClusterState& state = work.view.state;
  const auto apart = [&](std::uint32_t task) { return input_.tasks()[task].apart; };
  for (MarketChoice choice : {MarketChoice::any, MarketChoice::on_demand, MarketChoice::spot}) {
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t task : waiting) {
      if (state.markets(state.task(input_.tasks()[task].slot)) == choice) tasks.push_back(task);
    }
    std::vector<std::uint32_t> kept_apart, others;
    std::ranges::copy_if(tasks, std::back_inserter(kept_apart),
                         [&](std::uint32_t task) { return bool(apart(task)); });
    auto layers = layers_of(std::move(kept_apart), apart);
    if (layers.size() == 1) {
      buy_for(work, tasks, choice);  // they may all share an instance
      continue;
    }
    std::ranges::copy_if(tasks, std::back_inserter(others),
                         [&](std::uint32_t task) { return !apart(task); });
    std::ranges::reverse(others);  // the first one stands last, where it is cheap to take
    for (const auto& layer : layers) buy_and_fill_up(work, layer, others, choice);
    std::ranges::reverse(others);
    buy_for(work, others, choice);
  }
}

/// Tasks that are kept apart and may all share an instance, and beside them the first of the others
/// that have room there. A task that no other of the layer shares an instance with stays among the
/// others, so that one wide job does not scatter the tasks of all others over instances of their
/// own.
void Supercloud::buy_and_fill_up(const Work& work, std::span<const std::uint32_t> layer,
                                 std::vector<std::uint32_t>& others, MarketChoice choice) const {
  const std::size_t tried = std::min(others.size(), kTriedBeside * layer.size());
  std::vector<std::uint32_t> tasks(layer.begin(), layer.end());
  tasks.insert(tasks.end(), others.rbegin(), others.rbegin() + static_cast<std::ptrdiff_t>(tried));
  std::vector<char> bought(tasks.size(), 0);
  const std::vector<ShapeId> shapes = shapes_of(work, tasks);
  for (const GreedyGroup& group : buyer(work).buy(shapes, choice)) {
    const bool has_any = std::ranges::any_of(
        group.tasks, [&](std::uint32_t position) { return position < layer.size(); });
    if (!has_any) continue;
    for (std::uint32_t position : group.tasks) bought[position] = 1;
    rent(work, tasks, group, choice);
  }
  others.resize(others.size() - tried);
  for (std::size_t i = tasks.size(); i-- > layer.size();) {
    if (!bought[i]) others.push_back(tasks[i]);
  }
}

/// Tasks that may all share an instance.
void Supercloud::buy_for(const Work& work, std::span<const std::uint32_t> tasks,
                         MarketChoice choice) const {
  for (const GreedyGroup& group : buyer(work).buy(shapes_of(work, tasks), choice)) {
    rent(work, tasks, group, choice);
  }
}

std::vector<ShapeId> Supercloud::shapes_of(const Work& work,
                                           std::span<const std::uint32_t> tasks) const {
  std::vector<ShapeId> shapes;
  shapes.reserve(tasks.size());
  for (std::uint32_t task : tasks) {
    shapes.push_back(work.view.state.task(input_.tasks()[task].slot).shape);
  }
  return shapes;
}

/// The group's tasks are positions in `tasks`.
void Supercloud::rent(const Work& work, std::span<const std::uint32_t> tasks,
                      const GreedyGroup& group, MarketChoice choice) const {
  Plan& plan = work.plan;
  double gain_usd_h = -group.as.price.usd_h();
  for (std::uint32_t i : group.tasks) {
    const TaskRow& row = work.view.state.task(input_.tasks()[tasks[i]].slot);
    gain_usd_h += prices_.of(row.shape, choice).usd_h;
  }
  const bool alone = group.tasks.size() == 1;
  const Cause cause{alone ? CauseCode::alone : CauseCode::packed, gain_usd_h};
  const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
  plan.launches.push_back({group.as.type, group.as.market, cause});
  for (std::uint32_t i : group.tasks) {
    plan.places.push_back({input_.tasks()[tasks[i]].id, launch, cause});
  }
}

/// Forgets what was found at other prices and offers.
void Supercloud::keep_up(const MarketOffers& offers) {
  if (rebuys_prices_ == prices_.version() && rebuys_rests_ == offers.rests()) return;
  rebuys_prices_ = prices_.version();
  rebuys_rests_ = offers.rests();
  rebuys_.clear();
}

/// Null: its tasks take different markets.
const std::vector<GreedyGroup>* Supercloud::rebuy(const Work& work,
                                                  const RoundInput::Instance& from) {
  const ClusterState& state = work.view.state;
  const auto residents = input_.residents(from);
  const auto row_of = [&](std::uint32_t task) -> const TaskRow& {
    return state.task(input_.tasks()[task].slot);
  };
  const MarketChoice markets = state.markets(row_of(residents.front()));
  resident_shapes_.clear();
  for (std::uint32_t task : residents) {
    if (state.markets(row_of(task)) != markets) return nullptr;
    resident_shapes_.push_back(state.shape_made(row_of(task).shape));
  }
  if (from.slot >= rebuys_.size()) rebuys_.resize(from.slot + std::size_t{1});
  Rebuy& known = rebuys_[from.slot];
  if (known.of == from.id && known.markets == markets && known.shapes == resident_shapes_) {
    return &known.groups;
  }
  ++looks_;
  std::vector<ShapeId> shapes;
  for (std::uint32_t task : residents) shapes.push_back(row_of(task).shape);
  known = {from.id, resident_shapes_, markets, buyer(work).buy(shapes, markets)};
  return &known.groups;
}

/// True: there is something cheaper, moved to or not.
bool Supercloud::move(const Work& work, const RoundInput::Instance& from) {
  const auto& [view, offers, plan] = work;
  const std::vector<GreedyGroup>* const found = rebuy(work, from);
  if (found == nullptr) return false;
  const std::vector<GreedyGroup>& groups = *found;
  double usd_h = 0;
  for (const GreedyGroup& group : groups) {
    if (offers.rests(group.as.type, group.as.market)) return false;
    usd_h += group.as.price.usd_h();
  }
  // Several smaller instances may end at different times: even a dearer set could pay.
  if (groups.empty() || (groups.size() == 1 && usd_h >= from.price_usd_h)) return false;
  const auto residents = input_.residents(from);
  Move move{.from_usd_h = from.price_usd_h};
  double gib = 0;
  for (std::uint32_t task : residents) {
    gib += view.state.task(input_.tasks()[task].slot).held.amount[Resource::memory];
    move.left = std::max(move.left, left_of(view, task));
  }
  move.transfer = time_to_send(gib, params_.moves.bandwidth_mbit_s);
  std::vector<MoveTo> to;
  for (const GreedyGroup& group : groups) {
    const InstanceType& type = view.catalog[group.as.type];
    move.spin_up = std::max(move.spin_up, type.acquire + type.setup);
    MoveTo& one = to.emplace_back(MoveTo{group.as.price.usd_h(), {}});
    for (std::uint32_t i : group.tasks) one.left = std::max(one.left, left_of(view, residents[i]));
  }
  if (!pays(move, to, params_.moves)) return usd_h < from.price_usd_h;
  const auto number = static_cast<std::uint32_t>(plan.launches.size() + 1);
  const Cause cause{CauseCode::partial_reconfiguration, from.price_usd_h - usd_h};
  for (const GreedyGroup& group : groups) {
    const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
    plan.launches.push_back(
        {.type = group.as.type, .market = group.as.market, .cause = cause, .group = number});
    for (std::uint32_t i : group.tasks) {
      plan.places.push_back(
          {.task = input_.tasks()[residents[i]].id, .to = launch, .cause = cause, .group = number});
    }
  }
  plan.releases.push_back({from.id, cause, number});
  return true;
}

EventPolicy::Decision Supercloud::hold_event(const ClusterView& view) {
  input_.gather({view, MarketChoice::any}, prices_, kinds_);
  Decision decision;
  Plan& plan = decision.plan;
  plan.refusals = input_.refusals();
  const std::vector<std::uint32_t> left = place_on_running(view, plan);
  if (!view.rents()) return decision;
  const MarketOffers offers(prices_.types(), view);
  const Work work{view, offers, plan};
  buy(work, left);
  keep_up(offers);
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    const RoundInput::Instance& instance = input_.instances()[i];
    if (joined_[i] || instance.owned) continue;
    if (view.state.instance(instance.slot).planned.empty()) {
      plan.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
    } else if (params_.moves.on && is_free_to_move(view, input_, instance)) {
      decision.settled &= !move(work, instance);
    } else if (params_.moves.on && instance.held && input_.changes_with_time()) {
      decision.settled = false;
    }
  }
  return decision;
}

}  // namespace muster
