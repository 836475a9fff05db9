#include "replay/metrics/service_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "replay/metrics/occupancy.hpp"

// Follows the replicas of services alone: a log without services costs nothing here.

namespace muster::metrics {
namespace {

/// Two rounds of the policy that holds them most rarely.
constexpr Duration kAnswer = std::chrono::minutes{10};

}  // namespace

void ServiceCheck::see(const Event& event) {
  now_ = event.at;
  cell_ = event.cell;
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    if (accepted->job.service() != nullptr) accept(accepted->job);
    return;
  }
  if (services_.empty()) return;
  if (const auto* refused = std::get_if<TaskRefused>(&event.body)) {
    if (Replica* replica = find(refused->task)) replica->has_reason = true;
  } else if (std::holds_alternative<RoundDecided>(event.body)) {
    ++rounds_[cell_];
  } else if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
    if (Replica* replica = find(assigned->task)) replica->assigned = true;
  } else if (const auto* unassigned = std::get_if<TaskUnassigned>(&event.body)) {
    if (Replica* replica = find(unassigned->task)) replica->has_reason = true;
  } else if (const auto* turn = std::get_if<GangTurn>(&event.body)) {
    turn_until_[cell_] = turn->until;
  } else if (const auto* held = std::get_if<JobHeld>(&event.body)) {
    hold(held->job, true);
  } else if (const auto* released = std::get_if<JobReleased>(&event.body)) {
    hold(released->job, false);
  } else if (const auto* wish = std::get_if<ReplicaWanted>(&event.body)) {
    Replica* replica = find(wish->task);
    if (replica == nullptr) return;
    replica->spare = !wish->wanted;
    begin_wait(*replica);
  } else if (const auto* issued = std::get_if<StartIssued>(&event.body)) {
    start(*issued);
  } else if (const auto left = task_that_left(event)) {
    leave(event, *left);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    lose_all(gone->instance);
  } else if (const auto* over = std::get_if<JobTerminating>(&event.body)) {
    terminate(over->job);
  } else if (const auto* finished = std::get_if<JobFinished>(&event.body)) {
    end(*finished);
  }
}

ServiceCheck::Replica* ServiceCheck::find(TaskId task) {
  const auto found = replicas_.find(task);
  return found == replicas_.end() ? nullptr : &found->second;
}

void ServiceCheck::accept(const Job& job) {
  const ServiceSpec& spec = *job.service();
  // Replicas of a later revision are wanted as those of the one before may leave.
  std::size_t wanted = spec.replicas > 0 ? spec.replicas : job.tasks.size();
  if (services_.contains(spec.replaces)) wanted = 0;
  Service& service = services_[job.id];
  for (const TaskSpec& task : job.tasks) {
    Replica& replica = replicas_[task.id];
    replica.service = job.id;
    replica.spare = service.replicas.size() >= wanted;
    service.replicas.push_back(task.id);
    begin_wait(replica);
  }
}

void ServiceCheck::start(const StartIssued& issued) {
  Replica* replica = find(issued.task);
  if (replica == nullptr) return;
  replica->at = issued.instance;
  replica->assigned = replica->has_reason = false;
  on_[issued.instance].push_back(issued.task);
}

void ServiceCheck::lose(Replica& replica, bool has_reason) {
  replica.at = {};
  replica.has_reason = has_reason;
  begin_wait(replica);
}

void ServiceCheck::begin_wait(Replica& replica) {
  replica.round = rounds_[cell_];
  replica.since = now_;
}

void ServiceCheck::leave(const Event& event, TaskId task) {
  Replica* replica = find(task);
  if (replica == nullptr) return;
  const bool failed = std::holds_alternative<TaskFailed>(event.body);
  // One that is stopped was told before why.
  lose(*replica, failed || replica->has_reason);
  if (!std::holds_alternative<TaskFinished>(event.body)) return;
  if (services_[replica->service].terminating) return;
  say(fmt::format("replica {} finishes, though service {} was not ended", task.value,
                  replica->service.value));
}

void ServiceCheck::lose_all(InstanceId instance) {
  const auto tasks = on_.extract(instance);
  if (!tasks) return;
  for (const TaskId task : tasks.mapped()) {
    Replica* replica = find(task);
    if (replica != nullptr && replica->at == instance) lose(*replica, true);
  }
}

/// A service that its user holds waits for that reason.
void ServiceCheck::hold(JobId job, bool held) {
  const auto service = services_.find(job);
  if (service == services_.end()) return;
  for (const TaskId task : service->second.replicas) {
    replicas_[task].has_reason = held;
    begin_wait(replicas_[task]);
  }
}

/// Of a replica that has just lost its place, or has just come, nothing need have been said: a
/// round may have been decided on the state before, and some rounds only answer an event. While a
/// gang has its turn nothing else is placed.
void ServiceCheck::terminate(JobId job) {
  const auto service = services_.find(job);
  if (service == services_.end() || service->second.terminating) return;
  service->second.terminating = true;
  for (const TaskId task : service->second.replicas) {
    const Replica& replica = replicas_[task];
    if (replica.at.valid() || replica.assigned || replica.has_reason || replica.spare) continue;
    if (rounds_[cell_] <= replica.round + 1) continue;
    if (now_ <= std::max(replica.since, turn_until_[cell_]) + kAnswer) continue;
    say(fmt::format("replica {} of service {} has no place, and no reason to wait", task.value,
                    job.value));
  }
}

void ServiceCheck::end(const JobFinished& finished) {
  const auto service = services_.extract(finished.job);
  if (!service) return;
  if (finished.outcome == JobOutcome::completed) {
    say(fmt::format("service {} is completed, which no service is", finished.job.value));
  }
  for (const TaskId task : service.mapped().replicas) replicas_.erase(task);
}

void ServiceCheck::say(std::string what) {
  constexpr std::size_t kMostSaid = 50;
  if (broken_.size() == kMostSaid) return;
  broken_.push_back(fmt::format("at {} s: {}", to_seconds(now_), what));
}

}  // namespace muster::metrics
