#include "masters/start_candidates.hpp"

#include <variant>

namespace muster {

/// What an event makes worth another try; called before the state knows of the event.
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
  void operator()(const TaskRefused& e) { c.tasks_.add(s.find(e.task)->slot); }
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
  void operator()(const StartIssued& e) { c.room_.add(s.find(e.instance)->slot); }
  void operator()(const StopIssued& e) { gang_of(e.task); }
  void operator()(const TaskCheckpointed& e) { room_left(*s.find(e.task)); }
  void operator()(const TaskFinished& e) { room_left(*s.find(e.task)); }
  void operator()(const TaskFailed& e) { room_left(*s.find(e.task)); }
  void operator()(const JobHeld& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobReleased& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobResized& e) { c.mark_gang(s, s.find(e.job)->slot); }
  void operator()(const JobFinished& e) {
    const Slot slot = s.find(e.job)->slot;
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
    mark_gang(state, task.job);
  }
  after(state);
}

void StartCandidates::gang_tasks_to_try(const ClusterState& state, Slot job,
                                        std::vector<Slot>& out) {
  const JobRow& row = state.job(job);
  const GangCounts& gang = row.gang;
  if (!row.job.gang || gang.assigned == 0) return;
  bool wanted = row.pending > 0;
  if (!wanted && gang.blockers > 0) {
    const TaskRow& first = state.task(row.tasks[gang.first_blocker]);
    const bool peers = first.phase == TaskPhase::stopping;
    wanted = gang.assigned > (peers ? gang.told_peers : gang.told_instance);
  } else if (!wanted && job < opened_.size()) {
    wanted = opened_[job];
    opened_[job] = false;
  }
  if (wanted) out.insert(out.end(), row.tasks.begin(), row.tasks.end());
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
