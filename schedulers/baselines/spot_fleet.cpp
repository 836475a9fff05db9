#include "schedulers/baselines/spot_fleet.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "schedulers/packing/rules.hpp"

namespace muster {
namespace {

/// The instances of an event in the order of what is left of the packed resource: those that there
/// are and those that it rents, each with its number.
class PackedRooms {
 public:
  PackedRooms(const PlacementMask& mask, Resource packed)
      : mask_(mask), packed_(packed), rooms_(RoomGroups::size(mask)) {}

  struct Room {
    PlaceTarget at;
    std::uint32_t group = 0;
    Resources free;
    bool used = false;  ///< a task has been placed there
  };

  void add(const PlaceTarget& at, TypeId type, Market market, const Resources& free) {
    list_.push_back({at, RoomGroups::of(mask_, type, market), free});
    insert(static_cast<std::uint32_t>(list_.size() - 1));
  }
  /// The room of that number has a task of the job, or is to have it.
  void add_peer(std::size_t room, const Apart& apart) { peers_.add(room, apart); }
  /// Puts the task where the least is left, but beside no more peers than it may be; null when
  /// nothing has room.
  const Room* put(const GroupNeeds& needs, const Apart& apart) {
    const auto found =
        rooms_.first(needs, {-std::numeric_limits<double>::infinity(), 0}, peers_.rule_for(apart));
    if (!found) return nullptr;
    peers_.add(found->room, apart);
    Room& room = list_[found->room];
    rooms_.erase(room.group, *found);
    room.free -= *needs[room.group];
    room.used = true;
    insert(found->room);
    return &room;
  }
  const std::vector<Room>& all() const { return list_; }

 private:
  void insert(std::uint32_t number) {
    const Room& room = list_[number];
    rooms_.insert(room.group, {room.free[packed_], number}, room.free);
  }

  const PlacementMask& mask_;
  Resource packed_;
  OrderedRooms rooms_;
  PeerRooms peers_;
  std::vector<Room> list_;
};

}  // namespace

EventPolicy::Decision SpotFleet::hold_event(const ClusterView& view) {
  const ClusterState& state = view.state;
  input_.gather({view, MarketChoice::any}, prices_, kinds_);
  Plan plan;
  plan.refusals = input_.refusals();
  PackedRooms rooms(prices_.mask(), params_.packed);
  std::vector<std::size_t> room_of(input_.instances().size(), SIZE_MAX);
  for (std::size_t i = 0; i < input_.instances().size(); ++i) {
    const RoundInput::Instance& instance = input_.instances()[i];
    if ((!view.rents() && !instance.ready) || instance.closed) continue;
    const InstanceRow& row = state.instance(instance.slot);
    room_of[i] = rooms.all().size();
    rooms.add(row.id, row.type, row.market, view.catalog[row.type].capacity - row.committed);
  }
  for (const RoundInput::Peer& peer : input_.peers()) {
    rooms.add_peer(room_of[peer.instance], peer.apart);
  }
  const std::size_t present = rooms.all().size();
  const CheapestFit cheapest(prices_, groups_, params_.rank);
  const MarketOffers offers(prices_.types(), view);
  FoundNoRoom no_room;
  for (const RoundInput::Task& task : input_.tasks()) {
    const TaskRow& row = state.task(task.slot);
    if (task.home != kUnassigned || row.phase != TaskPhase::pending) continue;
    const PlaceAsks asks = asks_of(state, row);
    if (no_room.has(asks, task.apart)) continue;
    ++looks_;
    const GroupNeeds needs = RoomGroups::needs(prices_.mask(), asks);
    const double worth_usd_h = prices_.of(row.shape, asks.markets).usd_h;
    if (const auto* room = rooms.put(needs, task.apart)) {
      plan.places.push_back({row.id, room->at, {CauseCode::best_fit, worth_usd_h}});
      continue;
    }
    const auto rented = view.rents() ? cheapest.of(row.shape, asks.markets, offers) : std::nullopt;
    if (!rented) {
      no_room.add(asks, task.apart);
      continue;
    }
    no_room.clear();
    const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
    const Cause cause{CauseCode::alone, worth_usd_h - rented->price.usd_h()};
    plan.launches.push_back({rented->type, rented->market, cause});
    plan.places.push_back({row.id, launch, cause});
    const Resources& capacity = view.catalog[rented->type].capacity;
    const std::uint32_t group = RoomGroups::of(prices_.mask(), rented->type, rented->market);
    rooms.add(launch, rented->type, rented->market, capacity - *needs[group]);
    rooms.add_peer(rooms.all().size() - 1, task.apart);
  }
  for (std::size_t i = 0; i < present && view.rents(); ++i) {
    const InstanceRow& row = *state.find(std::get<InstanceId>(rooms.all()[i].at));
    if (rooms.all()[i].used || !row.planned.empty() || view.is_owned(row)) continue;
    plan.releases.push_back({row.id, {CauseCode::empty, -row.price.usd_h()}});
  }
  return {std::move(plan), true};
}

}  // namespace muster
