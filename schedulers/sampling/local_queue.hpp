#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "schedulers/sampling/protocol.hpp"

namespace muster::sampling {

/// How a worker treats its reservations.
struct QueueRules {
  bool sticky = false;          ///< a probe stays until its job has no task left (Eagle, SBP)
  bool shortest_first = false;  ///< by remaining time of the job, not first come (Eagle, SRPT)
  double starvation_cap = 5;  ///< multiple of its own estimate by which a task is overtaken at most
  bool reject_behind_long = false;  ///< no probe is taken while a long task is here (Eagle, SSS)
  bool skip_blocked = false;  ///< a task that does not fit is passed over; else all behind it wait
};

/// A worker's queue of reservations and the room that they may take: Sparrow's first come, first
/// served, and Eagle's order with its starvation bound. Room that a request was made for is taken
/// until the answer has come.
class LocalQueue {
 public:
  LocalQueue(WorkerIndex self, TypeId type, const Resources& capacity, const QueueRules& rules);

  /// Nothing, or the rejection to send back.
  std::optional<Rejection> add(const Reservation& reservation);
  /// Removes the oldest waiting probe of the job; false without one.
  bool cancel(JobId job);

  /// The next request to send, if something that waits may ask now; to be called until it may not.
  std::optional<TaskRequest> next();
  /// The answer to a request has arrived: a task, which runs from now on, or none.
  void answered(std::uint32_t ticket, std::optional<TaskId> task);
  /// A task that was not asked for here runs from now on.
  void pushed(TaskId task, JobId job, const Resources& amount);

  struct Ended {
    JobId job;
    bool is_long = false;
  };
  /// The task is over; its room is free. Nothing when it did not run here.
  std::optional<Ended> over(TaskId task);

  const Resources& free() const { return free_; }
  bool has_long() const { return long_here_ > 0; }
  std::size_t waiting() const { return entries_.size(); }
  /// The most that a waiting task has been overtaken, relative to its allowance (1: all of it).
  double worst_delay() const { return worst_delay_; }
  /// Probes taken, and what became of those that are not here any more.
  struct Count {
    std::uint64_t taken = 0;
    std::uint64_t answered = 0;   ///< asked for a task once or more, and gone
    std::uint64_t cancelled = 0;  ///< by the scheduler
    std::uint64_t dropped = 0;    ///< because the job had no task left
  };
  const Count& count() const { return count_; }

 private:
  struct Entry {
    std::uint64_t number = 0;  ///< in the order of arrival
    SharedJob job;
    std::optional<std::uint32_t> task;
    double delay_s = 0;  ///< estimates of the short tasks that overtook it
    bool asking = false;

    bool is_long() const { return job->is_long; }
  };
  struct Asking {
    std::uint32_t ticket = 0;
    std::uint64_t number = 0;  ///< of the entry
    SharedJob job;
    Resources amount;
  };
  struct Running {
    TaskId task;
    Resources amount;
    Ended end;
  };
  using Place = std::deque<Entry>::iterator;

  Resources amount_of(const SampledJob& job) const { return *job.demand[type_.value]; }
  bool may_take_now(const Entry& entry) const;
  double allowance_s(const Entry& entry) const;
  void drop_served();
  Place first_in_line();
  Place shortest_in_line();
  TaskRequest ask(const Place& entry);
  void charge_older(std::uint64_t number, double estimate_s);
  void give_room_back(const Resources& amount);

  WorkerIndex self_;
  TypeId type_;
  Resources capacity_;
  QueueRules rules_;
  Resources free_;
  std::deque<Entry> entries_;  ///< in the order of arrival
  std::vector<Asking> asking_;
  std::vector<Running> running_;
  SharedBits bits_;
  std::uint32_t long_here_ = 0;  ///< waiting, asking or running
  std::uint32_t next_ticket_ = 0;
  std::uint64_t next_number_ = 0;
  double worst_delay_ = 0;
  Count count_;
};

}  // namespace muster::sampling
