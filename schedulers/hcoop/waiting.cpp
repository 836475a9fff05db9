#include "schedulers/hcoop/waiting.hpp"

#include <algorithm>

#include "model/kept_room.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::hcoop {
namespace {

// An Order has three parts, the first deciding: whether the task was interrupted, its job's
// priority, and the number of its arrival, below kPlaces. Begins of all priorities are multiples of
// kPlaces, so that a division takes an Order apart. At 1,000 a second 2^40 arrivals take decades.
// kInterrupted and kOthers are where tasks of priority 0 begin; the assertion keeps their ranges
// apart, and no Order is 0, which stands for "does not wait".
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
  // A gang of one waits for no other task and may be packed like any task.
  return job.gang && job.tasks.size() > 1;
}

/// Which task's interruptions count for it.
TaskId unit_of(const ClusterState& state, const TaskRow& row) {
  // Interruptions of a gang count at its first task: one that loses an instance stops all.
  const Job& job = state.job(row.job).job;
  return is_gang(job) ? job.tasks.front().id : row.id;
}

}  // namespace

/// Every task of the state has its record, in the order of the jobs; no task waits yet.
void WaitingTasks::reset(const ClusterState& state, const FeasibleTypes& feasible_types) {
  std::map<TaskId, std::uint32_t> interruptions = std::move(interruptions_);
  *this = WaitingTasks(params_);
  interruptions_ = std::move(interruptions);
  for (std::size_t i = 0; i < kQueues; ++i) {
    const Market market = market_of(static_cast<QueueKind>(i));
    singles_[i] = ComplementaryIndex(feasible_types.limits(market), feasible_types.reference());
  }
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) record_of(state, state.task(slot));
  }
}

void WaitingTasks::rebuild(const ClusterState& state, const FeasibleTypes& feasible_types) {
  reset(state, feasible_types);
  // Those that wait first and in the state's order, which numbers their arrivals; the second loop
  // finds them known and adds where the others are.
  for (const TaskRow& row : state.pending()) follow(state, feasible_types, row.slot);
  for (const JobRow& job : state.jobs()) {
    for (Slot slot : job.tasks) follow(state, feasible_types, slot);
  }
}

bool WaitingTasks::known_to_wait(const TaskRow& row) const {
  return row.slot < records_.size() && records_[row.slot].task == row.id &&
         records_[row.slot].order != 0;
}

PlacementUnitId WaitingTasks::gang_of(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? kNoPlacementUnit : found->second.gang;
}

InstanceId WaitingTasks::planned_at(const TaskRow& row) const {
  if (row.slot >= records_.size() || records_[row.slot].task != row.id) return {};
  return records_[row.slot].planned;
}

void WaitingTasks::note_interruption(const ClusterState& state, const TaskRow& row) {
  ++interruptions_[unit_of(state, row)];
}

WaitingTasks::Record& WaitingTasks::record_of(const ClusterState& state, const TaskRow& row) {
  if (row.slot >= records_.size()) records_.resize(row.slot + std::size_t{1});
  Record& record = records_[row.slot];
  // Slots are used again: another id means another task, and the record starts anew.
  if (record.task == row.id) return record;
  record = {};
  record.task = row.id;
  record.shape = row.shape;
  record.phase = row.phase;
  record.apart = muster::apart_of(state.job(row.job));
  jobs_[state.job(row.job).job.id].slots.push_back(row.slot);
  return record;
}

