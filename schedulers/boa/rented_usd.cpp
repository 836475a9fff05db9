#include "schedulers/boa/rented_usd.hpp"

#include <algorithm>

#include "schedulers/packing/node_packing.hpp"

namespace muster::boa {

RentedUsd::Share RentedUsd::share_of(const InstanceRow& row, const ClusterView& view) {
  if (row.released) return {};
  Share share{0, row.price.nano_usd_h()};
  const Resources& capacity = view.catalog[row.type].capacity;
  for (const Slot slot : row.occupants) {
    const std::uint32_t holds = workers_in(capacity, view.state.task(slot).held.amount);
    share.used += share.rented / std::max(1U, holds);
  }
  // Tasks of several sizes may be more parts of it than there are.
  share.used = std::min(share.used, share.rented);
  return share;
}

void RentedUsd::look_at(InstanceId id, const ClusterView& view) {
  const InstanceRow* row = view.state.find(id);
  const Share now = row == nullptr ? Share{} : share_of(*row, view);
  Share& known = counted_[id];
  sum_.used += now.used - known.used;
  sum_.rented += now.rented - known.rented;
  known = now;
  if (row == nullptr) counted_.erase(id);
}

void RentedUsd::leave(TaskId task, const ClusterView& view) {
  const auto place = places_.find(task);
  if (place == places_.end()) return;
  const InstanceId left = place->second;
  places_.erase(place);
  look_at(left, view);
}

void RentedUsd::observe(const Event& event, const ClusterView& view) {
  // Instances from before the first event that it hears of are counted as well.
  if (counted_.empty()) return recount(view);
  if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    places_[start->task] = start->instance;
    look_at(start->instance, view);
  } else if (const auto* saved = std::get_if<TaskCheckpointed>(&event.body)) {
    leave(saved->task, view);
  } else if (const auto* done = std::get_if<TaskFinished>(&event.body)) {
    leave(done->task, view);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    leave(failed->task, view);
  } else if (const auto* asked = std::get_if<LaunchRequested>(&event.body)) {
    look_at(asked->instance, view);
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    look_at(refused->instance, view);
  } else if (const auto* released = std::get_if<ReleaseDecided>(&event.body)) {
    look_at(released->instance, view);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    std::erase_if(places_, [&](const auto& place) { return place.second == gone->instance; });
    look_at(gone->instance, view);
  } else if (const auto* changed = std::get_if<OfferingChanged>(&event.body);
             changed != nullptr && view.state.offerings().changed_terms()) {
    const Offering& offer = changed->change.offering;
    const std::optional<TypeId> type = view.catalog.find(offer.type);
    for (const InstanceRow& row : view.state.instances()) {
      if (row.type == type && row.market == offer.market) look_at(row.id, view);
    }
  }
}

void RentedUsd::recount(const ClusterView& view) {
  *this = {};
  for (const InstanceRow& row : view.state.instances()) {
    for (const Slot slot : row.occupants) places_[view.state.task(slot).id] = row.id;
    look_at(row.id, view);
  }
}

}  // namespace muster::boa
