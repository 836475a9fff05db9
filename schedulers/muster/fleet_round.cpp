#include "schedulers/muster/fleet_round.hpp"

#include <algorithm>
#include <limits>

#include "model/feasible.hpp"
#include "schedulers/packing/awaits_room.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::own {
namespace {

constexpr const char* kFleet = "fleet";
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

}  // namespace

FleetRound::FleetRound(const ClusterView& view, FleetMemory& memory)
    : view_(view),
      memory_(memory),
      queue_(memory.queue()),
      room_(memory.room_of_round()),
      held_by_long_(room_.held_by_long()),
      promised_to_long_(memory.promised_to_long(view.state)),
      long_share_(memory.long_share()) {}

Plan FleetRound::run() {
  room_.learn_shapes(view_.state);
  room_.begin_round();
  for (const InstanceId id : view_.given_away) {
    if (room_.has(id)) room_.close(id);
  }
  if (view_.turn) {
    serve_turn();
  } else {
    serve_kept();
    serve_class_kept_out();
    serve_in_order();
    tell();
  }
  room_.end_round(view_.state);
  plan_.note.choice = kFleet;
  plan_.note.figures.emplace_back("placed", static_cast<double>(plan_.places.size()));
  if (!room_.kept().empty()) {
    plan_.note.figures.emplace_back("kept", static_cast<double>(room_.kept().size()));
  }
  return std::move(plan_);
}

/// Kept instances go to the tasks that they are kept for, and to no others.
void FleetRound::serve_kept() {
  for (const auto& [instance, task] : room_.kept()) {
    const TaskRow& row = *view_.state.find(task);
    const bool is_long = queue_.find(view_.state.job(row.job).job.id)->key.is_long;
    const RoomRule may_join = rule_for(row);
    const bool may_start = (!is_long || has_share(row.shape, held_by_long_)) &&
                           (!may_join || may_join(instance.value));
    if (may_start && !view_.is_given_away(instance) &&
        room_.fits_on(view_.state, instance, row.shape)) {
      held_by_long_ += is_long ? room_.least(row.shape) : Resources{};
      put(row, instance);
    }
    room_.close(instance);
  }
}

/// A class that could start nothing for too long gets one place before the other class, unless that
/// one has something of a higher priority.
void FleetRound::serve_class_kept_out() {
  for (const bool is_long : {false, true}) {
    if (queue_.kept_out(is_long, view_.now)) serve_one_of(is_long);
  }
}

/// The first of the class that can have a place besides its peers. A job that lacks nothing but
/// instances with fewer peers leaves its turn to the next one.
void FleetRound::serve_one_of(bool is_long) {
  const auto other = queue_.first_of(!is_long);
  std::set<std::pair<FleetKey, FleetList>> heads;
  for (const auto& [list, keys] : queue_.lists()) {
    if (list.is_long == is_long) heads.emplace(*keys.begin(), list);
  }
  // Room that was kept for a job of the class is its place of this turn.
  std::set<Slot> served;
  for (const Slot task : placed_) served.insert(view_.state.task(task).job);
  while (!heads.empty()) {
    const auto [key, list] = *heads.begin();
    heads.erase(heads.begin());
    if (other && other->first.less_priority < key.less_priority) return;
    const std::size_t before = plan_.places.size();
    const FleetQueue::Job& job = *queue_.find(key.job);
    if (!serve(job, list, 1) || plan_.places.size() > before || list.gang) return;
    if (served.contains(view_.state.find(key.job)->slot)) return;
    const std::set<FleetKey>& keys = queue_.lists().at(list);
    const auto next = keys.upper_bound(key);
    if (next != keys.end()) heads.emplace(*next, list);
  }
}

void FleetRound::serve_in_order() {
  // The first of each list, in the order of all: a shape that finds no room takes the rest of its
  // list with it.
  std::set<std::pair<FleetKey, FleetList>> heads;
  for (const auto& [list, keys] : queue_.lists()) heads.emplace(*keys.begin(), list);
  while (!heads.empty()) {
    const auto [key, list] = *heads.begin();
    heads.erase(heads.begin());
    if (!serve(*queue_.find(key.job), list, kAll)) continue;
    const std::set<FleetKey>& keys = queue_.lists().at(list);
    const auto next = keys.upper_bound(key);
    if (next != keys.end()) heads.emplace(*next, list);
  }
}