std::array<InstanceId, 2> WaitingTasks::follow(const ClusterState& state,
                                               const FeasibleTypes& feasible_types, Slot slot) {
  const TaskRow& row = state.task(slot);
  Record& record = record_of(state, row);
  const JobRow& job = state.job(row.job);
  if (std::exchange(record.phase, row.phase) != row.phase && is_gang(job.job)) {
    // Whether the gang may have a place depends on all of its tasks.
    const PlacementUnitId gang = jobs_.at(job.job.id).gang;
    if (gang != kNoPlacementUnit) dissolve(gang, feasible_types);
  }
  const bool pending = row.phase == TaskPhase::pending;
  if (pending && record.order == 0) begin_waiting(state, row);
  if (record.waits && (!pending || job.terminal_outcome)) stop_waiting(slot, feasible_types);
  if (!pending) record.order = 0;
  const auto id_of = [&](Slot on) { return on == kNoSlot ? InstanceId{} : state.instance(on).id; };
  return {std::exchange(record.planned, id_of(row.target)),
          std::exchange(record.at, id_of(row.at))};
}

void WaitingTasks::begin_waiting(const ClusterState& state, const TaskRow& row) {
  Record& record = records_[row.slot];
  // Interrupted once is enough for the front of the queue; how often decides on the market.
  const bool first = interruptions_.contains(unit_of(state, row));
  record.order = begin_of(queue_place_of(state.job(row.job)).priority, first) + next_order_++;
  record.waits = true;
  ++waiting_;
  arrivals_.push_back(row.slot);
}

void WaitingTasks::stop_waiting(Slot slot, const FeasibleTypes& feasible_types) {
  // Dissolving lists the unit's other tasks as arrivals, which this one no longer is.
  records_[slot].waits = false;
  --waiting_;
  if (records_[slot].unit != kNoPlacementUnit) dissolve(records_[slot].unit, feasible_types);
  if (waiting_ == 0) arrivals_.clear();
}

std::vector<InstanceId> WaitingTasks::forget(JobId job, const FeasibleTypes& feasible_types) {
  std::vector<InstanceId> left;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return left;
  for (Slot slot : found->second.slots) {
    Record& record = records_[slot];
    if (record.waits) stop_waiting(slot, feasible_types);
    for (InstanceId id : {record.planned, record.at}) {
      if (id.valid()) left.push_back(id);
    }
    // Counts end with the job: task ids are never used again.
    interruptions_.erase(record.task);
    record = {};
  }
  jobs_.erase(found);
  return left;
}

/// Its tasks that still wait are packed anew.
void WaitingTasks::dissolve(PlacementUnitId id, const FeasibleTypes& feasible_types) {
  for (Slot slot : units_[id].tasks) {
    Record& record = records_[slot];
    if (record.indexed) singles_[number(record.queue)].erase(packable_of(slot, feasible_types));
    record.indexed = false;
    if (record.waits) arrivals_.push_back(slot);
  }
  remove_unit(id);
}

void WaitingTasks::remove_unit(PlacementUnitId id) {
  PlacementUnit& unit = units_[id];
  if (unit.gang.valid()) jobs_.at(unit.gang).gang = kNoPlacementUnit;
  if (unit.queued) queues_[number(unit.queue)].erase(unit.order);
  for (Slot slot : unit.tasks) records_[slot].unit = kNoPlacementUnit;
  unit = {};
  free_units_.push_back(id);
}

PlacementUnitId WaitingTasks::new_unit(std::vector<Slot> tasks, QueueKind queue) {
  // Ids of removed units are used again, as a dense index into units_.
  PlacementUnitId id = 0;
  if (free_units_.empty()) {
    id = static_cast<PlacementUnitId>(units_.size());
    units_.emplace_back();
  } else {
    id = free_units_.back();
    free_units_.pop_back();
  }
  std::sort(tasks.begin(), tasks.end(),
            [this](Slot a, Slot b) { return records_[a].order < records_[b].order; });
  PlacementUnit& unit = units_[id];
  unit.order = records_[tasks.front()].order;
  // The unit stands where the first of its tasks would.
  unit.queue = queue;
  unit.may_fall_back = true;
  for (Slot slot : tasks) {
    records_[slot].unit = id;
    unit.may_fall_back &= records_[slot].may_fall_back;
  }
  unit.tasks = std::move(tasks);
  return id;
}

