#include "masters/services/services.hpp"

#include <algorithm>
#include <variant>

#include "masters/services/spare_tasks.hpp"

// All that is decided here follows from the state: after a crash between any two events the next
// look goes on where the last one ended.

namespace muster {

Services::Services(MasterRecorder& recorder, TaskOrders& tasks, InstanceReleases& releases,
                   JobEnds& ends)
    : recorder_(recorder),
      tasks_(tasks),
      releases_(releases),
      ends_(ends),
      restarts_(recorder),
      autoscaler_(recorder) {
  recorder_.listen(*this);
}

bool Services::advance(Instant now) {
  if (!began_) began_ = takes_over_ ? now : Instant{};
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const Key key = by_time_.begin()->second;
    set_look(key, services_.at(key), std::nullopt);
    due_.insert(key);
  }
  bool any = restarts_.release_due(now);
  for (const ServiceScaled& scaled : autoscaler_.take_due(now)) recorder_.record(scaled, now);
  while (!due_.empty()) {
    const Key key = *due_.begin();
    any |= step(key, now);
  }
  return any;
}

/// Steps until no step is left. Each one that finds something changes what it was decided by, and
/// the tasks and revisions of a service have an end: the loop ends.
bool Services::step(const Key& key, Instant now) {
  bool waits = false;
  while (due_.erase(key) > 0) {
    const auto known = services_.find(key);
    if (known == services_.end()) return waits;
    const std::vector<JobId> revisions = known->second.revisions;
    const Rollout todo = next_step(state(), revisions, {now, *began_});
    set_look(key, known->second, todo.look_again);
    if (todo.is_empty()) return waits;
    due_.insert(key);
    for (const auto& [id, why] : todo.want) {
      recorder_.record(ReplicaWanted{id, true, {why, 0}}, now);
      waits = true;
    }
    for (const auto& [id, why] : todo.unwant) unwant(id, why, now);
    for (const auto& [leaves, waits_for_it] : todo.stay) {
      recorder_.record(ReplicaWanted{waits_for_it, false, {CauseCode::evicted, 0}}, now);
      recorder_.record(ReplicaWanted{leaves, true, {CauseCode::stand_in, 0}}, now);
      tasks_.stay_or_leave(leaves, now);
    }
    for (const TaskId id : todo.placeless) tasks_.stay_or_leave(id, now);
    for (const TaskId id : todo.stop) {
      const bool has_place = state().find(id)->target != kNoSlot;
      if (has_place) recorder_.record(TaskUnassigned{id, {CauseCode::evicted, 0}}, now);
      tasks_.stop_if_running(id, now);
    }
    if (todo.settles) {
      const auto newest = std::ranges::find_if(revisions.rbegin(), revisions.rend(), [&](JobId id) {
        const JobRow* job = state().find(id);
        return job != nullptr && job->replicas > 0 && !job->terminal_outcome;
      });
      recorder_.record(ServiceSettled{*newest}, now);
    }
    if (todo.gives_up) recorder_.record(ServiceScaled{*todo.gives_up, 0}, now);
    for (const auto& [id, outcome] : todo.over) ends_.give_up(id, outcome, now);
  }
  return waits;
}

void Services::unwant(TaskId id, CauseCode why, Instant now) {
  const TaskRow& task = *state().find(id);
  const bool assigned = task.phase == TaskPhase::assigned;
  const InstanceId target = assigned ? state().instance(task.target).id : InstanceId{};
  recorder_.record(ReplicaWanted{id, false, {why, 0}}, now);
  if (assigned) releases_.release_if_unused(target, now);
}

std::optional<Instant> Services::next() const {
  if (!due_.empty()) return Instant{};
  std::optional<Instant> next = restarts_.next();
  const auto also = [&next](std::optional<Instant> when) {
    if (when) next = next ? std::min(*next, *when) : *when;
  };
  also(autoscaler_.next());
  if (!by_time_.empty()) also(by_time_.begin()->first);
  return next;
}

bool Services::admit(Job& job) const {
  const auto* service = job.service();
  if (service == nullptr) return true;
  const auto known = services_.find({job.user, job.name});
  if (known == services_.end()) return !service->replaces.valid();
  const std::vector<JobId>& revisions = known->second.revisions;
  const bool follows = std::ranges::find(revisions, service->replaces) != revisions.end();
  if (!service->replaces.valid() || revisions.size() >= kMostRevisions) return false;
  ServiceSpec& spec = std::get<ServiceSpec>(job.kind);
  // The one that it was to follow may be over by now.
  if (!follows) spec.replaces = revisions.back();
  for (const JobId each : revisions) {
    const std::uint32_t last = state().find(each)->last_revision;
    spec.revision = std::max(spec.revision, last + 1);
  }
  return true;
}

ServiceResult Services::scale(JobId id, std::uint32_t replicas, Instant now) {
  const JobRow* job = state().find(id);
  const bool is_there = job != nullptr && job->job.service() != nullptr && !job->terminal_outcome;
  if (!is_there || replicas == 0) return ServiceResult::unknown;
  if (replicas + std::max(1U, job->job.service()->surge) > job->tasks.size())
    return ServiceResult::too_many;
  const ServiceSpec& spec = *job->job.service();
  const bool in_range = replicas >= spec.least && replicas <= spec.most;
  if (spec.scales() && !in_range) return ServiceResult::out_of_range;
  // The revisions before have that number again when this one does not come about.
  const std::vector<JobId> revisions = services_.at(key_of(*job)).revisions;
  for (const JobId each : revisions) {
    const JobRow& row = *state().find(each);
    const auto tasks = static_cast<std::uint32_t>(row.tasks.size());
    const std::uint32_t number = std::min(replicas, tasks);
    const bool counts = row.replicas > 0 && row.replicas != number && !row.terminal_outcome;
    if (counts) recorder_.record(ServiceScaled{each, number}, now);
  }
  advance(now);
  return ServiceResult::done;
}

