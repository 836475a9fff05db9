#include "replay/service_meter.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "replay/metrics/occupancy.hpp"

// How services did. Each replica has a time up to which its amounts are in the sums; an event that
// may change them (its start, its end, a neighbour's) brings it up to now first.

namespace muster::replay {
namespace {

constexpr Duration kHour = std::chrono::hours{1};
constexpr Duration kDay = std::chrono::hours{24};

/// Hours between two times by the hour of the day that they are of.
std::array<double, kDayHours> hours_by_day(Instant from, Instant until) {
  std::array<double, kDayHours> hours{};
  const auto days = (until - from) / kDay;
  hours.fill(static_cast<double>(days));
  from += days * kDay;
  while (from < until) {
    const Instant next = std::min(floor_to(from, kHour) + kHour, until);
    const auto hour = static_cast<std::size_t>((from.time_since_epoch() % kDay) / kHour);
    hours[hour] += to_hours(next - from);
    from = next;
  }
  return hours;
}

}  // namespace

ServiceMeter::ServiceMeter(const JobSource& jobs, ReplicaNoise noise) : noise_(noise) {
  for (std::size_t rank = 0; rank < jobs.size(); ++rank) {
    const WorkloadJob job = jobs.job(rank);
    if (!job.truth.service) continue;
    Service& service = services_[job.job.id];
    service.id = job.job.id;
    service.truth = job.truth.service;
    const std::uint32_t stated = job.job.service()->replicas;
    service.replicas = stated > 0 ? stated : job.job.tasks.size();
    service.submit = job.submit;
    service.end = job.submit + lifetime_of(job.truth);
    const double wanted_h =
        to_hours(service.end - service.submit) * static_cast<double>(service.replicas);
    ++sums_.submitted;
    sums_.replicas += service.replicas;
    sums_.wanted_h += wanted_h;
    if (service.truth->goal <= 0) continue;
    sums_.goal_wanted_h += wanted_h;
    service.right =
        service.truth->performance->right_size(service.truth->goal, service.truth->peak());
  }
}

void ServiceMeter::see(const Event& event) {
  const Instant now = event.at;
  if (services_.empty()) return;
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    accept(accepted->job);
  } else if (const auto* issued = std::get_if<StartIssued>(&event.body)) {
    start(*issued, now);
  } else if (const auto* started = std::get_if<TaskStarted>(&event.body)) {
    if (Replica* replica = find(started->task)) run(*replica, now);
  } else if (const auto* said = std::get_if<ReplicaChanged>(&event.body)) {
    if (Replica* replica = find(said->task)) set_ready(*replica, said->state.ready, now);
  } else if (const auto* stop = std::get_if<StopIssued>(&event.body)) {
    if (Replica* replica = find(stop->task)) set_ready(*replica, false, now);
  } else if (const auto left = metrics::task_that_left(event)) {
    if (Replica* replica = find(*left)) leave(*replica, now);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    lose_all(gone->instance, now);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    end(*over, now);
  }
}

ServiceMeter::Replica* ServiceMeter::find(TaskId task) {
  const auto found = replicas_.find(task);
  return found == replicas_.end() ? nullptr : &found->second;
}

void ServiceMeter::accept(const Job& job) {
  const auto service = services_.find(job.id);
  if (service == services_.end()) return;
  for (const TaskSpec& task : job.tasks) {
    replicas_[task.id].service = &service->second;
    tasks_[job.id].push_back(task.id);
  }
}

void ServiceMeter::start(const StartIssued& issued, Instant now) {
  Replica* replica = find(issued.task);
  if (replica == nullptr) return;
  leave(*replica, now);
  replica->at = issued.instance;
  replica->attempt = issued.attempt;
  replica->settled_at = now;
  replica->stand = {issued.grant ? issued.grant->amount : Resources{}, 1,
                    noise_.factor(issued.task, issued.attempt)};
  on_[issued.instance].push_back(issued.task);
  if (std::exchange(replica->started_before, true)) ++sums_.restarts;
}

void ServiceMeter::run(Replica& replica, Instant now) {
  if (replica.running || !replica.at.valid()) return;
  replica.running = true;
  Neighbours& neighbours = neighbours_[{replica.at, replica.service->id}];
  neighbours.push_back(&replica);
  regroup(neighbours, now);
}

void ServiceMeter::leave(Replica& replica, Instant now) {
  if (!replica.at.valid()) return;
  settle(replica, now);
  replica.ready = false;
  if (std::exchange(replica.running, false)) {
    const auto entry = neighbours_.find({replica.at, replica.service->id});
    std::erase(entry->second, &replica);
    regroup(entry->second, now);
    if (entry->second.empty()) neighbours_.erase(entry);
  }
  replica.at = {};
}

void ServiceMeter::set_ready(Replica& replica, bool ready, Instant now) {
  if (!replica.at.valid() || replica.ready == ready) return;
  settle(replica, now);
  replica.ready = ready;
}

void ServiceMeter::regroup(Neighbours& neighbours, Instant now) {
  for (Replica* replica : neighbours) {
    if (replica->stand.together == neighbours.size()) continue;
    settle(*replica, now);
    replica->stand.together = neighbours.size();
  }
}

void ServiceMeter::lose_all(InstanceId instance, Instant now) {
  const auto tasks = on_.extract(instance);
  if (!tasks) return;
  for (const TaskId task : tasks.mapped()) {
    Replica* replica = find(task);
    // It may have left, and even be on another instance.
    if (replica != nullptr && replica->at == instance) leave(*replica, now);
  }
}

void ServiceMeter::end(const JobFinished& finished, Instant now) {
  const auto service = services_.find(finished.job);
  if (service == services_.end()) return;
  service->second.ended = finished.outcome == JobOutcome::cancelled && now >= service->second.end;
  sums_.ended += service->second.ended ? 1 : 0;
  const auto tasks = tasks_.extract(finished.job);
  if (!tasks) return;
  for (const TaskId task : tasks.mapped()) {
    if (Replica* replica = find(task)) leave(*replica, now);
    replicas_.erase(task);
  }
}

void ServiceMeter::settle(Replica& replica, Instant now) {
  const Service& service = *replica.service;
  const Instant from = std::exchange(replica.settled_at, now);
  const Instant until = std::min(now, service.end);
  if (until <= from) return;
  const double hours = to_hours(until - from);
  if (service.right) {
    const Resources& granted = replica.stand.granted;
    sums_.held_usd +=
        hours * comparison_price_usd_h(granted[Resource::cpu], granted[Resource::memory]);
    sums_.right_usd += hours * service.right->price_usd_h;
  }
  if (!replica.ready) return;
  sums_.ready_h += hours;
  if (service.truth->performance) add_performance(replica, from, until);
}

void ServiceMeter::add_performance(const Replica& replica, Instant from, Instant until) {
  const ServiceTruth& truth = *replica.service->truth;
  const auto add = [&](double hours, double performance) {
    sums_.performance_h += hours * performance;
    sums_.measured_h += hours;
    if (truth.goal > 0 && performance >= truth.goal) sums_.goal_h += hours;
  };
  if (truth.day.empty()) {
    return add(to_hours(until - from), performance_of(truth, replica.stand));
  }
  const auto hours = hours_by_day(from, until);
  for (std::size_t hour = 0; hour < kDayHours; ++hour) {
    if (hours[hour] > 0) add(hours[hour], performance_of(truth, replica.stand, truth.day[hour]));
  }
}

std::optional<metrics::ServiceFigures> ServiceMeter::finish() const {
  if (services_.empty()) return std::nullopt;
  return sums_;
}

}  // namespace muster::replay
