#include "replay/metrics/fleet_levels.hpp"

#include <algorithm>
#include <utility>
#include <variant>

// Follows a log and keeps the levels that hold between two events: instances, what tasks hold, the
// rate of spending. Prices and money are whole numbers and never drift; amounts of resources are
// doubles, and are set to zero whenever nothing is left to hold them.

namespace muster::metrics {
namespace {

Price operator+(Price a, Price b) {
  return Price::from_nano_usd_h(a.nano_usd_h() + b.nano_usd_h());
}
Price operator-(Price a, Price b) {
  return Price::from_nano_usd_h(a.nano_usd_h() - b.nano_usd_h());
}

}  // namespace

void FleetLevels::apply(const Event& event) {
  elastic_.apply(event);
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    instances_[launch->instance] = {launch->type, RentedPrice(*launch, event.cell)};
    rented_ += (*catalog_)[launch->type].capacity;
    ++wanted_;
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    give_back(refused->instance);
  } else if (const auto* unwanted = std::get_if<ReleaseDecided>(&event.body)) {
    give_back(unwanted->instance);
  } else if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
    const auto found = instances_.find(up->instance);
    if (found != instances_.end()) {
      come_up(found->second, event.at, up->billed_from.value_or(event.at));
    }
  } else if (const auto* end = std::get_if<TerminateIssued>(&event.body)) {
    give_back(end->instance);
    const auto found = instances_.find(end->instance);
    if (found != instances_.end()) stop_serving(found->second);
  } else if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    hold(*start);
  } else if (const auto left = task_that_left(event)) {
    release(*left);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    go(gone->instance, event.at, gone->billed_until.value_or(event.at));
  }
  // Each master tells of a change itself; RentedPrice compares the cell.
  if (std::holds_alternative<OfferingChanged>(event.body)) reprice(event);
  occupancy_.apply(event);
}

void FleetLevels::reprice(const Event& event) {
  const Instant now = event.at;
  spent_ = spent(now);
  settled_ = now;
  for (auto& [id, instance] : instances_) {  // exact, so the order does not matter
    RentedPrice& price = instance.price;
    if (!price.is_changed_by(event, *catalog_)) continue;
    const Price before = price.now;
    const Instant changed = price.change(std::get<OfferingChanged>(event.body).change);
    if (!instance.up_since) continue;
    const Price more = price.now - before;
    rate_ = rate_ + more;
    // The sum that counts as spent by now was counted at the old price.
    spent_ += Money::of(more, now - std::max(changed, *instance.up_since));
  }
}

void FleetLevels::come_up(Instance& instance, Instant now, Instant billed_from) {
  if (instance.up_since) return;
  // The log hears of an instance later than its billing begins: the time until now is added at
  // once, and the rate counts from here.
  spent_ = spent(now) + instance.price.charge(billed_from, now);
  settled_ = now;
  rate_ = rate_ + instance.price.now;
  instance.up_since = billed_from;
  instance.serving = true;
  ++serving_;
  ++launched_;
  ++up_by_type_[instance.type.value];
  capacity_ += (*catalog_)[instance.type].capacity;
}

void FleetLevels::stop_serving(Instance& instance) {
  if (!instance.serving) return;
  instance.serving = false;
  --serving_;
  capacity_ -= (*catalog_)[instance.type].capacity;
  if (serving_ == 0) capacity_ = {};  // no rounding error outlives the last instance
}

/// By the first of the events that say so.
void FleetLevels::give_back(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || !std::exchange(found->second.wanted, false)) return;
  rented_ -= (*catalog_)[found->second.type].capacity;
  if (--wanted_ == 0) rented_ = {};
}

void FleetLevels::go(InstanceId id, Instant now, Instant billed_until) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return;
  // Before occupancy_ hears of the event, after which the instance is empty.
  for (TaskId task : occupancy_.on(id)) release(task);
  Instance& instance = found->second;
  give_back(id);
  stop_serving(instance);
  if (instance.up_since) {
    // The reverse: from billed_until to now the rate has counted too much.
    spent_ = spent(now) - instance.price.charge(billed_until, now);
    settled_ = now;
    rate_ = rate_ - instance.price.now;
    --up_by_type_[instance.type.value];
    uptimes_h_.push_back(to_hours(billed_until - *instance.up_since));
    for (const Resource kind : kAllResources) {
      billed_h_[kind] += (*catalog_)[instance.type].capacity[kind] * uptimes_h_.back();
    }
  }
  instances_.erase(found);
}

void FleetLevels::hold(const StartIssued& start) {
  // A new attempt in the place of one whose end the log does not tell.
  release(start.task);
  if (!start.grant || !instances_.contains(start.instance)) return;
  held_[start.task] = start.grant->amount;
  used_ += start.grant->amount;
  elastic_.hold(start.task);
}

void FleetLevels::release(TaskId task) {
  const auto found = held_.find(task);
  if (found == held_.end()) return;
  elastic_.release(task);
  used_ -= found->second;
  held_.erase(found);
  // As with the capacity: sums of doubles do not come back to zero by themselves.
  if (held_.empty()) used_ = {};
}

std::optional<double> FleetLevels::tasks_per_instance() const {
  if (serving_ == 0) return std::nullopt;
  return static_cast<double>(held_.size()) / static_cast<double>(serving_);
}

std::optional<double> FleetLevels::allocation(Resource kind) const {
  // Without any capacity of a kind the share of it has no meaning, and counts in no mean.
  if (serving_ == 0 || capacity_[kind] <= kResourceEpsilon) return std::nullopt;
  return used_[kind] / capacity_[kind];
}

}  // namespace muster::metrics
