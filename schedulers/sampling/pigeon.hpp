#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/sampling/scheduler.hpp"

namespace muster::sampling {

/// How the workers are split into groups, and how each group serves what waits.
struct PigeonRules {
  std::uint32_t groups = 30;
  double reserved = 0.02;     ///< share of each group's workers that is for short tasks alone
  std::uint32_t weight = 0;   ///< short tasks in a row before a waiting long one; 0: without end
  bool skip_blocked = false;  ///< a task that does not fit is passed over; else all behind it wait
};

/// The workers of one of Pigeon's groups.
struct PigeonGroup {
  WorkerIndex first = 0;
  std::uint32_t size = 0;
  std::uint32_t reserved = 0;  ///< number of the first workers, which are for short tasks alone

  bool is_reserved(WorkerIndex worker) const { return worker < first + reserved; }
};

/// The group at a place: all are of one size, the first ones by one larger.
PigeonGroup pigeon_group(const PigeonRules& rules, std::size_t workers, std::uint32_t index);

/// The place of the group that the worker is in.
std::uint32_t pigeon_group_of(const PigeonRules& rules, std::size_t workers, WorkerIndex worker);

/// Pigeon's distributor (SoCC'19): deals a job's tasks to the groups in turn, from one drawn at
/// random on, without asking anyone, and counts the completions. The group's master i is scheduler
/// 1+i.
class PigeonDistributor final : public Scheduler {
 public:
  PigeonDistributor(const PigeonRules& rules, std::uint64_t seed) : rules_(rules), rng_(seed) {}

  void open(const Roster& roster, Actions& out) override;
  void take(const TaskBatch& batch, Instant now, Actions& out) override;
  void done(const TaskDone& done, Instant now, Actions& out) override;

 private:
  std::vector<std::uint32_t> groups_for(const SampledJob& job) const;

  PigeonRules rules_;
  Rng rng_;
  Roster roster_;
  std::unordered_map<JobId, std::size_t> left_;  ///< tasks that are not over
};

/// The master of one of Pigeon's groups: knows its workers' room, keeps the tasks that wait, and
/// serves short ones first. Of jobs it knows nothing.
class PigeonMaster final : public Scheduler {
 public:
  PigeonMaster(const PigeonRules& rules, std::uint32_t index) : rules_(rules), index_(index) {}

  void open(const Roster& roster, Actions& out) override;
  void take(const TaskBatch& batch, Instant now, Actions& out) override;
  void done(const TaskDone& done, Instant now, Actions& out) override;

  std::size_t waiting_short() const { return short_.size(); }
  std::size_t waiting_long() const { return long_.size(); }

 private:
  struct Task {
    SharedJob job;
    std::uint32_t index = 0;
  };
  struct Worker {
    Resources free;
    std::vector<SharedJob> running;  ///< a task each
    std::uint64_t idle_since = 0;    ///< in the order in which workers came to have room
  };
  using Queue = std::deque<Task>;
  using Idle = std::set<std::pair<std::uint64_t, WorkerIndex>>;

  Worker& at(WorkerIndex worker) { return workers_[worker - group_.first]; }
  Idle& idle(WorkerIndex worker) {
    return group_.is_reserved(worker) ? idle_reserved_ : idle_general_;
  }
  bool has_room(WorkerIndex worker) { return least_.fits_in(at(worker).free); }
  bool fits(const SampledJob& job, WorkerIndex worker);
  void learn_least(const SampledJob& job);
  void note_room(WorkerIndex worker);
  bool place_at_once(const Task& task, Actions& out);
  bool send_to_first(const Idle& idle, const Task& task, Actions& out);
  void send(WorkerIndex worker, const Task& task, Actions& out);
  void serve_all(Actions& out);
  bool serve(WorkerIndex worker, Actions& out);
  bool serve_from(Queue& queue, WorkerIndex worker, Actions& out);
  bool longs_turn() const;

  PigeonRules rules_;
  std::uint32_t index_;
  Roster roster_;
  PigeonGroup group_;
  std::vector<Worker> workers_;
  Idle idle_general_, idle_reserved_;  ///< those that may hold one more of the tasks seen so far
  std::uint64_t next_idle_ = 0;
  Resources least_;  ///< of each kind, the least that any task has asked for
  bool seen_any_ = false;
  Queue short_, long_;
  std::uint32_t short_in_a_row_ = 0;  ///< taken from the queue while a long one may have waited
};

}  // namespace muster::sampling
