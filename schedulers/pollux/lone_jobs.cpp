#include "schedulers/pollux/lone_jobs.hpp"

#include <limits>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::pollux {
namespace {

constexpr Cause kAlone{CauseCode::alone, 0};

}  // namespace

void LoneJobs::place(Plan& plan) {
  for (const LoneWish& wish : input_.lone()) {
    std::vector<Place> places;
    if (!find_places(wish, places)) {
      for (const Place& place : places) {
        if (place.node == nullptr) continue;
        const TaskRow& task = view_.state.task(place.task);
        place.node->taken -= view_.state.demand(task, place.node->row->type)->amount;
        peers_.remove(place.node->row->slot, apart_of(*wish.job));
      }
      refuse(wish, plan);
      continue;
    }
    for (const Place& place : places) {
      const TaskId task = view_.state.task(place.task).id;
      if (place.node != nullptr) {
        plan.places.push_back({task, place.node->row->id, kAlone});
        continue;
      }
      const OfferingKey& key = place.offer->key;
      const LaunchIndex launch{static_cast<std::uint32_t>(plan.launches.size())};
      plan.launches.push_back({key.type, key.market, kAlone, key.zone});
      plan.places.push_back({task, launch, kAlone});
    }
  }
}

/// Takes the room as it goes; false: there is not enough for all.
bool LoneJobs::find_places(const LoneWish& wish, std::vector<Place>& places) {
  for (const Slot slot : wish.tasks) {
    const TaskRow& task = view_.state.task(slot);
    RoundNode* node = room_for(task, true);
    if (node == nullptr) node = room_for(task, false);
    const OfferingRow* offer = node == nullptr && view_.rents() ? cheapest(task) : nullptr;
    if (node == nullptr && offer == nullptr) return false;
    if (node != nullptr) {
      node->taken += view_.state.demand(task, node->row->type)->amount;
      peers_.add(node->row->slot, apart_of(*wish.job));
    }
    places.push_back({slot, node, offer});
  }
  return true;
}

/// Of the nodes that stay in any case the first one with room: beside all that is there, or beside
/// what elastic jobs cannot give way from.
RoundNode* LoneJobs::room_for(const TaskRow& task, bool beside_all) const {
  const PlaceAsks asks = asks_of(view_.state, task);
  for (RoundNode& node : input_.nodes()) {
    const InstanceRow& row = *node.row;
    if (view_.rents() && !view_.is_owned(row)) continue;
    if (!input_.mask().allows(asks, kind_of(row))) continue;
    const Resources& amount = *input_.mask().amount(asks.shape, row.type);
    // Workers that this round has put there are in `taken` alone.
    const Resources& capacity = view_.catalog[row.type].capacity;
    if (!amount.fits_in(capacity - node.taken)) continue;
    const Apart apart = apart_of(view_.state.job(task.job));
    if (!may_share(view_.state, task, row, peers_.count(row.slot, apart))) continue;
    if (!beside_all) return &node;
    Resources left = capacity - node.taken;
    for (const Slot slot : row.planned) {
      const TaskRow& other = view_.state.task(slot);
      if (input_.is_searched(other.job)) left -= other.planned.amount;
    }
    if (amount.fits_in(left)) return &node;
  }
  return nullptr;
}

const OfferingRow* LoneJobs::cheapest(const TaskRow& task) const {
  const OfferingRow* best = nullptr;
  const MarketChoice markets = view_.state.markets(task);
  const Market market = markets == MarketChoice::spot ? Market::spot : Market::on_demand;
  for (const OfferingRow& row : view_.state.offerings().rows()) {
    if (row.key.market != market || view_.rests(row.key.type, market)) continue;
    if (!input_.mask().holds(task.shape, row.key.type)) continue;
    if (best == nullptr || row.price < best->price) best = &row;
  }
  return best;
}

void LoneJobs::refuse(const LoneWish& wish, Plan& plan) const {
  for (const Slot slot : wish.tasks) {
    const TaskRow& task = view_.state.task(slot);
    const auto price = reservation_price(view_.state.shape(task.shape), view_.catalog);
    Refusal why{RefusalKind::not_now,
                RefusalCode::awaiting_capacity,
                {},
                static_cast<double>(wish.tasks.size()),
                0};
    if (!price.fits()) why = price.refusal;
    plan.refusals.push_back({task.id, why});
  }
}

}  // namespace muster::pollux
