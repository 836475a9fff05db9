#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"
#include "replay/metrics/occupancy.hpp"

namespace muster::metrics {

/// Final figures of a job.
struct JobFigures {
  JobId id;
  Duration jct{};        ///< once it is over
  Duration executing{};  ///< while all its unfinished tasks ran
  double mean_throughput = 1;
  std::uint32_t tasks = 0;   ///< in all parts
  std::uint32_t starts = 0;  ///< of all its tasks
  std::uint32_t tasks_started = 0;
  std::optional<JobOutcome> outcome;  ///< once it is over
  bool service = false;               ///< it has no end of its own
  bool sampled = false;               ///< somebody has seen its throughput
};

/// Follows the jobs of a log. The job of an event has to stay alive until the job is over; then
/// only its figures are kept.
class JobFollower {
 public:
  void apply(const Event& event);

  /// In the order of acceptance.
  const std::vector<JobFigures>& jobs() const { return figures_; }
  /// Why the job at the position has not completed, as far as the log says: the reason of its first
  /// waiting task.
  std::string reason(std::size_t job) const;

 private:
  /// The part of a job that a cell has.
  struct Part {
    std::uint32_t cell = 0;
    const Job* job = nullptr;  ///< lives in the log; null once the part is over
    std::string reason;        ///< of its first waiting task, when it is over without completion
  };
  /// A job of which some part is not over or has not come.
  struct Open {
    std::size_t figures = 0;
    std::vector<Part> parts;
    std::size_t whole = 0;  ///< tasks of all parts, those that have not come included
    Instant accepted;
    std::size_t running = 0;
    std::size_t finished = 0;
    std::optional<Instant> executing_since;
    std::optional<JobOutcome> outcome;  ///< the worst of the parts that are over
    std::string last_failure;           ///< reason of the last failed attempt

    bool has_open_part() const;
  };

  struct Task {
    Open* job = nullptr;
    bool running = false;
    bool finished = false;
    std::uint64_t starts = 0;
    std::optional<Refusal> refusal;  ///< while it waits
  };
  void accept(const Job& job, std::uint32_t cell, Instant now);
  void assign(TaskId task);
  void start(TaskId task);
  void set_running(TaskId task, bool running, Instant now);
  void finish(TaskId task, Instant now);
  void fail(const TaskFailed& failed, Instant now);
  void end(const JobFinished& finished, std::uint32_t cell, Instant now);
  void close(Part& part, JobOutcome outcome);
  void refresh(Open& job, Instant now);
  std::string waiting_reason(const Job& part) const;
  std::string reason_of(const Open& job) const;

  Occupancy occupancy_;
  std::vector<JobFigures> figures_;
  std::unordered_map<JobId, Open> open_;
  std::unordered_map<TaskId, Task> tasks_;      ///< of open parts
  std::map<std::size_t, std::string> reasons_;  ///< of jobs that are over and did not complete
};

}  // namespace muster::metrics
