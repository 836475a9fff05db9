#include "replay/service_world.hpp"

#include <algorithm>
#include <cmath>

#include "learning/services/normal.hpp"
#include "model/check.hpp"
#include "model/rng.hpp"

// Replicas of services, which have no work to be done: only their starts, their ends and changes
// among their neighbours are events.

namespace muster::replay {

double ReplicaNoise::factor(TaskId task, Attempt attempt) const {
  if (deviation_ <= 0) return 1;
  // A stream an attempt: equal whatever else a policy lets happen.
  constexpr std::uint64_t kAttempts = 1U << 16;
  Rng rng = Rng::of_round(seed_, "performance", task.value * kAttempts + attempt);
  return std::exp(deviation_ * standard_normal(rng));
}

double performance_of(const ServiceTruth& service, const ReplicaStand& replica, double load) {
  const ReplicaPlace place{replica.granted[Resource::cpu], replica.granted[Resource::memory],
                           static_cast<double>(replica.together)};
  return std::clamp(service.performance->at(place, load) * replica.noise, 0.0, 1.0);
}

void ServiceWorld::add(const WorkloadJob& job, const Job& part) {
  MUSTER_CHECK(job.truth.service != nullptr, "only services are here");
  for (const TaskSpec& task : part.tasks) {
    Replica& replica = replicas_[task.id];
    replica.service = job.job.id;
    replica.truth = job.truth.service;
    replica.start = task.delays.init;
  }
}

void ServiceWorld::forget(const Job& part) {
  for (const TaskSpec& task : part.tasks) {
    lose(task.id);
    replicas_.erase(task.id);
  }
}

void ServiceWorld::load(const LoadedTask& loaded) {
  const auto found = replicas_.find(loaded.task);
  MUSTER_CHECK(found != replicas_.end() && !found->second.loaded,
               "a replica that is known is loaded in one place at a time");
  Replica& replica = found->second;
  replica.loaded = true;
  replica.instance = loaded.instance;
  replica.caller = loaded.caller;
  replica.stand = {loaded.granted, 1, setup_.noise.factor(loaded.task, loaded.caller.attempt)};
  replica.due = instant(setup_.now()) + replica.start;
  starting_.emplace(std::pair{*replica.due, loaded.task}, &replica);
  Neighbours& neighbours = neighbours_[{replica.instance, replica.service}];
  neighbours.push_back(&replica);
  regroup(neighbours, true);
  arm();
}

void ServiceWorld::take_off(TaskId task, bool tells) {
  // A worker may hear of its end after its job's.
  const auto found = replicas_.find(task);
  if (found == replicas_.end() || !found->second.loaded) return;
  Replica& replica = found->second;
  if (replica.due) starting_.erase({*replica.due, task});
  replica.due.reset();
  replica.loaded = replica.ready = false;
  replica.caller = {};
  const auto entry = neighbours_.find({replica.instance, replica.service});
  std::erase(entry->second, &replica);
  regroup(entry->second, tells);
  if (entry->second.empty()) neighbours_.erase(entry);
}

/// There are more or fewer of them than before.
void ServiceWorld::regroup(Neighbours& neighbours, bool tells) const {
  for (Replica* replica : neighbours) {
    const std::size_t before = std::exchange(replica->stand.together, neighbours.size());
    // One that starts speaks when it is ready.
    const bool speaks = tells && replica->ready && replica->truth->performance;
    if (speaks && before != neighbours.size()) replica->caller.tell_change();
  }
}

double ServiceWorld::throughput(TaskId task) const {
  const auto found = replicas_.find(task);
  if (found == replicas_.end() || !found->second.truth->performance) return 1;
  const Replica& replica = found->second;
  ReplicaStand alone = replica.stand;
  alone.together = 1;
  const double best = performance_of(*replica.truth, alone);
  if (best <= 0) return 1;
  constexpr double kLeastThroughput = 1e-3;  // it is above 0
  return std::clamp(performance_of(*replica.truth, replica.stand) / best, kLeastThroughput, 1.0);
}

std::optional<ReplicaWord> ServiceWorld::replica(TaskId task) const {
  const auto found = replicas_.find(task);
  if (found == replicas_.end()) return std::nullopt;
  const Replica& replica = found->second;
  ReplicaWord word{replica.ready, {}};
  if (replica.truth->performance) word.performance = performance_of(*replica.truth, replica.stand);
  return word;
}

void ServiceWorld::arm() {
  if (starting_.empty()) return;
  const Instant next = starting_.begin()->first.first;
  // Wakeups cannot be taken back: one that comes too early finds nothing to do and arms again.
  if (armed_ && *armed_ <= next) return;
  armed_ = next;
  setup_.wake_at(next);
}

void ServiceWorld::wake(Instant now) {
  if (armed_ && *armed_ <= now) armed_.reset();
  while (!starting_.empty() && starting_.begin()->first.first <= now) {
    Replica& replica = *starting_.begin()->second;
    starting_.erase(starting_.begin());
    replica.due.reset();
    replica.ready = true;
    replica.caller.tell_change();
  }
  arm();
}

}  // namespace muster::replay