bool Services::relieve(const TaskRow& task, CauseCode why, Instant now) {
  const JobRow& job = state().job(task.job);
  const bool runs = task.phase == TaskPhase::running || task.phase == TaskPhase::starting;
  if (job.job.service() == nullptr || job.terminal_outcome || !runs) return false;
  if (task.wanted) {
    recorder_.record(ReplicaWanted{task.id, false, {why, 0}}, now);
  } else if (task.target != kNoSlot && why != CauseCode::worker_lost) {
    recorder_.record(TaskUnassigned{task.id, {why, 0}}, now);
  }
  return true;
}

void Services::relieve_silent(InstanceId id, Instant now) {
  const InstanceRow* row = state().find(id);
  if (row == nullptr) return;
  const std::vector<Slot> there = row->occupants;
  for (const Slot slot : there) relieve(state().task(slot), CauseCode::worker_lost, now);
  advance(now);
}

std::optional<TaskId> Services::stand_in(const Placing& elsewhere, const Cause& why, Instant now) {
  const JobRow& job = state().job(elsewhere.task->job);
  for (const Slot slot : job.tasks) {
    const TaskRow& spare = state().task(slot);
    if (!is_to_spare(spare) || !may_run_there(state(), spare, elsewhere)) continue;
    const TaskId leaves = elsewhere.task->id;
    const TaskId comes = spare.id;
    recorder_.record(ReplicaWanted{leaves, false, why}, now);
    recorder_.record(ReplicaWanted{comes, true, {CauseCode::stand_in, 0}}, now);
    return comes;
  }
  return std::nullopt;
}

void Services::touch(const JobRow& job) {
  if (job.job.service() == nullptr) return;
  const auto known = services_.find(key_of(job));
  if (known == services_.end()) return;
  if (!is_steady(state(), known->second.revisions)) due_.insert(known->first);
}

void Services::touch(TaskId id) {
  if (services_.empty()) return;
  if (const TaskRow* task = state().find(id)) touch(state().job(task->job));
}

/// The replicas that an instance takes with it are known only before it is gone.
void Services::before(const Event& event, const MasterFacts& facts) {
  if (services_.empty()) return;
  if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    for (const Slot slot : facts.state.find(gone->instance)->occupants) {
      touch(facts.state.job(facts.state.task(slot).job));
    }
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    const JobRow& job = *facts.state.find(over->job);
    const auto known = services_.find(key_of(job));
    if (job.job.service() == nullptr || known == services_.end()) return;
    std::erase(known->second.revisions, over->job);
    due_.insert(known->first);
    if (!known->second.revisions.empty()) return;
    due_.erase(known->first);
    set_look(known->first, known->second, std::nullopt);
    services_.erase(known);
  }
}

void Services::after(const Event& event, const MasterFacts& facts) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    if (accepted->job.service() == nullptr) return;
    const Key key{accepted->job.user, accepted->job.name};
    services_[key].revisions.push_back(accepted->job.id);
    due_.insert(key);
  } else if (const auto* changed = std::get_if<ReplicaChanged>(&event.body)) {
    touch(changed->task);
  } else if (const auto* started = std::get_if<TaskStarted>(&event.body)) {
    touch(started->task);
  } else if (const auto* left = std::get_if<TaskCheckpointed>(&event.body)) {
    touch(left->task);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    touch(failed->task);
    const TaskRow* task = facts.state.find(failed->task);
    if (!failed->for_good || task == nullptr) return;
    const auto known = services_.find(key_of(facts.state.job(task->job)));
    if (known != services_.end()) due_.insert(known->first);
  } else if (const auto* wanted = std::get_if<ReplicaWanted>(&event.body)) {
    touch(wanted->task);
  } else if (const auto* scaled = std::get_if<ServiceScaled>(&event.body)) {
    touch(*facts.state.find(scaled->job));
  } else if (const auto* settled = std::get_if<ServiceSettled>(&event.body)) {
    touch(*facts.state.find(settled->job));
  } else if (const auto* ending = std::get_if<JobTerminating>(&event.body)) {
    touch(*facts.state.find(ending->job));
  } else if (const auto* released = std::get_if<JobReleased>(&event.body)) {
    touch(*facts.state.find(released->job));
  }
}

void Services::restored(const MasterFacts& facts) {
  std::vector<const JobRow*> jobs;
  for (const JobId id : facts.services) jobs.push_back(facts.state.find(id));
  std::ranges::sort(jobs, {},
                    [](const JobRow* job) { return std::pair(job->accepted_at, job->job.id); });
  for (const JobRow* job : jobs) {
    services_[key_of(*job)].revisions.push_back(job->job.id);
    due_.insert(key_of(*job));
  }
}

void Services::set_look(const Key& key, Known& known, std::optional<Instant> when) {
  if (known.look_again) by_time_.erase({*known.look_again, key});
  known.look_again = when;
  if (when) by_time_.emplace(*when, key);
}

}  // namespace muster