PlacementUnitId WaitingTasks::new_gang(std::vector<Slot> tasks, QueueKind queue, JobId job) {
  const PlacementUnitId id = new_unit(std::move(tasks), queue);
  PlacementUnit& gang = units_[id];
  gang.gang = job;
  jobs_.at(job).gang = id;
  // One interrupted task brings all to the front, in the order in which they came to wait.
  const auto arrival = [this](Slot slot) { return records_[slot].order % kPlaces; };
  std::sort(gang.tasks.begin(), gang.tasks.end(),
            [&](Slot a, Slot b) { return arrival(a) < arrival(b); });
  // The band of its foremost task, the arrival of its earliest one.
  gang.order = gang.order / kPlaces * kPlaces + arrival(gang.tasks.front());
  return id;
}

void WaitingTasks::enqueue(PlacementUnitId id, const FeasibleTypes& feasible_types) {
  PlacementUnit& unit = units_[id];
  unit.queued = true;
  Resources least = feasible_types.least(records_[unit.tasks.front()].shape);
  // For several tasks the least of each kind of resource: `next` must not pass over a unit of which
  // one task alone would fit.
  for (Slot slot : unit.tasks) least = least_of(least, feasible_types.least(records_[slot].shape));
  queues_[number(unit.queue)].insert(unit.order, {id, least});
}

