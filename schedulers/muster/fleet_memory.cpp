#include "schedulers/muster/fleet_memory.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/packing/rounds/named_in_event.hpp"
#include "schedulers/packing/rules.hpp"

// Derived facts (waiting tasks, free amounts, resources of long tasks) follow the tasks and
// instances that an event names; only facts that the state does not have are saved.

namespace muster::own {
namespace {

/// One instance in this many at most is kept for tasks that starve, and one at least: a kept
/// instance that empties does less work than the others.
constexpr std::size_t kKeptOneIn = 4;

/// The task that starts or stops by the event, which changes neither its place nor the queue.
TaskId attempt_in(const Event& event) {
  if (const auto* begun = std::get_if<StartIssued>(&event.body)) return begun->task;
  if (const auto* started = std::get_if<TaskStarted>(&event.body)) return started->task;
  if (const auto* stop = std::get_if<StopIssued>(&event.body)) return stop->task;
  return {};
}

}  // namespace

FleetMemory::FleetMemory(const FleetParams& params, const Catalog& catalog, Market market)
    : params_(params), queue_(params), room_(catalog, market) {}

bool FleetMemory::shows(const muster::Job& job) const {
  return (job.markets == MarketChoice::spot) == (room_.market() == Market::spot);
}

/// Services that another policy places are followed for the room that they take.
bool FleetMemory::follows(const JobRow& job, const ClusterView& view) const {
  return shows(job.job) || view.is_fixed(job);
}

Resources FleetMemory::long_share() const {
  Resources share = room_.capacity();
  for (Resource kind : kAllResources) share[kind] *= 1 - params_.reserve;
  return share;
}

void FleetMemory::rebuild(const ClusterView& view) {
  *this = FleetMemory(params_, view.catalog, room_.market());
  built_ = true;
  room_.rebuild(view);
  for (const JobRow& job : view.state.jobs()) {
    if (follows(job, view)) queue_.add(job, view.rank(job));
    for (Slot slot : job.tasks) follow_task(slot, view);
  }
}

void FleetMemory::observe(const Event& event, const ClusterView& view) {
  built_ ? follow(event, view) : rebuild(view);
  if (std::holds_alternative<RoundDecided>(event.body)) end_round(view);
}

void FleetMemory::follow(const Event& event, const ClusterView& view) {
  const ClusterState& state = view.state;
  if (const auto* over = std::get_if<JobFinished>(&event.body)) forget(over->job, view);
  pass_time(view, event.at);
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    const JobRow& row = *state.find(accepted->job.id);
    if (follows(row, view)) queue_.add(row, view.rank(row));
  }
  std::vector<Slot> changed = tasks_named_in(event, state);
  if (const TaskRow* row = state.find(attempt_in(event))) changed.push_back(row->slot);
  const InstanceId instance = instance_named_in(event);
  if (instance.valid()) {
    changed = tasks_on(instance);
    if (room_.follow(view, instance)) {
      // A job that was told that no instance is large enough may fit this one.
      for (const auto& [id, job] : queue_.jobs()) {
        for (Slot slot : job.tasks) {
          if (tasks_[slot].waits) fresh_.insert(tasks_[slot].id);
        }
      }
    }
  }
  if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    const JobRow& job = state.job(state.find(assigned->task)->job);
    if (shows(job.job) && !view.is_fixed(job)) queue_.note_start(job.job.id, event.at);
  }
  for (Slot slot : changed) follow_task(slot, view);
  if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    const TaskRow* row = state.find(finished->task);
    if (row == nullptr) return;
    const muster::Job& job = state.job(row->job).job;
    if (shows(job) && queue_.learn(state, job.id, event.at - row->started_at)) {
      // Its tasks count as long no more, and are watched.
      for (Slot peer : queue_.find(job.id)->tasks) follow_task(peer, view);
    }
  }
}

FleetMemory::Task& FleetMemory::task_of(const TaskRow& row) {
  if (row.slot >= tasks_.size()) tasks_.resize(row.slot + std::size_t{1});
  Task& task = tasks_[row.slot];
  // Slots are used again: another id means another task.
  if (task.id != row.id) {
    task = {};
    task.id = row.id;
  }
  return task;
}

/// An event of an instance names no task, but may take all of them their places.
std::vector<Slot> FleetMemory::tasks_on(InstanceId id) const {
  std::vector<Slot> slots;
  for (auto at = on_.lower_bound({id, 0}); at != on_.end() && at->first == id; ++at) {
    slots.push_back(at->second);
  }
  return slots;
}

