#include "schedulers/hcoop/waiting.hpp"

#include <algorithm>

namespace muster::hcoop {
namespace {

// A place in a queue is a number in the order of arrival, below kPlaces, and before it what goes
// before that: whether the task was interrupted, then its job's priority. Tasks of priority 0 begin
// at one of the first two.
constexpr Order kPlaces = Order{1} << 40;
constexpr Order kInterrupted = Order{1} << 61;
constexpr Order kOthers = Order{1} << 62;
constexpr int kMostPriority = 1'000'000;  // larger and smaller ones than requests have count as it
static_assert(kPlaces * kMostPriority < (kOthers - kInterrupted) / 2);

constexpr Order begin_of(int priority, bool interrupted) {
  const int raised = std::clamp(priority, -kMostPriority, kMostPriority) + kMostPriority;
  const Order first = (interrupted ? kInterrupted : kOthers) + kPlaces * kMostPriority;
  return first - kPlaces * static_cast<Order>(raised);
}

constexpr std::size_t number(QueueKind queue) {
  return static_cast<std::size_t>(queue);
}

constexpr QueueKind queue_of(bool is_long, bool spot) {
  if (is_long) return spot ? QueueKind::long_spot : QueueKind::long_regular;
  return spot ? QueueKind::short_spot : QueueKind::short_regular;
}

bool is_gang(const Job& job) {
  return job.gang && job.tasks.size() > 1;
}

}  // namespace

/// Every task of the state has its record, in the order of the jobs; none waits yet.
void WaitingTasks::reset(const ClusterState& state, const Offers& offers) {
  std::map<TaskId, std::uint32_t> interruptions = std::move(interruptions_);
  *this = WaitingTasks(params_);
  interruptions_ = std::move(interruptions);
  for (std::size_t i = 0; i < kQueues; ++i) {
    const Market market = market_of(static_cast<QueueKind>(i));
    singles_[i] = ComplementaryIndex(offers.limits(market), offers.reference());
  }
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) record_of(state, state.task(slot));
  }
}

void WaitingTasks::rebuild(const ClusterState& state, const Offers& offers) {
  reset(state, offers);
  for (const TaskRow& row : state.pending()) follow(state, offers, row.slot);
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) follow(state, offers, slot);
  }
}

bool WaitingTasks::known_to_wait(const TaskRow& row) const {
  return row.slot < records_.size() && records_[row.slot].task == row.id &&
         records_[row.slot].order != 0;
}

EntityId WaitingTasks::gang_of(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? kNoEntity : found->second.gang;
}

InstanceId WaitingTasks::planned_at(const TaskRow& row) const {
  if (row.slot >= records_.size() || records_[row.slot].task != row.id) return {};
  return records_[row.slot].planned;
}

TaskId WaitingTasks::unit_of(const ClusterState& state, const TaskRow& row) {
  const Job& job = state.job(row.job).job;
  return is_gang(job) ? job.tasks.front().id : row.id;
}

void WaitingTasks::note_interruption(const ClusterState& state, const TaskRow& row) {
  ++interruptions_[unit_of(state, row)];
}

WaitingTasks::Record& WaitingTasks::record_of(const ClusterState& state, const TaskRow& row) {
  if (row.slot >= records_.size()) records_.resize(row.slot + std::size_t{1});
  Record& record = records_[row.slot];
  if (record.task == row.id) return record;
  record = {};
  record.task = row.id;
  record.shape = row.shape;
  record.phase = row.phase;
  jobs_[state.job(row.job).job.id].slots.push_back(row.slot);
  return record;
}

std::array<InstanceId, 2> WaitingTasks::follow(const ClusterState& state, const Offers& offers,
                                               Slot slot) {
  const TaskRow& row = state.task(slot);
  Record& record = record_of(state, row);
  const JobRow& job = state.job(row.job);
  if (std::exchange(record.phase, row.phase) != row.phase && is_gang(job.job)) {
    // Whether the gang may have a place depends on all of its tasks.
    const EntityId gang = jobs_.at(job.job.id).gang;
    if (gang != kNoEntity) dissolve(gang, offers);
  }
  const bool pending = row.phase == TaskPhase::pending;
  if (pending && record.order == 0) begin_waiting(state, row);
  if (record.waits && (!pending || job.given_up)) stop_waiting(slot, offers);
  if (!pending) record.order = 0;
  const auto id_of = [&](Slot on) { return on == kNoSlot ? InstanceId{} : state.instance(on).id; };
  return {std::exchange(record.planned, id_of(row.target)),
          std::exchange(record.at, id_of(row.at))};
}

void WaitingTasks::begin_waiting(const ClusterState& state, const TaskRow& row) {
  Record& record = records_[row.slot];
  const bool first = interruptions_.contains(unit_of(state, row));
  record.order = begin_of(state.job(row.job).job.priority, first) + next_order_++;
  record.waits = true;
  ++waiting_;
  arrivals_.push_back(row.slot);
}

void WaitingTasks::stop_waiting(Slot slot, const Offers& offers) {
  records_[slot].waits = false;
  --waiting_;
  if (records_[slot].entity != kNoEntity) dissolve(records_[slot].entity, offers);
  if (waiting_ == 0) arrivals_.clear();
}