/// All others wait out a gang's turn, so that room gathers.
void FleetRound::serve_turn() {
  const FleetQueue::Job* job = queue_.find(*view_.turn);
  if (job != nullptr && job->gang && job->waits > 0) place_gang(*job);
}

/// Places at most `most` of the job's tasks in the list. False when the next one finds no place:
/// nor do others of the list.
bool FleetRound::serve(const FleetQueue::Job& job, const FleetList& list, std::size_t most) {
  if (list.gang) {
    place_gang(job);
    return true;
  }
  if (queue_.on_trial(job)) most = std::min<std::size_t>(most, 1);
  for (const auto& [index, slot] : job.waiting.at(list.shape)) {
    if (placed_.contains(slot)) continue;
    if (most-- == 0) break;
    const Placed placed = place(view_.state.task(slot), list.is_long);
    if (placed != Placed::yes) return placed == Placed::is_apart;
  }
  return true;
}

FleetRound::Placed FleetRound::place(const TaskRow& row, bool is_long) {
  if (is_long && !may_start_long(row.shape)) return Placed::no;
  const RoomRule may_join = rule_for(row);
  const auto on = room_.best_fit(row.shape, may_join);
  if (!on) return may_join && room_.best_fit(row.shape) ? Placed::is_apart : Placed::no;
  room_.take(*on, row.shape);
  if (is_long) count_long(row.shape);
  put(row, *on);
  return Placed::yes;
}

/// Instances on which the task has fewer peers than it may; empty where it is not kept apart.
RoomRule FleetRound::rule_for(const TaskRow& row) const {
  const Apart apart = apart_of(view_.state.job(row.job));
  if (!apart) return {};
  const auto may_join = [this, &row, apart](std::uint64_t instance) {
    const InstanceRow* on = view_.state.find(InstanceId{instance});
    const std::uint32_t planned = peers_.count(instance, apart);
    return on != nullptr ? may_share(view_.state, row, *on, planned) : planned < apart.most;
  };
  return {{apart.job}, may_join};
}

bool FleetRound::has_share(ShapeId shape, const ResourceSum& held) const {
  return long_may_start(room_.least(shape), held.value(), long_share_);
}

/// Room that is kept for long tasks is theirs already: others must not take the share meanwhile
/// that these will find free.
bool FleetRound::may_start_long(ShapeId shape) const {
  return has_share(shape, held_by_long_) && has_share(shape, promised_to_long_);
}

void FleetRound::count_long(ShapeId shape) {
  held_by_long_ += room_.least(shape);
  promised_to_long_ += room_.least(shape);
}

void FleetRound::put(const TaskRow& row, InstanceId on) {
  placed_.insert(row.slot);
  peers_.add(on.value, apart_of(view_.state.job(row.job)));
  plan_.places.push_back({row.id, on, {CauseCode::best_fit, 0}});
}

/// All of the gang's tasks or none. Whether long tasks may start is asked once, so that a gang as
/// large as the fleet may.
void FleetRound::place_gang(const FleetQueue::Job& job) {
  const JobRow& row = view_.state.job(job.slot);
  // Its tasks elsewhere have still to leave, or it backs off.
  if (row.pending + row.withheld() + row.ended() < row.tasks.size()) return;
  if (!view_.may_start(row) || !may_fit(job)) return;
  // As the first of a class that was kept out it has been served already.
  if (placed_.contains(job.waiting.begin()->second.begin()->second)) return;
  const std::size_t before = plan_.places.size();
  const ResourceSum held_before = held_by_long_, promised_before = promised_to_long_;
  for (const auto& [shape, tasks] : job.waiting) {
    if (job.key.is_long && !may_start_long(shape)) return;
  }
  for (const auto& [shape, tasks] : job.waiting) {
    for (const auto& [index, slot] : tasks) {
      const TaskRow& task = view_.state.task(slot);
      if (const auto on = room_.best_fit(shape, rule_for(task))) {
        room_.take(*on, shape);
        if (job.key.is_long) count_long(shape);
        put(task, *on);
        continue;
      }
      for (; plan_.places.size() > before; plan_.places.pop_back()) {
        const Place& place = plan_.places.back();
        const TaskRow& given_back = *view_.state.find(place.task);
        const InstanceId from = std::get<InstanceId>(place.to);
        room_.give_back(from, given_back.shape);
        peers_.remove(from.value, apart_of(row));
        placed_.erase(given_back.slot);
      }
      held_by_long_ = held_before;
      promised_to_long_ = promised_before;
      if (job.waiting.size() == 1 && !keeps_apart(row)) too_many_[shape] = tasks.size();
      return;
    }
  }
}

