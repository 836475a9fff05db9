#include "masters/tasks/start_candidates.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace muster {

/// Tasks that an event makes worth another try; called before the state knows of the event.
struct StartCandidates::Marker {
  StartCandidates& c;
  const ClusterState& s;

  void gang_of(const TaskRow& task) { c.mark_gang(s, task.job); }
  void gang_of(TaskId id) { gang_of(*s.find(id)); }
  void room_left(const TaskRow& task) {
    c.tasks_.add(task.slot);
    c.room_.add(task.at);
    gang_of(task);
  }
  void all_planned(const InstanceRow& row) {
    c.up_.add(row.slot);
    for (Slot slot : row.planned) gang_of(s.task(slot));
  }

  void operator()(const TaskAssigned& e) {
    c.tasks_.add(s.find(e.task)->slot);
    gang_of(e.task);
  }
  void operator()(const TaskRefused& e) {
    c.tasks_.add(s.find(e.task)->slot);
    c.told_.push_back(s.find(e.task)->slot);
  }
  void operator()(const TaskUnassigned& e) { gang_of(e.task); }
  void operator()(const TaskReleased& e) { gang_of(e.task); }
  void operator()(const InstanceUp& e) { all_planned(*s.find(e.instance)); }
  void operator()(const InstanceReady& e) { all_planned(*s.find(e.instance)); }
  void operator()(const LaunchRefused& e) { all_planned(*s.find(e.instance)); }
  void operator()(const InstanceGone& e) {
    const InstanceRow& row = *s.find(e.instance);
    all_planned(row);
    for (Slot slot : row.occupants) room_left(s.task(slot));
  }
  void operator()(const StartIssued& e) {
    c.room_.add(s.find(e.instance)->slot);
    // The tasks of a gang are tried together. A master that was started again knows it by this
    // alone, and would try the others once more.
    const Slot job = s.find(e.task)->job;
    if (job < c.opened_.size()) c.opened_[job] = false;
  }
  void operator()(const StopIssued& e) { gang_of(e.task); }
  void operator()(const TaskCheckpointed& e) { room_left(*s.find(e.task)); }
  void operator()(const TaskFinished& e) { room_left(*s.find(e.task)); }
  void operator()(const TaskFailed& e) { room_left(*s.find(e.task)); }
  void operator()(const JobHeld& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobReleased& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobResized& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobFinished& e) {
    const Slot slot = s.find(e.job)->slot;
    // Or each end of a job would look at all that ended before it.
    c.gangs_.drop(slot);
    if (slot >= c.opened_.size()) return;
    c.opened_[slot] = false;
    c.was_open_[slot] = false;
  }
  template <class Other>
  void operator()(const Other&) {}
};

void StartCandidates::mark_gang(const ClusterState& state, Slot job) {
  if (!state.job(job).job.gang) return;
  gangs_.add(job);
  touched_.push_back(job);
}

void StartCandidates::before(const Event& event, const ClusterState& state) {
  std::visit(Marker{*this, state}, event.body);
}

void StartCandidates::after(const ClusterState& state) {
  for (Slot slot : std::exchange(told_, {})) note_told(state.task(slot));
  for (Slot slot : touched_) {
    if (slot >= opened_.size()) {
      opened_.resize(slot + std::size_t{1});
      was_open_.resize(slot + std::size_t{1});
    }
    const bool open = state.job(slot).gang_is_open();
    if (open && !was_open_[slot]) opened_[slot] = true;
    was_open_[slot] = open;
  }
  touched_.clear();
}

void StartCandidates::mark_all(const ClusterState& state) {
  for (const TaskRow& task : state.assigned()) {
    tasks_.add(task.slot);
    note_told(task);
    mark_gang(state, task.job);
  }
  after(state);
  // A task is told of room only while nothing else keeps its gang from starting, and all of its
  // gang are tried together then: another try would tell them of the room that there is by now.
  for (const TaskRow& task : state.assigned()) {
    if (task.told == ToldReason::other && task.job < opened_.size()) opened_[task.job] = false;
  }
}

bool StartCandidates::gang_has_to_try(const ClusterState& state, Slot job) const {
  const JobRow& row = state.job(job);
  const GangCounts& gang = row.gang;
  if (!row.job.gang || gang.assigned == 0) return false;
  if (row.pending > 0) return true;
  if (gang.blockers == 0) return job < opened_.size() && opened_[job];
  const TaskRow& first = state.task(row.tasks[gang.first_blocker]);
  const bool peers = first.phase == TaskPhase::stopping;
  return gang.assigned > (peers ? gang.told_peers : gang.told_instance);
}

void StartCandidates::gang_tasks_to_try(const ClusterState& state, Slot job,
                                        std::vector<Slot>& out) {
  if (!gang_has_to_try(state, job)) return;
  const JobRow& row = state.job(job);
  if (row.pending == 0 && row.gang.blockers == 0) opened_[job] = false;
  out.insert(out.end(), row.tasks.begin(), row.tasks.end());
}

/// It may be that it waits for room.
void StartCandidates::note_told(const TaskRow& task) {
  if (task.told != ToldReason::other || task.target == kNoSlot) return;
  if (task.target >= told_room_.size()) told_room_.resize(task.target + std::size_t{1});
  told_room_[task.target].push_back(task.slot);
}

bool StartCandidates::waits_for_room(const ClusterState& state, Slot instance) {
  if (instance >= told_room_.size()) return false;
  std::vector<Slot>& told = told_room_[instance];
  // One that waits on keeps its place at the end: those behind it are looked at another time.
  while (!told.empty()) {
    const TaskRow& task = state.task(told.back());
    if (task.told == ToldReason::other && task.target == instance) return true;
    told.pop_back();
  }
  return false;
}

bool StartCandidates::may_start_some(const ClusterState& state, Slot instance) {
  const auto& marked = gangs_.slots();
  return waits_for_room(state, instance) ||
         std::any_of(marked.begin(), marked.end(),
                     [&](Slot job) { return gang_has_to_try(state, job); });
}

void StartCandidates::push(const ClusterState& state, Slot slot) {
  const TaskRow& task = state.task(slot);
  if (task.phase != TaskPhase::assigned || task.queued == at_) return;  // has just been tried
  if (task.queued < at_) {
    later_.add(slot);
  } else {
    pass_.emplace(task.queued, slot);
  }
}

void StartCandidates::expand(const ClusterState& state) {
  for (Slot slot : tasks_.take()) push(state, slot);
  for (Slot slot : up_.take()) {
    for (Slot task : state.instance(slot).planned) push(state, task);
  }
  for (Slot slot : room_.take()) {
    // Only the answers of those that wait for room depend on it.
    if (!waits_for_room(state, slot)) continue;
    for (Slot task : state.instance(slot).planned) {
      if (state.task(task).told == ToldReason::other) push(state, task);
    }
  }
  std::vector<Slot> peers;
  for (Slot job : gangs_.take()) gang_tasks_to_try(state, job, peers);
  for (Slot task : peers) push(state, task);
}

void StartCandidates::begin_pass(const ClusterState& state) {
  for (Slot slot : later_.take()) tasks_.add(slot);
  expand(state);
}

std::optional<Slot> StartCandidates::next(const ClusterState& state) {
  expand(state);
  while (!pass_.empty()) {
    const auto [queued, slot] = *pass_.begin();
    pass_.erase(pass_.begin());
    at_ = queued;
    const TaskRow& task = state.task(slot);
    if (task.phase == TaskPhase::assigned && task.queued == queued) return slot;
  }
  at_ = 0;
  return std::nullopt;
}

}  // namespace muster
