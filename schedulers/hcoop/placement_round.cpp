#include "schedulers/hcoop/placement_round.hpp"

#include <algorithm>
#include <limits>

#include "model/feasible.hpp"

// A round costs what is fresh and what may fit where room grew. All room that it takes is taken in
// free_capacity at once, so that later units see it, and given back by the policy when the plan is
// made.

namespace muster::hcoop {
namespace {

/// Units for which the cloud is asked again at a tick, at most: the bound of a tick's cost.
/// RetryMark goes on there at the next one, so that the end of a long queue gets its chance.
constexpr std::size_t kMaxRetries = 256;

constexpr Order kEnd = std::numeric_limits<Order>::max();

PlaceTarget target_of(InstanceId id) {
  if (id.value < kFirstPlanned) return id;
  return LaunchIndex{static_cast<std::uint32_t>(id.value - kFirstPlanned)};
}

}  // namespace

void PlacementRound::serve(const WaitingTasks::Fresh& fresh) {
  plan_.refusals = fresh.refusals;
  for (std::size_t i = 0; i < kQueues; ++i) {
    const auto queue = static_cast<QueueKind>(i);
    p_.params.backfill ? serve_queue(queue, fresh.units[i]) : serve_in_order(queue, fresh.units[i]);
  }
}

void PlacementRound::serve_turn(const WaitingTasks::Fresh& fresh, PlacementUnitId gang) {
  // All others wait out the turn, so that room gathers; their places in the queue stay.
  plan_.refusals = fresh.refusals;
  for (const std::vector<PlacementUnitId>& queue : fresh.units) {
    for (PlacementUnitId id : queue) {
      if (id != gang) keep_waiting(id);
    }
  }
  if (gang == kNoPlacementUnit || handle(gang, p_.view.rents())) return;
  if (!p_.waiting.unit(gang).queued) keep_waiting(gang);
}

/// The task is placed without what it would share an instance with: that stands back.
void PlacementRound::serve_alone(const WaitingTasks::Fresh& fresh, Slot task) {
  const PlacementUnitId id = p_.waiting.unit_with(task);
  plan_.refusals = fresh.refusals;
  for (const std::vector<PlacementUnitId>& queue : fresh.units) {
    for (PlacementUnitId other : queue) {
      if (other != id) keep_waiting(other);
    }
  }
  if (id == kNoPlacementUnit) return;
  PlacementUnit& unit = p_.waiting.unit(id);
  if (place_together(unit, {task}, p_.view.rents())) {
    unit.placed = true;
    placed_.push_back(id);
  } else if (!unit.queued) {
    keep_waiting(id);
  }
}

/// Serves waiting units that may fit, and fresh ones, in the order of the queue.
void PlacementRound::serve_queue(QueueKind queue, const std::vector<PlacementUnitId>& fresh) {
  const auto may = [&](const Resources& least) { return may_fit(queue, least); };
  const auto order_of = [&](PlacementUnitId id) { return p_.waiting.unit(id).order; };
  auto next_fresh = fresh.begin();
  for (Order from = 0;;) {
    const std::optional<PlacementUnitId> old = p_.waiting.next(queue, from, may);
    const Order old_at = old ? order_of(*old) : kEnd;
    const Order fresh_at = next_fresh != fresh.end() ? order_of(*next_fresh) : kEnd;
    if (old_at == kEnd && fresh_at == kEnd) return;
    const bool take_fresh = fresh_at < old_at;
    const PlacementUnitId id = take_fresh ? *next_fresh++ : *old;
    // Rises with every step: a unit is looked at once a round.
    from = std::min(old_at, fresh_at) + 1;
    if (!handle(id, may_ask(id)) && take_fresh) keep_waiting(id);
  }
}

/// Without backfill the first that does not fit ends the round of its queue.
void PlacementRound::serve_in_order(QueueKind queue, const std::vector<PlacementUnitId>& fresh) {
  const auto any = [](const Resources&) { return true; };
  for (PlacementUnitId id : fresh) p_.waiting.enqueue(id, p_.feasible_types);
  std::optional<PlacementUnitId> id = p_.waiting.next(queue, 0, any);
  while (id && handle(*id, may_ask(*id))) {
    id = p_.waiting.next(queue, p_.waiting.unit(*id).order + 1, any);
  }
  for (PlacementUnitId one : fresh) {
    if (!p_.waiting.unit(one).placed) keep_waiting(one);
  }
}

void PlacementRound::retry(RetryMark& mark) {
  const auto any = [](const Resources&) { return true; };
  std::size_t left = kMaxRetries;
  for (; mark.queue < kQueues; ++mark.queue, mark.from = 0) {
    while (const auto id = p_.waiting.next(static_cast<QueueKind>(mark.queue), mark.from, any)) {
      if (left-- == 0) return;
      mark.from = p_.waiting.unit(*id).order + 1;
      // A unit that backfill has placed in this round stands in the queue still.
      if (!p_.waiting.unit(*id).placed) handle(*id, true);
    }
  }
  mark = {};
}

bool PlacementRound::may_fit(QueueKind queue, const Resources& least) const {
  const Market market = market_of(queue);
  if (p_.free_capacity.may_have_grown(market, least)) return true;
  return p_.params.on_demand_fallback && market == Market::spot &&
         p_.free_capacity.may_have_grown(Market::on_demand, least);
}

bool PlacementRound::may_ask(PlacementUnitId id) const {
  return p_.view.rents() && !p_.waiting.unit(id).refused;
}

/// `ask`: instances may be launched for it.
bool PlacementRound::handle(PlacementUnitId id, bool ask) {
  PlacementUnit& unit = p_.waiting.unit(id);
  const bool gang = unit.gang.valid();
  // A gang that backs off asks for nothing, whole or in parts.
  if (gang && !p_.view.may_start(*p_.view.state.find(unit.gang))) return false;
  const bool whole = gang ? place_gang(unit, ask) : place_together(unit, unit.tasks, ask);
  if (!whole && (gang || !place_parts(unit, ask))) return false;
  if (whole && !gang && unit.tasks.size() > 1) {
    ++packs_;
    packed_tasks_ += unit.tasks.size();
    deviation_sum_ += unit.deviation;
  }
  unit.placed = true;
  placed_.push_back(id);
  return true;
}

/// Algorithm 2, lines 7 to 12. Spot tasks that may also be on regular instances go there when no
/// spot instance has room and no new one can be had.
bool PlacementRound::place_together(const PlacementUnit& unit, const std::vector<Slot>& tasks,
                                    bool ask) {
  // More of them than may be together, as in what an earlier version packed.
  if (!may_be_together(tasks, [this](Slot task) { return apart(task); })) return false;
  const Market first = market_of(unit.queue);
  if (join(first, tasks)) return true;
  const bool launch_regular = unit.may_fall_back && spot_is_short(tasks);
  if (ask && !launch_regular && launch(first, tasks)) return true;
  if (unit.may_fall_back && join(Market::on_demand, tasks)) return true;
  return ask && launch_regular && launch(Market::on_demand, tasks);
}

/// The cloud is why one of the tasks waits: it refused the instance that was asked for last.
bool PlacementRound::spot_is_short(const std::vector<Slot>& tasks) const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](Slot slot) { return is_of_cloud(p_.view.state.task(slot).reason.code); });
}

