#include "schedulers/sampling/pigeon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// Pigeon's two levels: a distributor that knows workers by groups only, and a master a group that
// knows the room of each of its workers and lets tasks wait in two queues.

namespace muster::sampling {

PigeonGroup pigeon_group(const PigeonRules& rules, std::size_t workers, std::uint32_t index) {
  const auto all = static_cast<std::uint32_t>(workers);
  const std::uint32_t size = all / rules.groups;
  const std::uint32_t larger = all % rules.groups;
  PigeonGroup group;
  // The first `larger` groups have one worker more.
  group.first = index * size + std::min(index, larger);
  group.size = size + (index < larger ? 1 : 0);
  if (group.size < 2 || rules.reserved <= 0) return group;
  const auto part = static_cast<std::uint32_t>(std::round(rules.reserved * group.size));
  // At least one, or short tasks would wait for long ones; at most all but one, or long tasks would
  // have nowhere to go.
  group.reserved = std::clamp(part, 1U, group.size - 1);
  return group;
}

std::uint32_t pigeon_group_of(const PigeonRules& rules, std::size_t workers, WorkerIndex worker) {
  const auto all = static_cast<std::uint32_t>(workers);
  const std::uint32_t size = all / rules.groups;
  const std::uint32_t larger = all % rules.groups;
  // The inverse of pigeon_group(): below this are the larger groups.
  const std::uint32_t in_larger = larger * (size + 1);
  return worker < in_larger ? worker / (size + 1) : larger + (worker - in_larger) / size;
}

void PigeonDistributor::open(const Roster& roster, Actions&) {
  roster_ = roster;
}

/// The groups that have a worker for such tasks.
std::vector<std::uint32_t> PigeonDistributor::groups_for(const SampledJob& job) const {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t index = 0; index < rules_.groups; ++index) {
    const PigeonGroup group = pigeon_group(rules_, roster_.size(), index);
    const WorkerIndex first = job.is_long ? group.first + group.reserved : group.first;
    for (WorkerIndex worker = first; worker < group.first + group.size; ++worker) {
      if (roster_.demand(job, worker) == nullptr) continue;
      groups.push_back(index);
      break;
    }
  }
  return groups;
}

/// Deals the tasks one by one, as cards are dealt: in many traces the durations of a job's tasks go
/// with their position, so groups that got neighbours would get unequal work.
void PigeonDistributor::take(const TaskBatch& batch, Instant, Actions& out) {
  const std::vector<std::uint32_t> groups = groups_for(*batch.job);
  left_[batch.job->id] = batch.tasks.size();
  // A random group is first, so that small jobs do not all go to the first groups.
  const std::size_t first = rng_.below(groups.size());
  for (std::size_t i = 0; i < std::min(groups.size(), batch.tasks.size()); ++i) {
    Forward part{1 + groups[(first + i) % groups.size()], {batch.job, {}}};
    for (std::size_t task = i; task < batch.tasks.size(); task += groups.size()) {
      part.batch.tasks.push_back(batch.tasks[task]);
    }
    out.push_back(std::move(part));
  }
}

void PigeonDistributor::done(const TaskDone& done, Instant, Actions& out) {
  const auto left = left_.find(done.job);
  if (--left->second > 0) return;
  left_.erase(left);
  out.push_back(JobOver{done.job});
}

void PigeonMaster::open(const Roster& roster, Actions&) {
  roster_ = roster;
  group_ = pigeon_group(rules_, roster.size(), index_);
  workers_.resize(group_.size);
  for (std::uint32_t i = 0; i < group_.size; ++i) {
    workers_[i].free = roster.capacity(group_.first + i);
    note_room(group_.first + i);
  }
}

bool PigeonMaster::fits(const SampledJob& job, WorkerIndex worker) {
  const Resources* amount = roster_.demand(job, worker);
  return amount != nullptr && amount->fits_in(at(worker).free);
}

/// The worker has come to have room.
void PigeonMaster::note_room(WorkerIndex worker) {
  at(worker).idle_since = next_idle_++;
  idle(worker).emplace(at(worker).idle_since, worker);
}

