#include "schedulers/packing/rounds/idle_instances.hpp"

#include <utility>

#include "schedulers/packing/rounds/named_in_event.hpp"

namespace muster {

void IdleInstances::observe(const Event& event, const ClusterState& state) {
  changes_.clear();
  if (!built_) {
    rebuild(state, event.at);
    return;
  }
  now_ = event.at;
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    if (const JobRow* row = state.find(accepted->job.id)) tasks_of_[row->job.id] = row->tasks;
  }
  // An event that names a job or its tasks does not tell where they were.
  for (Slot slot : tasks_named_in(event, state)) follow_task(slot, state);
  if (const InstanceId named = instance_named_in(event); named.valid()) follow(named, state);
  const auto* over = std::get_if<JobFinished>(&event.body);
  if (over == nullptr) return;
  // The rows have left the state with whatever places they had.
  if (const auto known = tasks_of_.extract(over->job); !known.empty()) {
    for (Slot slot : known.mapped()) {
      const Places before = std::exchange(by_slot_[slot], {});
      follow(before.at, state);
      follow(before.target, state);
    }
  }
}

void IdleInstances::rebuild(const ClusterState& state, Instant now) {
  built_ = true;
  now_ = now;
  idle_.clear();
  by_slot_.clear();
  tasks_of_.clear();
  for (const JobRow& job : state.jobs()) {
    tasks_of_[job.job.id] = job.tasks;
    for (Slot slot : job.tasks) follow_task(slot, state);
  }
  for (const InstanceRow& row : state.instances()) follow(row.id, state);
}

/// An event may be one that it does not hear of, as that a task starts: then it is not where this
/// thinks, but where it was meant to be.
void IdleInstances::follow_task(Slot slot, const ClusterState& state) {
  const TaskRow& row = state.task(slot);
  if (slot >= by_slot_.size()) by_slot_.resize(slot + std::size_t{1});
  const auto id_of = [&](Slot at) { return at == kNoSlot ? InstanceId{} : state.instance(at).id; };
  const Places now{row.id, id_of(row.at), id_of(row.target)};
  const Places before = std::exchange(by_slot_[slot], now);
  if (before.task == row.id) {
    follow(before.at, state);
    follow(before.target, state);
  }
  follow(now.at, state);
  follow(now.target, state);
}

void IdleInstances::follow(InstanceId id, const ClusterState& state) {
  if (!id.valid()) return;
  const InstanceRow* row = state.find(id);
  const bool is_wanted =
      row != nullptr && !row->released && row->phase != InstancePhase::terminating;
  if (is_wanted && row->planned.empty() && row->occupants.empty()) {
    if (idle_.try_emplace(id, now_).second) changes_.push_back(id);
  } else if (idle_.erase(id) > 0) {
    changes_.push_back(id);
  }
}

void IdleInstances::restore_since(const std::map<InstanceId, Instant>& since) {
  for (auto& [id, at] : idle_) {
    if (const auto known = since.find(id); known != since.end()) at = known->second;
  }
}

std::vector<Release> IdleInstances::releases(const ClusterView& view) const {
  std::vector<Release> releases;
  for (const auto& [id, since] : idle_) {
    const InstanceRow& row = *view.state.find(id);
    if (!view.is_owned(row)) releases.push_back({id, {CauseCode::empty, -row.price.usd_h()}});
  }
  return releases;
}

}  // namespace muster