bool FleetRound::may_fit(const FleetQueue::Job& gang) const {
  return std::none_of(gang.waiting.begin(), gang.waiting.end(), [&](const auto& alike) {
    const auto known = too_many_.find(alike.first);
    return known != too_many_.end() && alike.second.size() >= known->second;
  });
}

/// Tasks that have come to wait since the last round and still do are told why, once.
void FleetRound::tell() {
  for (TaskId id : memory_.fresh()) {
    const TaskRow& row = *view_.state.find(id);
    if (placed_.contains(row.slot)) continue;
    const Refusal reason = reason_for(row, *queue_.find(view_.state.job(row.job).job.id));
    // Compared by code alone: the amounts change with every task that starts or ends.
    if (row.reason.code != reason.code) plan_.refusals.push_back({id, reason});
  }
}

/// The reason is equal for all tasks of a list, and for all of a gang.
Refusal FleetRound::reason_for(const TaskRow& row, const FleetQueue::Job& job) {
  const auto [alone, is_new] = reasons_.try_emplace(FleetList{job.key.is_long, false, row.shape});
  if (is_new) alone->second = reason_alone(row, job.key.is_long);
  if (!job.gang || alone->second.code != RefusalCode::awaiting_capacity) return alone->second;
  return reason_for_gang(job);
}

/// No instance of the fleet is large enough, or none has enough left, or long tasks hold all that
/// they may: the first resource of which it is so; the one needed most when each is there somewhere
/// but not together.
Refusal FleetRound::reason_alone(const TaskRow& row, bool is_long) const {
  if (!room_.ever_holds(row.shape)) {
    // A fleet that has only instances of the other market has nothing for the job, and gets
    // nothing.
    if (room_.types().types(room_.market()).empty() && !view_.state.instances().empty()) {
      return {RefusalKind::never, RefusalCode::wrong_market, {}, 1, 0};
    }
    Refusal refusal = reservation_price(view_.state.shape(row.shape), view_.catalog).refusal;
    if (refusal.kind == RefusalKind::never) return refusal;
    // The task's constraint bars all types that the fleet has; a fleet of which nothing is there
    // has no type.
    const Constraint& constraint = view_.state.shape(row.shape).constraint;
    const std::vector<TypeId>& types = room_.types().types(room_.market());
    const bool barred = !types.empty() && std::ranges::none_of(types, [&](TypeId type) {
      return constraint.admits(view_.catalog[type]);
    });
    if (barred) return {RefusalKind::not_now, RefusalCode::constraint, {}, 0, 0};
    refusal = room_.types().why_never(room_.market(), view_.state.shape(row.shape));
    return {RefusalKind::not_now, RefusalCode::fixed_fleet, refusal.binding, refusal.asked,
            refusal.available};
  }
  const Resources& asked = room_.least(row.shape);
  const bool at_share = is_long && !may_start_long(row.shape);
  const Resources held =
      (has_share(row.shape, held_by_long_) ? promised_to_long_ : held_by_long_).value();
  const Resources left = at_share ? long_share_ - held : room_.max_free();
  const Resource binding =
      asked.first_exceeding(left).value_or(asked.dominant(room_.types().reference()));
  return {RefusalKind::not_now, RefusalCode::awaiting_capacity, binding, asked[binding],
          std::max(0.0, left[binding])};
}

/// A gang may spread over all instances: its demand in all, and the rest of all. Put together once:
/// all of its tasks are told it.
const Refusal& FleetRound::reason_for_gang(const FleetQueue::Job& job) {
  const auto [known, is_new] = gang_reasons_.try_emplace(job.key.job, awaits_room());
  Refusal& refusal = known->second;
  if (!is_new) return refusal;
  Resources asked;
  for (const auto& [shape, tasks] : job.waiting) {
    for (const Resource kind : kAllResources) {
      asked[kind] += room_.least(shape)[kind] * static_cast<double>(tasks.size());
    }
  }
  if (!all_free_) all_free_ = room_.all_free(view_.state);
  if (const auto binding = asked.first_exceeding(*all_free_)) {
    refusal.binding = binding;
    refusal.asked = asked[*binding];
    refusal.available = (*all_free_)[*binding];
  }
  return refusal;
}

}  // namespace muster::own
