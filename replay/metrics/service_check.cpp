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

/// Neither the end of the day's money nor a cloud that takes its instance back is one.
bool is_own_act(CauseCode why) {
  return why != CauseCode::spend_cap && why != CauseCode::interrupted;
}

}  // namespace

void ServiceCheck::see(const Event& event) {
  if (event.at != now_ || event.cell != cell_) {
    for (auto& [instance, sentence] : stopped_) keep(std::move(sentence));
    stopped_.clear();
  }
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
    Replica* replica = find(unassigned->task);
    if (replica == nullptr) return;
    replica->has_reason = true;
    replica->own_act = is_own_act(unassigned->cause.code);
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
    replica->own_act = is_own_act(wish->cause.code);
    begin_wait(*replica);
  } else if (const auto* said = std::get_if<ReplicaChanged>(&event.body)) {
    if (Replica* replica = find(said->task)) set_ready(*replica, said->state.ready);
  } else if (const auto* scaled = std::get_if<ServiceScaled>(&event.body)) {
    const auto service = services_.find(scaled->job);
    if (service != services_.end()) service->second.wanted = scaled->replicas;
  } else if (const auto* given_back = std::get_if<ReleaseDecided>(&event.body)) {
    if (!is_own_act(given_back->cause.code)) excuse(given_back->instance);
  } else if (const auto* stopped = std::get_if<StopIssued>(&event.body)) {
    stop(stopped->task);
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

void ServiceCheck::recall(const ClusterState& state) {
  std::vector<const JobRow*> rows;
  for (const JobRow& row : state.jobs()) {
    if (row.job.service() != nullptr) rows.push_back(&row);
  }
  std::ranges::sort(rows, {},
                    [](const JobRow* row) { return std::pair(row->accepted_at, row->job.id); });
  for (const JobRow* row : rows) {
    accept(row->job);
    Service& service = services_[row->job.id];
    service.wanted = row->replicas;
    service.terminating = row->terminal_outcome.has_value();
    for (const Slot slot : row->tasks) {
      const TaskRow& task = state.task(slot);
      Replica& replica = replicas_[task.id];
      replica.spare = !task.wanted;
      replica.has_reason = true;  // earlier reasons are not known
      replica.assigned = task.target != kNoSlot;
      if (task.at == kNoSlot) continue;
      replica.at = state.instance(task.at).id;
      on_[replica.at].push_back(task.id);
      set_ready(replica, task.replica != nullptr && task.replica->ready);
    }
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
  Service& service = services_[job.id];
  service.key = {cell_, job.user, job.name};
  service.wanted = static_cast<std::uint32_t>(std::min(wanted, job.tasks.size()));
  service.max_unavailable = spec.max_unavailable;
  revisions_[service.key].jobs.push_back(job.id);
  if (services_.contains(spec.replaces)) wanted = 0;
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

void ServiceCheck::set_ready(Replica& replica, bool ready) {
  const auto service = services_.find(replica.service);
  if (service == services_.end() || replica.ready == ready) return;
  replica.ready = ready;
  revisions_[service->second.key].ready += ready ? 1 : -1;
}

/// Its service is the newest revision that is not given up.
void ServiceCheck::stop(TaskId task) {
  const Replica* replica = find(task);
  if (replica == nullptr || !replica->ready || !replica->own_act) return;
  const Service& of = services_[replica->service];
  if (of.terminating) return;
  const Revisions& all = revisions_[of.key];
  const auto has_it = [this](JobId id) { return services_[id].wanted > 0; };
  const auto newest = std::find_if(all.jobs.rbegin(), all.jobs.rend(), has_it);
  if (newest == all.jobs.rend()) return;
  const Service& service = services_[*newest];
  if (service.terminating || all.ready - 1 + service.max_unavailable >= service.wanted) return;
  stopped_.emplace_back(
      replica->at,
      at_now(fmt::format("replica {} of service {} is stopped while {} others are ready, of {}",
                         task.value, replica->service.value, all.ready - 1, service.wanted)));
}

void ServiceCheck::lose(Replica& replica, bool has_reason) {
  set_ready(replica, false);
  replica.own_act = true;
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
  Revisions& all = revisions_[service.mapped().key];
  for (const TaskId task : service.mapped().replicas) {
    all.ready -= replicas_[task].ready ? 1 : 0;
    replicas_.erase(task);
  }
  std::erase(all.jobs, finished.job);
  if (all.jobs.empty()) revisions_.erase(service.mapped().key);
}

void ServiceCheck::excuse(InstanceId instance) {
  std::erase_if(stopped_, [&](const auto& each) { return each.first == instance; });
}

std::string ServiceCheck::at_now(const std::string& what) const {
  return fmt::format("at {} s: {}", to_seconds(now_), what);
}

void ServiceCheck::keep(std::string sentence) {
  constexpr std::size_t kMostKept = 50;
  if (broken_.size() < kMostKept) broken_.push_back(std::move(sentence));
}

std::vector<std::string> ServiceCheck::broken() const {
  std::vector<std::string> all = broken_;
  for (const auto& [instance, sentence] : stopped_) all.push_back(sentence);
  return all;
}

}  // namespace muster::metrics