void FleetMemory::move(Task& task, Slot slot, InstanceId planned, InstanceId at) {
  if (task.planned == planned && task.at == at) return;
  for (const InstanceId before : {task.planned, task.at}) {
    if (before.valid()) on_.erase({before, slot});
  }
  task.planned = planned;
  task.at = at;
  for (const InstanceId now : {planned, at}) {
    if (now.valid()) on_.emplace(now, slot);
  }
}

void FleetMemory::follow_task(Slot slot, const ClusterView& view) {
  const ClusterState& state = view.state;
  const TaskRow& row = state.task(slot);
  const JobRow& job = state.job(row.job);
  // No task of another market is on an instance of this one, but for what others place.
  if (!follows(job, view)) return;
  Task& task = task_of(row);
  const auto id_of = [&](Slot on) { return on == kNoSlot ? InstanceId{} : state.instance(on).id; };
  const InstanceId from = task.planned;
  move(task, slot, id_of(row.target), id_of(row.at));
  if (from.valid()) room_.follow(view, from);
  if (task.planned.valid()) room_.follow(view, task.planned);
  if (view.is_fixed(job)) return;
  queue_task(row, task, view);
  const bool is_long = queue_.find(job.job.id)->key.is_long;
  const Resources holds = row.target != kNoSlot ? row.planned.amount
                          : row.at != kNoSlot   ? row.held.amount
                                                : Resources{};
  const Resources counts = is_long ? holds : Resources{};
  if (counts != task.held_as_long) room_.count_long(task.held_as_long, counts);
  task.held_as_long = counts;
  watch(row, task, is_long);
}

void FleetMemory::queue_task(const TaskRow& row, Task& task, const ClusterView& view) {
  const JobRow& job = view.state.job(row.job);
  const bool waits = row.phase == TaskPhase::pending && !job.terminal_outcome;
  if (waits == task.waits) return queue_.rank(view.state, job.job.id);
  task.waits = waits;
  if (waits) {
    queue_.wait(view.state, row, view.now);
    fresh_.insert(row.id);
    return;
  }
  queue_.leave(view.state, row);
  fresh_.erase(row.id);
  room_.drop(row.id);
}

/// A task of a short job that runs is looked at again when it has run for too long.
void FleetMemory::watch(const TaskRow& row, Task& task, bool is_long) {
  const bool watched = !is_long && params_.cutoff > Duration{} && row.phase == TaskPhase::running;
  const Instant outlives = watched ? row.started_at + params_.cutoff : Instant{};
  if (outlives == task.outlives) return;
  if (task.outlives != Instant{}) watch_.erase({task.outlives, row.slot});
  task.outlives = outlives;
  if (watched) watch_.emplace(outlives, row.slot);
}

void FleetMemory::pass_time(const ClusterView& view, Instant now) {
  queue_.pass_time(now);
  while (!watch_.empty() && watch_.begin()->first <= now) {
    const Slot slot = watch_.begin()->second;
    const JobRow& job = view.state.job(view.state.task(slot).job);
    queue_.outlive(view.state, job.job.id);
    // All of its tasks count as long from here on, and are watched no more.
    for (Slot peer : job.tasks) follow_task(peer, view);
  }
}

void FleetMemory::forget(JobId id, const ClusterView& view) {
  const FleetQueue::Job* job = queue_.find(id);
  if (job == nullptr) return;
  for (Slot slot : job->tasks) {
    Task& task = tasks_[slot];
    fresh_.erase(task.id);
    room_.drop(task.id);
    room_.count_long(task.held_as_long, {});
    if (task.outlives != Instant{}) watch_.erase({task.outlives, slot});
    const InstanceId from = task.planned;
    move(task, slot, {}, {});
    if (from.valid()) room_.follow(view, from);
    task = {};
  }
  queue_.remove(id);
}

void FleetMemory::end_round(const ClusterView& view) {
  // In a gang's turn the others were not looked at.
  if (!view.turn) fresh_.clear();
  keep_room(view);
}

/// One more instance is kept a round: for the task that starves and has waited longest, the one
/// that can be empty first.
void FleetMemory::keep_room(const ClusterView& view) {
  const std::size_t most = std::max<std::size_t>(1, room_.instances() / kKeptOneIn);
  if (queue_.empty() || room_.kept().size() >= most) return;
  room_.learn_shapes(view.state);
  for (const Starving& who : starving_without_room()) {
    const auto on = first_to_empty(view.state, who);
    if (on) return room_.keep(*on, who.task);
  }
}