/// Places the tasks of a pack one by one when nothing holds them together. One place is enough:
/// once that task is assigned, WaitingTasks::dissolve() lets the others be packed anew.
bool PlacementRound::place_parts(const PlacementUnit& unit, bool ask) {
  if (unit.tasks.size() == 1) return false;
  bool any = false;
  for (Slot slot : unit.tasks) any |= place_together(unit, {slot}, ask);
  return any;
}

/// Places all of the gang's tasks or none. With `ask`, an instance is launched for a task that
/// joins none of the others, so that the undoing below is for rounds without launches and leaves no
/// launch behind.
bool PlacementRound::place_gang(const PlacementUnit& unit, bool ask) {
  const std::size_t before = plan_.places.size();
  for (Slot slot : unit.tasks) {
    if (place_together(unit, {slot}, ask)) continue;
    for (; plan_.places.size() > before; plan_.places.pop_back()) {
      const Place& place = plan_.places.back();
      const auto* on = std::get_if<InstanceId>(&place.to);
      const InstanceId id =
          on != nullptr ? *on : InstanceId{kFirstPlanned + std::get<LaunchIndex>(place.to).value};
      const TaskRow& row = *p_.view.state.find(place.task);
      p_.free_capacity.give_back(id, {&row.shape, 1}, p_.feasible_types);
      peers_.remove(id.value, apart(row.slot));
      // The room given back may hold shapes that found no room a moment ago.
      known_full_.clear();
    }
    return false;
  }
  return true;
}

std::vector<ShapeId> PlacementRound::shapes_of(const std::vector<Slot>& tasks) const {
  std::vector<ShapeId> shapes;
  shapes.reserve(tasks.size());
  for (Slot slot : tasks) shapes.push_back(p_.waiting.asks_of(slot).shape);
  return shapes;
}

bool PlacementRound::join(Market market, const std::vector<Slot>& tasks) {
  const std::vector<ShapeId> shapes = shapes_of(tasks);
  const std::vector<Slot> jobs = kept_apart(tasks);
  if (known_full_.contains({market, shapes, jobs})) return false;
  const std::optional<InstanceId> on =
      p_.free_capacity.best_fit(market, shapes, p_.feasible_types, rule_for(tasks, jobs));
  if (on) put(tasks, *on, CauseCode::best_fit);
  if (!on) known_full_.add({market, shapes, jobs});
  return on.has_value();
}

