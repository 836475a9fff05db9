#include "schedulers/baselines/hotspot.hpp"

#include <algorithm>
#include <array>

#include "schedulers/packing/rounds/alone_on_fleet.hpp"
#include "schedulers/packing/rules.hpp"

// The policy remembers nothing: at each event it looks at every instance, and compares prices as
// they are now.

namespace muster {

Launch Hotspot::launch_of(const ClusterView& view, const RentedAs& rented,
                          const Cause& cause) const {
  Launch launch{rented.type, rented.market, cause};
  if (rented.market == Market::spot) {
    // A task that moves away from high prices need not fear to be interrupted for them.
    const double usd_h = view.catalog[rented.type].on_demand.usd_h();
    launch.max_price = Price::from_usd_h(std::max(params_.bid * usd_h, rented.price.usd_h()));
  }
  return launch;
}

void Hotspot::start(const Work& work, const TaskRow& row) const {
  const auto& [view, offers, plan] = work;
  const MarketChoice markets = view.state.markets(row);
  const CheapestFit cheapest(prices_, groups_, PriceRank::instance);
  const auto rented = cheapest.of(row.shape, markets, offers);
  if (!rented) return;
  const Cause cause{CauseCode::alone, 0};
  plan.places.push_back(
      {row.id, LaunchIndex{static_cast<std::uint32_t>(plan.launches.size())}, cause});
  plan.launches.push_back(launch_of(view, *rented, cause));
}

/// Of a fixed fleet the first tasks get the empty instances, one each, the cheapest first.
void Hotspot::use_empty(const ClusterView& view, Plan& plan) const {
  OrderedRooms empty(RoomGroups::size(prices_.mask()));
  for (std::uint32_t i = 0; i < input_.instances().size(); ++i) {
    const InstanceRow& row = view.state.instance(input_.instances()[i].slot);
    if (!input_.instances()[i].ready || !row.planned.empty()) continue;
    empty.insert(RoomGroups::of(prices_.mask(), row.type, row.market), {row.price.usd_h(), i},
                 view.catalog[row.type].capacity);
  }
  const PeerRooms peers = input_.peer_rooms();  // some may have still to leave
  const std::vector<char> wider = refuse_gangs_wider_than_fleet(view, input_, plan);
  FoundNoRoom no_room;
  for (const RoundInput::Task& task : input_.tasks()) {
    const TaskRow& row = view.state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending || wider[row.job] != 0)
      continue;
    const PlaceAsks asks = asks_of(view.state, row);
    if (no_room.has(asks, task.apart)) continue;
    const auto found =
        empty.first(RoomGroups::needs(prices_.mask(), asks), {-1, 0}, peers.rule_for(task.apart));
    if (!found) {
      no_room.add(asks, task.apart);
      continue;
    }
    const InstanceRow& to = view.state.instance(input_.instances()[found->room].slot);
    empty.erase(RoomGroups::of(prices_.mask(), to.type, to.market), *found);
    plan.places.push_back({row.id, to.id, {CauseCode::alone, 0}});
  }
}

/// True: there is something cheaper, moved to or not.
bool Hotspot::move(const Work& work, const RoundInput::Instance& from) const {
  const auto& [view, offers, plan] = work;
  const RoundInput::Task& task = input_.tasks()[input_.residents(from).front()];
  const TaskRow& row = view.state.task(task.slot);
  const Job& job = view.state.job(row.job).job;
  const CheapestFit cheapest(prices_, groups_, PriceRank::instance);
  const auto rented = cheapest.of(row.shape, view.state.markets(row), offers);
  if (!rented || offers.rests(rented->type, rented->market)) return false;
  if (rented->price.usd_h() >= from.price_usd_h) return false;
  const Duration left = expected_left(expected_run(job, view.state.spec(row), params_.run_times),
                                      ran_so_far(row, view.now), params_.run_times);
  const InstanceType& type = view.catalog[rented->type];
  const Move move{
      .from_usd_h = from.price_usd_h,
      .left = left,
      .transfer = time_to_send(row.held.amount[Resource::memory], params_.moves.bandwidth_mbit_s),
      .spin_up = type.acquire + type.setup};
  const std::array to{MoveTo{rented->price.usd_h(), left}};
  if (!pays(move, to, params_.moves)) return true;
  const auto group = static_cast<std::uint32_t>(plan.launches.size() + 1);
  const Cause cause{CauseCode::partial_reconfiguration, from.price_usd_h - to[0].usd_h};
  const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
  plan.launches.push_back(launch_of(view, *rented, cause));
  plan.launches.back().group = group;
  plan.places.push_back({.task = row.id, .to = launch, .cause = cause, .group = group});
  plan.releases.push_back({from.id, cause, group});
  return true;
}

EventPolicy::Decision Hotspot::hold_event(const ClusterView& view) {
  input_.gather({view, MarketChoice::any}, prices_, kinds_);
  Decision decision;
  Plan& plan = decision.plan;
  plan.refusals = input_.refusals();
  if (!view.rents()) {
    use_empty(view, plan);
    return decision;
  }
  const MarketOffers offers(prices_.types(), view);
  const Work work{view, offers, plan};
  for (const RoundInput::Task& task : input_.tasks()) {
    const TaskRow& row = view.state.task(task.slot);
    if (task.home == kUnassigned && row.phase == TaskPhase::pending) start(work, row);
  }
  for (const RoundInput::Instance& instance : input_.instances()) {
    if (instance.owned) continue;
    if (view.state.instance(instance.slot).planned.empty()) {
      plan.releases.push_back({instance.id, {CauseCode::empty, -instance.price_usd_h}});
    } else if (params_.moves.on && instance.residents == 1) {
      if (is_free_to_move(view, input_, instance)) {
        decision.settled &= !move(work, instance);
      } else if (instance.held && input_.changes_with_time()) {
        decision.settled = false;
      }
    }
  }
  return decision;
}

}  // namespace muster
