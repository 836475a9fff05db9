#include "schedulers/packing/backlog.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/feasible.hpp"
#include "model/room_lack.hpp"
#include "schedulers/packing/rules.hpp"

// The bound is one from above: more room than there is costs a look at a few tasks more, less would
// leave room empty. A task without a place of its own in a round is looked at in a later one.

namespace muster {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// How often the amount is in the room.
double times_in(const Resources& amount, const Resources& room) {
  double most = kNoBound;
  for (const Resource kind : kAllResources) {
    if (amount[kind] <= kResourceEpsilon) continue;
    most = std::min(most, std::floor((room[kind] + kResourceEpsilon) / amount[kind]));
  }
  return std::max(most, 0.0);
}

/// The task waits for want of room, as all of its equals behind it do.
bool is_for_want_of_room(const Refusal& reason) {
  if (reason.kind != RefusalKind::not_now) return false;
  switch (lack_of(reason.code)) {
    case RoomLack::caps:
    case RoomLack::full_cloud:
    case RoomLack::refused_cloud:
    case RoomLack::kept:
      return true;
    default:
      return reason.code == RefusalCode::better_place;
  }
}

}  // namespace

Backlog::Backlog(const MarketView& market, const PlacementMask& mask)
    : market_(market), state_(market.cluster.state), mask_(mask) {
  const ClusterView& view = market.cluster;
  const RentLeft& left = view.left;
  bounded_ = view.rents() && (left.instances || left.nano_usd_h || view.any_rests());
}

Backlog::Group& Backlog::group_of(const TaskRow& task, const JobRow& job) {
  const Kind kind{asks_of(state_, task), market_.cluster.rank(job).priority, apart_of(job).job};
  if (last_ != kind) {
    last_ = kind;
    last_group_ = &groups_[kind];
  }
  return *last_group_;
}

bool Backlog::takes(const TaskRow& task, const JobRow& job) {
  if (!bounded_) return true;
  Group& group = group_of(task, job);
  if (group.first == nullptr) group.first = &task;
  double& of_class = group.of_class[task.cls.value];
  bool is_taken = group.taken < kSpare;
  if (!is_taken) {
    if (!group.room) group.room = room_for(task, job);
    is_taken = group.taken < *group.room + kSpare ||
               (of_class < kSpare && group.taken < *group.room + kSpareOfShape);
  }
  if (!is_taken) return false;
  ++group.taken;
  ++of_class;
  return true;
}

const Refusal* Backlog::why_waits(const TaskRow& task, const JobRow& job) {
  const TaskRow* first = group_of(task, job).first;
  return first != nullptr && is_for_want_of_room(first->reason) ? &first->reason : nullptr;
}

double Backlog::room_for(const TaskRow& task, const JobRow& job) {
  return room_on_present(task, job) + room_to_rent(task, job);
}

double Backlog::room_on_present(const TaskRow& task, const JobRow& job) {
  // Tasks of lower priority may be put elsewhere for it.
  const bool displaces = market_.cluster.rank(job).priority > lowest_placed_priority();
  const PlaceAsks asks = asks_of(state_, task);
  const Apart apart = apart_of(job);
  double room = 0;
  for (const InstanceRow& row : state_.instances()) {
    if (!market_.shows(row) || row.released || row.phase == InstancePhase::terminating) continue;
    if (!mask_.allows(asks, kind_of(row))) continue;
    const std::uint32_t beside = apart ? peers_on(state_, task, row) : 0;
    if (apart && beside >= apart.most) continue;
    const Resources& capacity = state_.catalog()[row.type].capacity;
    const double times = times_in(*mask_.amount(asks.shape, row.type),
                                  displaces ? capacity : capacity - row.committed);
    room += apart ? std::min<double>(times, apart.most - beside) : times;
  }
  return room;
}

/// As much as the caps leave of the offering that holds most, by their number and by their price.
double Backlog::room_to_rent(const TaskRow& task, const JobRow& job) const {
  const ClusterView& view = market_.cluster;
  const PlaceAsks asks = asks_of(state_, task);
  const Apart apart = apart_of(job);
  double most_each = 0;
  double most_for_usd = 0;
  for (std::uint32_t i = 0; i < view.catalog.size(); ++i) {
    const TypeId type{i};
    if (!mask_.holds(asks.shape, type)) continue;
    const double times = times_in(*mask_.amount(asks.shape, type), view.catalog[type].capacity);
    const double each = apart ? std::min<double>(times, apart.most) : times;
    for (const Market on : {Market::on_demand, Market::spot}) {
      if (!mask_.allows(asks, {type, on}) || !wants(market_.markets, on)) continue;
      if (view.rests(type, on)) continue;
      const double usd_h = view.price(type, on)->usd_h();
      most_each = std::max(most_each, each);
      most_for_usd = std::max(most_for_usd, usd_h > 0 ? each / usd_h : each > 0 ? kNoBound : 0);
    }
  }
  if (most_each <= 0) return 0;
  double room = kNoBound;
  if (view.left.instances) room = static_cast<double>(*view.left.instances) * most_each;
  if (const auto nano = view.left.nano_usd_h) {
    const double usd_h = 1e-9 * static_cast<double>(std::max<std::int64_t>(*nano, 0));
    // An instance that costs more than the rest of the money does not count.
    room = std::min(room, usd_h > 0 ? usd_h * most_for_usd : 0);
  }
  return room;
}

int Backlog::lowest_placed_priority() {
  if (lowest_priority_) return *lowest_priority_;
  int lowest = std::numeric_limits<int>::max();
  for (const JobRow& job : state_.jobs()) {
    const std::size_t none = job.pending + job.withheld() + job.ended();
    if (none < job.tasks.size()) lowest = std::min(lowest, market_.cluster.rank(job).priority);
  }
  lowest_priority_ = lowest;
  return lowest;
}

}  // namespace muster
