#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/elastic.hpp"
#include "model/enum_words.hpp"
#include "model/geo.hpp"
#include "model/ids.hpp"
#include "model/resources.hpp"
#include "model/service.hpp"
#include "model/time.hpp"

namespace muster {

/// Needs of a task on the machines of one family.
struct FamilyDemand {
  std::string family;  ///< empty: any family
  Resources amount;
  double speed = 1;  ///< iterations per second relative to the job's own unit of speed (Eva 4.2)

  friend bool operator==(const FamilyDemand&, const FamilyDemand&) = default;
};

/// The demands of a task, one entry a family it can run on, or a single one for any family.
/// A task may be placed only on a family that it has a demand for. Copies share their entries,
/// which never change: the tasks of an array have equal demands, and are copied from hand to hand.
class Demands {
 public:
  Demands() = default;
  explicit Demands(const Resources& any_family)
      : Demands(std::vector<FamilyDemand>{{"", any_family, 1}}) {}
  explicit Demands(std::vector<FamilyDemand> entries)
      : entries_(std::make_shared<const std::vector<FamilyDemand>>(std::move(entries))) {}

  const std::vector<FamilyDemand>& entries() const { return entries_ ? *entries_ : none(); }
  /// The entry that holds for `family`: its own before the one for any; null when there is no
  /// entry.
  const FamilyDemand* on(std::string_view family) const;
  /// Whether one is a copy of the other, so that they are equal without a look at their entries.
  bool shares_with(const Demands& other) const { return entries_ == other.entries_; }

  friend bool operator==(const Demands& left, const Demands& right) {
    return left.shares_with(right) || left.entries() == right.entries();
  }

 private:
  static const std::vector<FamilyDemand>& none();

  std::shared_ptr<const std::vector<FamilyDemand>> entries_;  ///< null: no entries
};

/// How long the steps around a task's run take; all of them are paid for but make no progress.
struct Delays {
  Duration fetch{};   ///< before a start: inputs or the checkpoint are brought to the instance
  Duration build{};   ///< before a start: the image is made, once an instance and image
  Duration init{};    ///< after the start of the job's last task, until it progresses
  Duration stop{};    ///< from the request to stop until the task progresses no more
  Duration upload{};  ///< from then until the checkpoint is saved and the resources are free

  friend bool operator==(const Delays&, const Delays&) = default;
};

/// One task of a job.
struct TaskSpec {
  TaskId id;
  Demands demands;
  std::string image;  ///< image that is built once an instance; empty: no image
  Delays delays;
  std::uint32_t array_index = 0;           ///< index in its job, as the task is told
  std::optional<Duration> runtime_hint{};  ///< its run time alone, where it differs from the job's

  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

/// Program that the process of each of a job's tasks runs. Only executors that run real processes
/// look at it.
struct Program {
  std::vector<std::string> argv;                         ///< empty: there is nothing to execute
  std::vector<std::pair<std::string, std::string>> env;  ///< on top of a minimal environment
  std::string work_dir;                                  ///< empty: a folder of the attempt's own
  Duration time_limit{};  ///< an attempt that runs longer is ended and has failed; 0: no limit
  Duration stop_grace{};  ///< from SIGTERM to SIGKILL; 0: as the worker is set
  double baseline_rate_per_s = 0;  ///< units of progress a second when alone; 0: not known
  std::int32_t warn_signal =
      0;                   ///< signal that the attempt gets before its time limit; 0: no signal
  Duration warn_before{};  ///< time from that signal to the limit
  bool warn_program_only = false;  ///< not what the program has started
  /// Text that is run by its first line, as it was submitted: `argv` has its name and arguments.
  /// Empty: `argv` is run.
  std::string script{};
  bool make_work_dir =
      false;  ///< `work_dir` is made where it is missing, and its placeholders count
  /// Id of the tree of files, in its user's store, that each attempt's work folder begins with;
  /// empty: it begins empty.
  std::string stage{};
  /// Patterns of paths below the work folder: files that match at an attempt's end are kept.
  std::vector<std::string> outputs{};
  bool optional_outputs = false;  ///< a pattern without a match is no failure

