#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "actors/messages/interfaces.hpp"

namespace muster {

/// Jobs that are watched at one actor, counted once for each listener: more are turned away.
inline constexpr std::size_t kMaxWatches = 5'000'000;

/// Listeners for the ends of jobs. The actor that keeps it monitors the listeners: one that has
/// ended is dropped.
class JobWatch {
 public:
  explicit JobWatch(std::size_t most) : most_(most) {}

  /// Whether `more` further pairs of a listener and a job are taken.
  bool has_room(std::size_t more) const { return by_job_.size() + more <= most_; }
  /// True when the listener was not known: it is to be monitored.
  bool add(const JobListener& listener, JobId job);
  void remove(const JobListener& listener, JobId job);
  /// Takes out all listeners of the job.
  std::vector<JobListener> take(JobId job);
  /// The listener has ended. Drops the listener; returns the jobs that are no longer watched.
  std::vector<JobId> drop(const caf::actor_addr& listener);
  bool knows(const caf::actor_addr& listener) const { return slots_.contains(listener); }
  bool watches(JobId job) const;
  void clear();

 private:
  using Slot = std::uint64_t;  ///< of listeners, in the order in which they came

  const std::size_t most_;
  std::map<caf::actor_addr, Slot> slots_;
  std::map<Slot, JobListener> listeners_;
  std::set<std::pair<JobId, Slot>> by_job_;
  std::set<std::pair<Slot, JobId>> by_listener_;
  Slot next_ = 0;
};

/// How the newest jobs have ended, for those who ask a little late.
class NewestEnds {
 public:
  /// More than the jobs that a user may submit at once.
  static constexpr std::size_t kMost = 10'000;

  void add(const JobEnd& end);
  /// Null when it is not known, or not any more.
  const JobEnd* find(JobId job) const;

 private:
  std::map<JobId, JobEnd> ends_;
  std::deque<JobId> by_age_;  ///< the pairs, oldest first
};

}  // namespace muster