/// Of each list the first task that starves and that no instance is kept for, the longest wait
/// first.
std::vector<FleetMemory::Starving> FleetMemory::starving_without_room() const {
  std::vector<Starving> found;
  for (const auto& [list, keys] : queue_.lists()) {
    if (list.gang || !room_.ever_holds(list.shape)) continue;
    for (const FleetKey& key : keys) {
      const FleetQueue::Job& job = *queue_.find(key.job);
      if (!queue_.starves(job)) break;
      const auto& tasks = job.waiting.at(list.shape);
      const auto without = std::find_if(tasks.begin(), tasks.end(), [&](const auto& task) {
        return !room_.keeps_for(tasks_[task.second].id);
      });
      if (without == tasks.end()) continue;
      found.push_back({*job.since, key, tasks_[without->second].id, list.is_long});
      break;
    }
  }
  std::sort(found.begin(), found.end(), [](const Starving& a, const Starving& b) {
    return std::tie(a.since, a.key) < std::tie(b.since, b.key);
  });
  return found;
}

/// Resources of the instance that long tasks hold.
ResourceSum FleetMemory::long_on(const InstanceRow& instance) const {
  ResourceSum held;
  for (Slot slot : instance.planned) {
    // Tasks that another policy has put there may have slots beyond those that are known here.
    if (slot < tasks_.size()) held += tasks_[slot].held_as_long;
  }
  return held;
}

ResourceSum FleetMemory::promised_to_long(const ClusterState& state) const {
  ResourceSum held = room_.held_by_long();
  for (const auto& [instance, id] : room_.kept()) {
    const TaskRow& row = *state.find(id);
    if (!queue_.find(state.job(row.job).job.id)->key.is_long) continue;
    held += room_.least(row.shape);
    held -= long_on(*state.find(instance)).value();
  }
  return held;
}

/// Of the instances that hold the task, the one whose tasks are expected to be over first; those of
/// which that is not known come last, the one with the fewest such tasks before the others. While
/// long tasks hold all that they may, a long one takes the place of others.
std::optional<InstanceId> FleetMemory::first_to_empty(const ClusterState& state,
                                                      const Starving& who) const {
  const TaskRow& task = *state.find(who.task);
  const ResourceSum promised = promised_to_long(state);
  std::optional<std::tuple<std::size_t, Instant, std::size_t, InstanceId>> best;
  for (const auto& [id, capacity] : room_.there()) {
    if (room_.kept().contains(id)) continue;
    const InstanceRow& row = *state.find(id);
    const auto asked = room_.types().together({&task.shape, 1}, room_.types().group_of(row.type));
    if (!asked || !asked->fits_in(capacity)) continue;
    // Kept for no task as long as the peer is there.
    if (!may_share(state, task, row)) continue;
    if (who.is_long) {
      ResourceSum left = promised;
      left -= long_on(row).value();
      if (!long_may_start(room_.least(task.shape), left.value(), long_share())) continue;
    }
    std::size_t unknown = 0;
    Instant last{};
    for (Slot slot : row.planned) {
      const auto end = end_of(state, state.task(slot));
      end ? void(last = std::max(last, *end)) : void(++unknown);
    }
    const std::tuple rank(unknown, last, row.planned.size(), id);
    if (!best || rank < *best) best = rank;
  }
  return best ? std::optional(std::get<InstanceId>(*best)) : std::nullopt;
}

/// When the task is expected to be over, by what is taken as the run time of its job's tasks.
std::optional<Instant> FleetMemory::end_of(const ClusterState& state, const TaskRow& task) const {
  const muster::Job& asked = state.job(task.job).job;
  if (task.phase != TaskPhase::running || params_.task_times == TaskTimes::off) return {};
  if (params_.task_times == TaskTimes::known) {
    if (asked.prediction.runtime) return task.started_at + *asked.prediction.runtime;
    if (asked.runtime_hint) return task.started_at + *asked.runtime_hint;
  }
  const FleetQueue::Job* job = queue_.find(asked.id);
  if (job == nullptr || job->done == 0) return std::nullopt;
  return task.started_at + job->done_for / static_cast<Duration::rep>(job->done);
}

}  // namespace muster::own