  /// Each attempt begins with files or leaves some.
  bool has_files() const { return !stage.empty() || !outputs.empty(); }

  friend bool operator==(const Program&, const Program&) = default;
};

/// On which markets a job may run.
enum class MarketChoice : std::uint8_t { any, on_demand, spot };
constexpr auto words_of(MarketChoice) {
  using E = MarketChoice;
  return std::to_array<EnumWord<E>>(
      {{E::any, "any"}, {E::on_demand, "on-demand"}, {E::spot, "spot"}});
}

/// A site scheduler's expectation of a job's run time, against the threshold that it was told.
enum class JobLength : std::uint8_t { unknown, short_run, long_run };
constexpr auto words_of(JobLength) {
  using E = JobLength;
  return std::to_array<EnumWord<E>>(
      {{E::unknown, "unknown"}, {E::short_run, "short"}, {E::long_run, "long"}});
}

/// A site's expectation of a job; nothing where no site has predicted it.
struct Prediction {
  JobLength length = JobLength::unknown;
  bool spot_safe = false;  ///< expected to keep its goal on spot instances too (HCoop, SORS)
  std::optional<Duration> runtime{};  ///< of a task that runs alone
  double confidence = 0;              ///< the probability that the length is right

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

/// A fixed number of tasks, each of which runs to its end.
struct BatchSpec {
  friend bool operator==(const BatchSpec&, const BatchSpec&) = default;
};

/// Work that any number of workers between two bounds can share; how many is the policy's choice.
/// Each worker is a task of the job, which is a gang: of a job of width k the first k tasks have
/// places and start together, and no other does.
struct ElasticSpec {
  std::uint32_t min_width = 1;
  std::uint32_t max_width = 1;    ///< not below `min_width`; the job has as many tasks
  std::vector<double> speedup{};  ///< of widths 1, 2, ..., relative to one worker; none: not known
  ElasticEpochs epochs{};         ///< where its speedup is not the same all along; none: it is
  std::string unit{};             ///< of its progress, for people
  std::optional<BatchLimits> batch{};  ///< of a training job that chooses its batches

  friend bool operator==(const ElasticSpec&, const ElasticSpec&) = default;
};

using JobKind = std::variant<BatchSpec, ElasticSpec, ServiceSpec>;

/// How a job has to have ended for one that waits for it to begin.
enum class AfterEnd : std::uint8_t {
  ok,    ///< completed
  any,   ///< in whatever way
  fail,  ///< failed, or refused
  start  ///< not at all: a task of it has started, or it is over
};
constexpr auto words_of(AfterEnd) {
  using E = AfterEnd;
  return std::to_array<EnumWord<E>>(
      {{E::ok, "ok"}, {E::any, "any"}, {E::fail, "fail"}, {E::start, "start"}});
}

/// A job that has to be over before another one begins.
struct AfterJob {
  JobId job;
  AfterEnd end = AfterEnd::ok;
  /// Its place in the submission that it came with, from 1: it had no number yet. 0: `job` says it.
  std::uint32_t place = 0;
  bool met = false;  ///< it is over as it should be, as the site has heard
  /// Each task waits for its counterpart alone: the task of that job with an equal array index.
  bool by_index = false;
  /// A resubmission of it that came in before the site had heard of its end: where that is not as
  /// it should be, this one takes its place. Not valid: there is no such one.
  JobId again{};
  JobId first{};  ///< the job in whose place it is waited for, at first; not valid: in no other's

