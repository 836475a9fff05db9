#include "schedulers/hcoop/placing.hpp"

#include <algorithm>
#include <limits>

namespace muster::hcoop {
namespace {

/// Entities for which the cloud is asked again at a tick, at most.
constexpr std::size_t kMaxRetries = 256;

constexpr Order kEnd = std::numeric_limits<Order>::max();

PlaceTarget target_of(InstanceId id) {
  if (id.value < kFirstPlanned) return id;
  return LaunchIndex{static_cast<std::uint32_t>(id.value - kFirstPlanned)};
}

}  // namespace

void Placing::serve(const WaitingTasks::Fresh& fresh) {
  plan_.refusals = fresh.refusals;
  for (std::size_t i = 0; i < kQueues; ++i) {
    const auto queue = static_cast<QueueKind>(i);
    p_.params.backfill ? serve_queue(queue, fresh.entities[i])
                       : serve_in_order(queue, fresh.entities[i]);
  }
}

void Placing::serve_turn(const WaitingTasks::Fresh& fresh, EntityId gang) {
  plan_.refusals = fresh.refusals;
  for (const std::vector<EntityId>& queue : fresh.entities) {
    for (EntityId id : queue) {
      if (id != gang) keep_waiting(id);
    }
  }
  if (gang == kNoEntity || handle(gang, p_.view.rents())) return;
  if (!p_.waiting.entity(gang).queued) keep_waiting(gang);
}

/// What waits and may fit, and what is fresh, in the order of the queue.
void Placing::serve_queue(QueueKind queue, const std::vector<EntityId>& fresh) {
  const auto may = [&](const Resources& least) { return may_fit(queue, least); };
  const auto order_of = [&](EntityId id) { return p_.waiting.entity(id).order; };
  auto next_fresh = fresh.begin();
  for (Order from = 0;;) {
    const std::optional<EntityId> old = p_.waiting.next(queue, from, may);
    const Order old_at = old ? order_of(*old) : kEnd;
    const Order fresh_at = next_fresh != fresh.end() ? order_of(*next_fresh) : kEnd;
    if (old_at == kEnd && fresh_at == kEnd) return;
    const bool take_fresh = fresh_at < old_at;
    const EntityId id = take_fresh ? *next_fresh++ : *old;
    from = std::min(old_at, fresh_at) + 1;
    if (!handle(id, may_ask(id)) && take_fresh) keep_waiting(id);
  }
}

/// Without backfill the first that does not fit ends the round of its queue.
void Placing::serve_in_order(QueueKind queue, const std::vector<EntityId>& fresh) {
  const auto any = [](const Resources&) { return true; };
  for (EntityId id : fresh) p_.waiting.enqueue(id, p_.offers);
  std::optional<EntityId> id = p_.waiting.next(queue, 0, any);
  while (id && handle(*id, may_ask(*id))) {
    id = p_.waiting.next(queue, p_.waiting.entity(*id).order + 1, any);
  }
  for (EntityId one : fresh) {
    if (!p_.waiting.entity(one).placed) keep_waiting(one);
  }
}

void Placing::retry(RetryMark& mark) {
  const auto any = [](const Resources&) { return true; };
  std::size_t left = kMaxRetries;
  for (; mark.queue < kQueues; ++mark.queue, mark.from = 0) {
    while (const auto id = p_.waiting.next(static_cast<QueueKind>(mark.queue), mark.from, any)) {
      if (left-- == 0) return;
      mark.from = p_.waiting.entity(*id).order + 1;
      if (!p_.waiting.entity(*id).placed) handle(*id, true);
    }
  }
  mark = {};
}

bool Placing::may_fit(QueueKind queue, const Resources& least) const {
  const Market market = market_of(queue);
  if (p_.rooms.may_have_grown(market, least)) return true;
  return p_.params.spill && market == Market::spot &&
         p_.rooms.may_have_grown(Market::on_demand, least);
}

bool Placing::may_ask(EntityId id) const {
  return p_.view.rents() && !p_.waiting.entity(id).refused;
}

/// `ask`: instances may be launched for it.
bool Placing::handle(EntityId id, bool ask) {
  Entity& entity = p_.waiting.entity(id);
  const bool gang = entity.gang.valid();
  if (gang && !p_.view.may_start(*p_.view.state.find(entity.gang))) return false;
  const bool whole = gang ? place_gang(entity, ask) : place_together(entity, entity.tasks, ask);
  if (!whole && (gang || !place_parts(entity, ask))) return false;
  if (whole && !gang && entity.tasks.size() > 1) {
    ++packs_;
    packed_tasks_ += entity.tasks.size();
    deviation_sum_ += entity.deviation;
  }
  entity.placed = true;
  placed_.push_back(id);
  return true;
}

/// Algorithm 2, lines 7 to 12. Spot tasks that may also be on regular instances go there when no
/// spot instance has room and none is to be had.
bool Placing::place_together(const Entity& entity, const std::vector<Slot>& tasks, bool ask) {
  const Market first = market_of(entity.queue);
  if (join(first, tasks)) return true;
  const bool launch_regular = entity.may_spill && spot_is_short(tasks);
  if (ask && !launch_regular && launch(first, tasks)) return true;
  if (entity.may_spill && join(Market::on_demand, tasks)) return true;
  return ask && launch_regular && launch(Market::on_demand, tasks);
}

/// The last time the cloud refused an instance for one of the tasks.
bool Placing::spot_is_short(const std::vector<Slot>& tasks) const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](Slot slot) { return is_of_cloud(p_.view.state.task(slot).reason.code); });
}

