#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"
#include "tools/replay/occupancy.hpp"

namespace muster::replay {

/// What one job went through.
struct JobTimes {
  const Job* job = nullptr;       ///< lives in the log; the first part of a job that was split
  std::vector<const Job*> parts;  ///< all of them
  std::size_t tasks = 0;          ///< in all parts
  std::size_t open = 0;           ///< parts that are not over
  Instant accepted;
  std::optional<Instant> ended;
  std::optional<JobOutcome> outcome;
  Duration executing{};      ///< while all its unfinished tasks ran
  std::uint64_t starts = 0;  ///< of all its tasks
  std::uint64_t tasks_started = 0;
  double mean_throughput = 1;
  std::uint64_t throughput_samples = 0;
  std::string last_failure;  ///< reason of the last failed attempt
};

/// Follows the jobs of a log.
class JobFollower {
 public:
  void apply(const Event& event);

  /// In the order of acceptance.
  const std::vector<JobTimes>& jobs() const { return times_; }
  /// Why the job has not ended, as far as the log says: the reason of its first waiting task.
  std::string reason(const JobTimes& times) const;

 private:
  struct Task {
    std::size_t job = 0;
    bool running = false;
    bool finished = false;
    std::uint64_t starts = 0;
    std::optional<Refusal> refusal;  ///< while it waits
  };
  struct Gang {
    std::size_t running = 0;
    std::size_t finished = 0;
    std::optional<Instant> executing_since;
  };

  void accept(const Job& job, Instant now);
  void assign(TaskId task);
  void start(TaskId task);
  void set_running(TaskId task, bool running, Instant now);
  void finish(TaskId task, Instant now);
  void fail(const TaskFailed& failed, Instant now);
  void end(const JobFinished& finished, Instant now);
  void refresh(std::size_t job, Instant now);

  Occupancy occupancy_;
  std::vector<JobTimes> times_;
  std::vector<Gang> gangs_;  ///< beside times_
  std::unordered_map<JobId, std::size_t> by_id_;
  std::unordered_map<TaskId, Task> tasks_;
};

}  // namespace muster::replay