/// Workers without room for what was seen before may have room for smaller tasks.
void PigeonMaster::learn_least(const SampledJob& job) {
  Resources least = least_;
  for (const auto& amount : job.demand) {
    if (!amount) continue;
    for (Resource kind : kAllResources) {
      least[kind] = seen_any_ ? std::min(least[kind], (*amount)[kind]) : (*amount)[kind];
    }
    seen_any_ = true;
  }
  if (least == least_) return;
  std::vector<WorkerIndex> without;
  for (std::uint32_t i = 0; i < group_.size; ++i) {
    if (!has_room(group_.first + i)) without.push_back(group_.first + i);
  }
  least_ = least;
  for (WorkerIndex worker : without) {
    if (has_room(worker)) note_room(worker);
  }
}

void PigeonMaster::take(const TaskBatch& batch, Instant, Actions& out) {
  learn_least(*batch.job);
  for (std::uint32_t index : batch.tasks) {
    const Task task{batch.job, index};
    if (place_at_once(task, out)) continue;
    (batch.job->is_long ? long_ : short_).push_back(task);
  }
}

/// General workers first: the reserved ones are for what overflows. Nothing passes those that wait
/// for the same workers.
bool PigeonMaster::place_at_once(const Task& task, Actions& out) {
  const bool is_long = task.job->is_long;
  const bool others_wait = !short_.empty() || (is_long && !long_.empty());
  if (others_wait && !rules_.skip_blocked) return false;
  if (send_to_first(idle_general_, task, out)) return true;
  return !is_long && send_to_first(idle_reserved_, task, out);
}

bool PigeonMaster::send_to_first(const Idle& idle, const Task& task, Actions& out) {
  for (const auto& [since, worker] : idle) {
    if (!fits(*task.job, worker)) continue;
    send(worker, task, out);
    return true;
  }
  return false;
}

void PigeonMaster::send(WorkerIndex index, const Task& task, Actions& out) {
  Worker& worker = at(index);
  worker.free -= *roster_.demand(*task.job, index);
  worker.running.push_back(task.job);
  if (!has_room(index)) idle(index).erase({worker.idle_since, index});
  out.push_back(Push{index, {task.job->id, task.index}});
}

void PigeonMaster::done(const TaskDone& done, Instant, Actions& out) {
  Worker& worker = at(done.worker);
  const auto task = std::find_if(worker.running.begin(), worker.running.end(),
                                 [&](const SharedJob& job) { return job->id == done.job; });
  const bool had_room = has_room(done.worker);
  worker.free += *roster_.demand(**task, done.worker);
  worker.running.erase(task);
  // No rounding error outlives the last task.
  if (worker.running.empty()) worker.free = roster_.capacity(done.worker);
  if (!had_room && has_room(done.worker)) note_room(done.worker);
  if (serve(done.worker, out)) serve_all(out);
}

/// Tasks that have moved up in the queues may fit somewhere else.
void PigeonMaster::serve_all(Actions& out) {
  bool moved = true;
  while (moved && !(short_.empty() && long_.empty())) {
    moved = false;
    for (const Idle* list : {&idle_general_, &idle_reserved_}) {
      // A copy: serving changes the list.
      const Idle workers = *list;
      for (const auto& [since, worker] : workers) moved = serve(worker, out) || moved;
    }
  }
}

/// Gives the worker what is next, as long as it fits; whether anything was.
bool PigeonMaster::serve(WorkerIndex worker, Actions& out) {
  bool served = false;
  while (true) {
    const bool reserved = group_.is_reserved(worker);
    Queue& next = !reserved && longs_turn() ? long_ : short_;
    bool given = serve_from(next, worker, out);
    if (!given && !reserved && rules_.skip_blocked) {
      given = serve_from(&next == &long_ ? short_ : long_, worker, out);
    }
    if (!given) return served;
    served = true;
  }
}

/// Weighted fair queueing: short tasks first, but after a number of them a long one.
bool PigeonMaster::longs_turn() const {
  if (long_.empty()) return false;
  return short_.empty() || (rules_.weight > 0 && short_in_a_row_ >= rules_.weight);
}

bool PigeonMaster::serve_from(Queue& queue, WorkerIndex worker, Actions& out) {
  const auto end = rules_.skip_blocked || queue.empty() ? queue.end() : queue.begin() + 1;
  const auto task = std::find_if(
      queue.begin(), end, [&](const Task& candidate) { return fits(*candidate.job, worker); });
  if (task == end) return false;
  short_in_a_row_ = &queue == &short_ ? short_in_a_row_ + 1 : 0;
  send(worker, *task, out);
  queue.erase(task);
  return true;
}

}  // namespace muster::sampling