/// What fits together nowhere, but in parts, is split.
bool Placing::place_parts(const Entity& entity, bool ask) {
  if (entity.tasks.size() == 1) return false;
  bool any = false;
  for (Slot slot : entity.tasks) any |= place_together(entity, {slot}, ask);
  return any;
}

/// All of the gang's tasks or none. Where instances can be launched none is left over.
bool Placing::place_gang(const Entity& entity, bool ask) {
  const std::size_t before = plan_.places.size();
  for (Slot slot : entity.tasks) {
    if (place_together(entity, {slot}, ask)) continue;
    for (; plan_.places.size() > before; plan_.places.pop_back()) {
      const Place& place = plan_.places.back();
      const auto* on = std::get_if<InstanceId>(&place.to);
      const InstanceId id =
          on != nullptr ? *on : InstanceId{kFirstPlanned + std::get<LaunchIndex>(place.to).value};
      const ShapeId shape = p_.view.state.find(place.task)->shape;
      p_.rooms.give_back(id, {&shape, 1}, p_.offers);
      no_room_.clear();
    }
    return false;
  }
  return true;
}

std::vector<ShapeId> Placing::shapes_of(const std::vector<Slot>& tasks) const {
  std::vector<ShapeId> shapes;
  shapes.reserve(tasks.size());
  for (Slot slot : tasks) shapes.push_back(p_.waiting.shape_of(slot));
  return shapes;
}

bool Placing::join(Market market, const std::vector<Slot>& tasks) {
  const std::vector<ShapeId> shapes = shapes_of(tasks);
  if (no_room_.contains(market, shapes)) return false;
  const std::optional<InstanceId> on = p_.rooms.best_fit(market, shapes, p_.offers);
  on ? put(tasks, *on, CauseCode::best_fit) : no_room_.add(market, shapes);
  return on.has_value();
}

bool Placing::launch(Market market, const std::vector<Slot>& tasks) {
  const std::optional<TypeId> type = p_.offers.cheapest(market, shapes_of(tasks));
  if (!type) return false;
  const CauseCode cause = tasks.size() > 1 ? CauseCode::complementary : CauseCode::alone;
  plan_.launches.push_back({*type, market, {cause, 0}});
  no_room_.clear();
  put(tasks, p_.rooms.plan_launch(*type, market, p_.offers), CauseCode::alone);
  return true;
}

void Placing::put(const std::vector<Slot>& tasks, InstanceId on, CauseCode alone) {
  p_.rooms.take(on, shapes_of(tasks), p_.offers);
  const CauseCode cause = tasks.size() > 1 ? CauseCode::complementary : alone;
  for (Slot slot : tasks) {
    plan_.places.push_back({p_.view.state.task(slot).id, target_of(on), {cause, 0}});
  }
}

/// It is told why once; as long as nothing changes, nothing else is to be said.
void Placing::keep_waiting(EntityId id) {
  const Entity& entity = p_.waiting.entity(id);
  for (Slot slot : entity.tasks) {
    plan_.refusals.push_back({p_.view.state.task(slot).id, why_not_now(entity, slot)});
  }
  if (!entity.queued) p_.waiting.enqueue(id, p_.offers);
}

/// The first resource of which no instance has enough left; the one needed most when each is there
/// somewhere but not together.
Refusal Placing::why_not_now(const Entity& entity, Slot slot) const {
  const Resources& asked = p_.offers.least(p_.waiting.shape_of(slot));
  const Resources most = p_.rooms.most_free(market_of(entity.queue));
  const Resource binding =
      asked.first_exceeding(most).value_or(asked.dominant(p_.offers.reference()));
  return {RefusalKind::not_now, RefusalCode::awaiting_room, binding, asked[binding], most[binding]};
}

void Placing::release_idle() {
  for (const auto& [since, id] : p_.rooms.empty()) {
    if (since + p_.params.idle_release > p_.view.now) return;
    const InstanceRow* row = p_.view.state.find(id);
    if (p_.rooms.taken(id)) continue;
    plan_.releases.push_back({id, {CauseCode::empty, -row->price.usd_h()}});
  }
}

Plan Placing::take_plan() {
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
  figures.emplace_back("waiting", number(p_.waiting.size() - tasks));
  return std::move(plan_);
}

}  // namespace muster::hcoop