/// The jobs of those of the tasks that are kept apart.
std::vector<Slot> PlacementRound::kept_apart(const std::vector<Slot>& tasks) const {
  std::vector<Slot> jobs;
  for (Slot slot : tasks) {
    if (const Apart own = apart(slot)) jobs.push_back(own.job);
  }
  return jobs;
}

/// Instances that may have all the tasks beside their peers; no rule where no task is kept apart.
RoomRule PlacementRound::rule_for(const std::vector<Slot>& tasks,
                                  const std::vector<Slot>& jobs) const {
  if (jobs.empty()) return {};
  const auto may_join = [this, &tasks, &jobs](std::uint64_t instance) {
    const InstanceRow* on = p_.view.state.find(InstanceId{instance});
    return std::ranges::all_of(tasks, [&](Slot slot) {
      const Apart own = apart(slot);
      if (!own) return true;
      const auto beside = std::ranges::count(jobs, own.job) - 1;
      const auto more = peers_.count(instance, own) + static_cast<std::uint32_t>(beside);
      if (on == nullptr) return more < own.most;
      return may_share(p_.view.state, p_.view.state.task(slot), *on, more);
    });
  };
  return {jobs, may_join};
}

bool PlacementRound::launch(Market market, const std::vector<Slot>& tasks) {
  const std::optional<TypeId> type = p_.feasible_types.cheapest(market, shapes_of(tasks));
  if (!type) return false;
  const CauseCode cause = tasks.size() > 1 ? CauseCode::complementary : CauseCode::alone;
  // The launch is listed first: plan_launch() counts along and names it by its index.
  plan_.launches.push_back({*type, market, {cause, 0}});
  known_full_.clear();
  put(tasks, p_.free_capacity.plan_launch(*type, market, p_.feasible_types), CauseCode::alone);
  return true;
}

void PlacementRound::put(const std::vector<Slot>& tasks, InstanceId on, CauseCode alone) {
  p_.free_capacity.take(on, shapes_of(tasks), p_.feasible_types);
  const CauseCode cause = tasks.size() > 1 ? CauseCode::complementary : alone;
  for (Slot slot : tasks) {
    peers_.add(on.value, apart(slot));
    plan_.places.push_back({p_.view.state.task(slot).id, target_of(on), {cause, 0}});
  }
}

/// Queues the unit and gives its tasks their reason. Said when the unit is first looked at; a
/// reason stands until something changes, so that rounds without news add no events.
void PlacementRound::keep_waiting(PlacementUnitId id) {
  const PlacementUnit& unit = p_.waiting.unit(id);
  for (Slot slot : unit.tasks) {
    plan_.refusals.push_back({p_.view.state.task(slot).id, why_not_now(unit, slot)});
  }
  if (!unit.queued) p_.waiting.enqueue(id, p_.feasible_types);
}

/// The first resource of which no instance has enough left; the one needed most when each is there
/// somewhere but not together.
Refusal PlacementRound::why_not_now(const PlacementUnit& unit, Slot slot) const {
  const Resources& asked = p_.feasible_types.least(p_.waiting.asks_of(slot).shape);
  const Resources most = p_.free_capacity.max_free(market_of(unit.queue));
  const Resource binding =
      asked.first_exceeding(most).value_or(asked.dominant(p_.feasible_types.reference()));
  return {RefusalKind::not_now, RefusalCode::awaiting_capacity, binding, asked[binding],
          most[binding]};
}

void PlacementRound::release_idle() {
  for (const auto& [since, id] : p_.free_capacity.empty()) {
    // The list begins with the longest empty: all others are too young as well.
    if (since + p_.params.idle_release > p_.view.now) return;
    const InstanceRow* row = p_.view.state.find(id);
    if (p_.free_capacity.taken(id) || p_.view.is_owned(*row)) continue;
    plan_.releases.push_back({id, {CauseCode::empty, -row->price.usd_h()}});
  }
}

Plan PlacementRound::take_plan() {
  const auto number = [](std::size_t count) { return static_cast<double>(count); };
  const std::size_t tasks = plan_.places.size();
  plan_.note.choice = tasks == 0 ? "nothing" : packs_ > 0 ? "packed" : "alone";
  auto& figures = plan_.note.figures;
  if (tasks > 0) {
    figures.emplace_back("entities", number(placed_.size()));
    figures.emplace_back("tasks", number(tasks));
    figures.emplace_back("packed", number(packed_tasks_) / number(tasks));
  }
  if (packs_ > 0) figures.emplace_back("mean_DV", deviation_sum_ / number(packs_));
  // Tasks that the plan places count as waiting until its events come.
  figures.emplace_back("waiting", number(p_.waiting.size() - tasks));
  return std::move(plan_);
}

}  // namespace muster::hcoop