std::vector<InstanceId> WaitingTasks::forget(JobId job, const Offers& offers) {
  std::vector<InstanceId> left;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return left;
  for (Slot slot : found->second.slots) {
    Record& record = records_[slot];
    if (record.waits) stop_waiting(slot, offers);
    for (InstanceId id : {record.planned, record.at}) {
      if (id.valid()) left.push_back(id);
    }
    interruptions_.erase(record.task);
    record = {};
  }
  jobs_.erase(found);
  return left;
}

/// Its tasks that still wait are packed anew.
void WaitingTasks::dissolve(EntityId id, const Offers& offers) {
  for (Slot slot : entities_[id].tasks) {
    Record& record = records_[slot];
    if (record.indexed) singles_[number(record.queue)].erase(packable_of(slot, offers));
    record.indexed = false;
    if (record.waits) arrivals_.push_back(slot);
  }
  remove_entity(id);
}

void WaitingTasks::remove_entity(EntityId id) {
  Entity& entity = entities_[id];
  if (entity.gang.valid()) jobs_.at(entity.gang).gang = kNoEntity;
  if (entity.queued) queues_[number(entity.queue)].erase(entity.order);
  for (Slot slot : entity.tasks) records_[slot].entity = kNoEntity;
  entity = {};
  free_entities_.push_back(id);
}

EntityId WaitingTasks::new_entity(std::vector<Slot> tasks, QueueKind queue) {
  EntityId id = 0;
  if (free_entities_.empty()) {
    id = static_cast<EntityId>(entities_.size());
    entities_.emplace_back();
  } else {
    id = free_entities_.back();
    free_entities_.pop_back();
  }
  std::sort(tasks.begin(), tasks.end(),
            [this](Slot a, Slot b) { return records_[a].order < records_[b].order; });
  Entity& entity = entities_[id];
  entity.order = records_[tasks.front()].order;
  entity.queue = queue;
  entity.may_spill = true;
  for (Slot slot : tasks) {
    records_[slot].entity = id;
    entity.may_spill &= records_[slot].may_spill;
  }
  entity.tasks = std::move(tasks);
  return id;
}

EntityId WaitingTasks::new_gang(std::vector<Slot> tasks, QueueKind queue, JobId job) {
  const EntityId id = new_entity(std::move(tasks), queue);
  Entity& gang = entities_[id];
  gang.gang = job;
  jobs_.at(job).gang = id;
  // One interrupted task brings all to the front, in the order in which they came to wait.
  const auto arrival = [this](Slot slot) { return records_[slot].order % kPlaces; };
  std::sort(gang.tasks.begin(), gang.tasks.end(),
            [&](Slot a, Slot b) { return arrival(a) < arrival(b); });
  gang.order = gang.order / kPlaces * kPlaces + arrival(gang.tasks.front());
  return id;
}

void WaitingTasks::enqueue(EntityId id, const Offers& offers) {
  Entity& entity = entities_[id];
  entity.queued = true;
  Resources least = offers.least(records_[entity.tasks.front()].shape);
  for (Slot slot : entity.tasks) least = least_of(least, offers.least(records_[slot].shape));
  queues_[number(entity.queue)].insert(entity.order, {id, least});
}