  friend bool operator==(const AfterJob&, const AfterJob&) = default;
};

/// After which ends of a job its user is told.
enum class NotifyOn : std::uint8_t {
  end,   ///< each, however it ended
  fail,  ///< it failed, was refused, or was skipped
  all    ///< once, when all jobs of the submission that say so are over
};
constexpr auto words_of(NotifyOn) {
  using E = NotifyOn;
  return std::to_array<EnumWord<E>>({{E::end, "end"}, {E::fail, "fail"}, {E::all, "all"}});
}

/// A job as a user submits it: tasks that belong together. The tasks of a gang start together and
/// all run at the pace of the slowest (Eva 4.4).
struct Job {
  JobId id;
  std::string name;
  std::string user;
  std::string workload_class;  ///< jobs of one class are expected to interfere alike
  int priority = 0;            ///< larger goes first of what waits
  bool gang = false;
  std::optional<Duration>
      runtime_hint;  ///< the user's estimate of its run time alone; a hint, not a limit
  std::vector<TaskSpec> tasks;
  Program program;
  MarketChoice markets = MarketChoice::any;
  std::uint32_t max_running = 0;         ///< tasks that may have a place at once; 0: all
  std::optional<std::uint32_t> retries;  ///< failed attempts of a task that are forgiven
  std::string token;                     ///< the submitter's; the same one is the same submission
  JobKind kind{};
  Prediction prediction{};         ///< the site's
  std::uint32_t total_tasks = 0;   ///< of the job whose part this is; 0: it is whole
  std::optional<GeoPoint> origin;  ///< where its user is; nothing: where the site is
  bool movable = true;             ///< a task that runs may be moved, which stops and starts it
  bool checkpoints = true;         ///< a task that is stopped goes on later where it was
  /// When more of its tasks than this have failed for good the rest is ended; nothing: never.
  std::optional<std::uint32_t> max_fails;
  std::uint32_t most_an_instance = 0;  ///< tasks that one instance may have; 0: any number
  /// A task that ends with exit code 0 after it was asked to stop has done its work.
  bool done_on_stop = false;
  /// After which failures a task is tried again: exit codes as texts, and "signal"; none: all.
  std::vector<std::string> retry_on{};
  std::string constraint{};       ///< on which types its tasks may be (Constraint); empty: on all
  std::vector<AfterJob> after{};  ///< the site keeps it until these are over; none: it begins
  JobId again_of{};               ///< the job that it is a resubmission of; not valid: of no job
  /// When its site took it in; nothing: in a replay, or under a version that did not say it.
  std::optional<Instant> submitted{};
  /// Not before that; of a recurring job, the time after which its next run is due.
  std::optional<Instant> begin{};
  std::optional<Instant> deadline{};  ///< it ends as expired when it is not over by then
  bool held = false;                  ///< it waits at its site until it is released
  /// When a job that it waits for ended otherwise, it waits for a resubmission of that one.
  bool keeps_waiting = false;
  /// When it recurs, like "0 3 * * *": it waits for good, and its runs are jobs of their own.
  std::string every{};
  std::string zone{};     ///< time zone of `every`; empty: UTC
  bool overlaps = false;  ///< a run is due though the one before is not over
  JobId recurs{};         ///< the recurring job that it is a run of; of that one, its newest run
  std::vector<std::string> notify{};  ///< addresses that are told of its end; may be empty
  NotifyOn notify_on = NotifyOn::end;

  /// Of the whole job, wherever its parts are.
  std::uint32_t task_count() const {
    return total_tasks > 0 ? total_tasks : static_cast<std::uint32_t>(tasks.size());
  }

  /// The service that it is; null: it has an end of its own.
  const ServiceSpec* service() const { return std::get_if<ServiceSpec>(&kind); }

  friend bool operator==(const Job&, const Job&) = default;
};

/// Its tasks wait for their counterparts in other jobs.
inline bool waits_by_index(const Job& job) {
  return std::any_of(job.after.begin(), job.after.end(),
                     [](const AfterJob& each) { return each.by_index; });
}

/// A part of a job whose number of failures is bounded, and how many of its tasks have failed for
/// good.
struct FailedPart {
  JobId job;
  std::uint32_t failed = 0;   ///< tasks of the part
  std::uint32_t allowed = 0;  ///< of the whole job

  friend bool operator==(const FailedPart&, const FailedPart&) = default;
};

}  // namespace muster