/// The waiting tasks that are part of no unit, in the order of the queue. follow() may have listed
/// one more than once, and some that wait no longer.
std::vector<Slot> WaitingTasks::take_arrivals() {
  std::vector<Slot> tasks = std::exchange(arrivals_, {});
  std::erase_if(tasks, [this](Slot slot) {
    return !records_[slot].waits || records_[slot].unit != kNoPlacementUnit;
  });
  std::sort(tasks.begin(), tasks.end(),
            [this](Slot a, Slot b) { return records_[a].order < records_[b].order; });
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

WaitingTasks::Fresh WaitingTasks::pack(const ClusterState& state,
                                       const FeasibleTypes& feasible_types) {
  Fresh fresh;
  if (arrivals_.empty() || !feasible_types.any()) return fresh;
  std::array<std::vector<Slot>, kQueues> alone;
  for (Slot slot : take_arrivals()) {
    const JobRow& job = state.job(state.task(slot).job);
    if (records_[slot].unit != kNoPlacementUnit) continue;  // its gang has been gathered
    if (is_gang(job.job)) {
      // Asked again at the next round: its tasks elsewhere have still to leave.
      if (!gather_gang(state, feasible_types, job, fresh)) arrivals_.push_back(slot);
    } else if (auto never = classify(state, feasible_types, slot)) {
      fresh.refusals.push_back({records_[slot].task, *never});
    } else {
      alone[number(records_[slot].queue)].push_back(slot);
    }
  }
  for (std::size_t i = 0; i < kQueues; ++i) {
    std::vector<PlacementUnitId>& units = fresh.units[i];
    pack_queue(static_cast<QueueKind>(i), alone[i], feasible_types, units);
    std::sort(units.begin(), units.end(), [this](PlacementUnitId a, PlacementUnitId b) {
      return units_[a].order < units_[b].order;
    });
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
                              const FeasibleTypes& feasible_types) const {
  const Job& job = state.job(row.job).job;
  const MarketChoice markets = state.markets(row);
  if (markets != MarketChoice::any) return markets == MarketChoice::spot;
  if (is_long(job) || !job.prediction.spot_safe) return false;
  const auto known = interruptions_.find(unit_of(state, row));
  const std::uint32_t seen = known == interruptions_.end() ? 0 : known->second;
  return seen < params_.max_interruptions && feasible_types.hold(Market::spot, {&row.shape, 1});
}

/// Finds the task's queue; why nothing can ever hold it, if so.
std::optional<Refusal> WaitingTasks::classify(const ClusterState& state,
                                              const FeasibleTypes& feasible_types, Slot slot) {
  const TaskRow& row = state.task(slot);
  const Job& job = state.job(row.job).job;
  Record& record = records_[slot];
  record.queue = queue_of(is_long(job), wants_spot(state, row, feasible_types));
  const Market market = market_of(record.queue);
  record.may_fall_back = params_.on_demand_fallback && market == Market::spot &&
                         job.markets == MarketChoice::any &&
                         feasible_types.hold(Market::on_demand, {&row.shape, 1});
  if (feasible_types.hold(market, {&row.shape, 1})) return std::nullopt;
  return feasible_types.why_never(market, state.shape(row.shape));
}

/// Makes an entity of all the gang's waiting tasks. False when the others have still to leave where
/// they are.
bool WaitingTasks::gather_gang(const ClusterState& state, const FeasibleTypes& feasible_types,
                               const JobRow& job, Fresh& fresh) {
  if (job.pending + job.withheld() + job.ended() < job.tasks.size()) return false;
  std::vector<Slot> tasks;
  bool spot = true;
  for (Slot slot : job.tasks) {
    if (!records_[slot].waits) continue;
    tasks.push_back(slot);
    // One task that fits nothing refuses the whole gang: the others would wait for it for ever.
    if (auto never = classify(state, feasible_types, slot)) {
      fresh.refusals.push_back({records_[slot].task, *never});
      return true;
    }
    spot &= market_of(records_[slot].queue) == Market::spot;
  }
  const QueueKind queue = queue_of(is_long(job.job), spot);
  const PlacementUnitId id = new_gang(std::move(tasks), queue, job.job.id);
  fresh.units[number(queue)].push_back(id);
  return true;
}

Packable WaitingTasks::packable_of(Slot slot, const FeasibleTypes& feasible_types) const {
  const Record& record = records_[slot];
  return packable(feasible_types.least(record.shape), feasible_types.reference(), record.order,
                  slot);
}

void WaitingTasks::pack_queue(QueueKind queue, const std::vector<Slot>& tasks,
                              const FeasibleTypes& feasible_types,
                              std::vector<PlacementUnitId>& fresh) {
  if (params_.group <= 1) {
    for (Slot slot : tasks) fresh.push_back(new_unit({slot}, queue));
    return;
  }
  std::vector<Packable> candidates;
  for (Slot slot : tasks) {
    candidates.push_back(packable_of(slot, feasible_types));
    singles_[number(queue)].insert(candidates.back());
    records_[slot].indexed = true;
  }
  const FitsWith fits = [&](std::span<const Packable> group, const Packable& one) {
    std::array<ShapeId, kMaxGroup> shapes;
    const Apart own = records_[one.handle].apart;
    std::uint32_t peers = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Record& other = records_[group[i].handle];
      peers += other.apart == own;
      shapes[i] = other.shape;
    }
    if (own && peers >= own.most) return false;
    shapes[group.size()] = records_[one.handle].shape;
    // All of a pack go to one market, that of their queue.
    return feasible_types.hold(market_of(queue), {shapes.data(), group.size() + 1});
  };
  for (const std::vector<Packable>& group : groups_of(queue, std::move(candidates), fits)) {
    std::vector<Slot> slots;
    std::vector<Resources> shares;
    for (const Packable& one : group) {
      Record& record = records_[one.handle];
      if (record.unit != kNoPlacementUnit) remove_unit(record.unit);  // it waited alone
      record.indexed = group.size() == 1;
      // Tasks without a companion are companions for those that come later.
      slots.push_back(one.handle);
      shares.push_back(one.share);
    }
    fresh.push_back(new_unit(std::move(slots), queue));
    units_[fresh.back()].deviation = deviation(shares);
  }
}

std::vector<std::vector<Packable>> WaitingTasks::groups_of(QueueKind queue,
                                                           std::vector<Packable> tasks,
                                                           const FitsWith& fits) {
  ComplementaryIndex& index = singles_[number(queue)];
  if (params_.pairing == Pairing::greedy) {
    return pack_greedily(tasks, params_.group, fits, index);
  }
  // Matching is cubic: the first ones are matched, the others packed greedily with what is left.
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