/// What waits without being part of an entity, in the order of the queue.
std::vector<Slot> WaitingTasks::take_arrivals() {
  std::vector<Slot> tasks = std::exchange(arrivals_, {});
  std::erase_if(tasks, [this](Slot slot) {
    return !records_[slot].waits || records_[slot].entity != kNoEntity;
  });
  std::sort(tasks.begin(), tasks.end(),
            [this](Slot a, Slot b) { return records_[a].order < records_[b].order; });
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

WaitingTasks::Fresh WaitingTasks::pack(const ClusterState& state, const Offers& offers) {
  Fresh fresh;
  if (arrivals_.empty() || !offers.any()) return fresh;
  std::array<std::vector<Slot>, kQueues> alone;
  for (Slot slot : take_arrivals()) {
    const JobRow& job = state.job(state.task(slot).job);
    if (records_[slot].entity != kNoEntity) continue;  // its gang has been gathered
    if (is_gang(job.job)) {
      if (!gather_gang(state, offers, job, fresh)) arrivals_.push_back(slot);
    } else if (auto never = classify(state, offers, slot)) {
      fresh.refusals.push_back({records_[slot].task, *never});
    } else {
      alone[number(records_[slot].queue)].push_back(slot);
    }
  }
  for (std::size_t i = 0; i < kQueues; ++i) {
    std::vector<EntityId>& entities = fresh.entities[i];
    pack_queue(static_cast<QueueKind>(i), alone[i], offers, entities);
    std::sort(entities.begin(), entities.end(),
              [this](EntityId a, EntityId b) { return entities_[a].order < entities_[b].order; });
  }
  return fresh;
}

bool WaitingTasks::is_long(const Job& job) const {
  if (job.prediction.length != JobLength::unknown)
    return job.prediction.length == JobLength::long_run;
  return !job.runtime_hint || *job.runtime_hint > params_.threshold;
}

/// Algorithm 2: tasks of short jobs that are expected to keep their goal there; and whatever its
/// user wants to be there.
bool WaitingTasks::wants_spot(const ClusterState& state, const TaskRow& row,
                              const Offers& offers) const {
  const Job& job = state.job(row.job).job;
  if (job.markets != MarketChoice::any) return job.markets == MarketChoice::spot;
  if (is_long(job) || !job.prediction.spot_safe) return false;
  const auto known = interruptions_.find(unit_of(state, row));
  const std::uint32_t seen = known == interruptions_.end() ? 0 : known->second;
  return seen < params_.max_interruptions && offers.hold(Market::spot, {&row.shape, 1});
}

/// Finds the task's queue; why nothing can ever hold it, if so.
std::optional<Refusal> WaitingTasks::classify(const ClusterState& state, const Offers& offers,
                                              Slot slot) {
  const TaskRow& row = state.task(slot);
  const Job& job = state.job(row.job).job;
  Record& record = records_[slot];
  record.queue = queue_of(is_long(job), wants_spot(state, row, offers));
  const Market market = market_of(record.queue);
  record.may_spill = params_.spill && market == Market::spot && job.markets == MarketChoice::any &&
                     offers.hold(Market::on_demand, {&row.shape, 1});
  if (offers.hold(market, {&row.shape, 1})) return std::nullopt;
  return offers.why_never(market, state.shape(row.shape));
}

/// Makes an entity of all the gang's waiting tasks. False when the others have still to leave where
/// they are.
bool WaitingTasks::gather_gang(const ClusterState& state, const Offers& offers, const JobRow& job,
                               Fresh& fresh) {
  if (job.pending + job.held + job.ended() < job.tasks.size()) return false;
  std::vector<Slot> tasks;
  bool spot = true;
  for (Slot slot : job.tasks) {
    if (!records_[slot].waits) continue;
    tasks.push_back(slot);
    if (auto never = classify(state, offers, slot)) {
      fresh.refusals.push_back({records_[slot].task, *never});
      return true;
    }
    spot &= market_of(records_[slot].queue) == Market::spot;
  }
  const QueueKind queue = queue_of(is_long(job.job), spot);
  const EntityId id = new_gang(std::move(tasks), queue, job.job.id);
  fresh.entities[number(queue)].push_back(id);
  return true;
}

Packable WaitingTasks::packable_of(Slot slot, const Offers& offers) const {
  const Record& record = records_[slot];
  return packable(offers.least(record.shape), offers.reference(), record.order, slot);
}

void WaitingTasks::pack_queue(QueueKind queue, const std::vector<Slot>& tasks, const Offers& offers,
                              std::vector<EntityId>& fresh) {
  if (params_.group <= 1) {
    for (Slot slot : tasks) fresh.push_back(new_entity({slot}, queue));
    return;
  }
  std::vector<Packable> candidates;
  for (Slot slot : tasks) {
    candidates.push_back(packable_of(slot, offers));
    singles_[number(queue)].insert(candidates.back());
    records_[slot].indexed = true;
  }
  const FitsWith fits = [&](std::span<const Packable> group, const Packable& one) {
    std::array<ShapeId, kMaxGroup> shapes;
    for (std::size_t i = 0; i < group.size(); ++i) shapes[i] = records_[group[i].handle].shape;
    shapes[group.size()] = records_[one.handle].shape;
    return offers.hold(market_of(queue), {shapes.data(), group.size() + 1});
  };
  for (const std::vector<Packable>& group : groups_of(queue, std::move(candidates), fits)) {
    std::vector<Slot> slots;
    std::vector<Resources> shares;
    for (const Packable& one : group) {
      Record& record = records_[one.handle];
      if (record.entity != kNoEntity) remove_entity(record.entity);  // it waited alone
      record.indexed = group.size() == 1;
      slots.push_back(one.handle);
      shares.push_back(one.share);
    }
    fresh.push_back(new_entity(std::move(slots), queue));
    entities_[fresh.back()].deviation = deviation(shares);
  }
}

std::vector<std::vector<Packable>> WaitingTasks::groups_of(QueueKind queue,
                                                           std::vector<Packable> tasks,
                                                           const FitsWith& fits) {
  ComplementaryIndex& index = singles_[number(queue)];
  if (params_.pairing == Pairing::greedy) {
    return pack_greedily(tasks, params_.group, fits, index);
  }
  const std::size_t count = std::min<std::size_t>(tasks.size(), params_.exact_tasks);
  std::vector<std::vector<Packable>> groups;
  std::vector<Packable> rest;
  for (std::vector<Packable>& group : pack_exactly(std::span(tasks).first(count), fits)) {
    if (group.size() == 1) {
      rest.push_back(group.front());
      continue;
    }
    for (const Packable& one : group) index.erase(one);
    groups.push_back(std::move(group));
  }
  rest.insert(rest.end(), tasks.begin() + static_cast<std::ptrdiff_t>(count), tasks.end());
  for (std::vector<Packable>& group : pack_greedily(rest, params_.group, fits, index)) {
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace muster::hcoop
