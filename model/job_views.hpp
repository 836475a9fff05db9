#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.hpp"
#include "model/history.hpp"
#include "model/job.hpp"
#include "model/job_cursor.hpp"
#include "model/refusal.hpp"
#include "model/shown_states.hpp"
#include "model/view_fields.hpp"

// Jobs and their tasks as masters, sites and the API show them.

namespace muster {

/// How wide an elastic job is and may be, and how far it has come.
struct ElasticView {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
  std::uint32_t width = 0;  ///< workers that it is to have now; 0: no workers, or no master has it
  double done = 0;          ///< by the word of its first worker, when it was measured last
  double whole = 0;         ///< of all its work; 0: it has not said
  std::string unit{};       ///< of these two; empty: it has not said
};

void fields(auto& a, Like<ElasticView> auto& v) {
  a(always("least", "least number of workers"), v.least);
  a(always("most", "largest number of workers"), v.most);
  a(or_null("width", "number of workers that share it now; null: it is over, or no master has it"),
    v.width);
  a(always("done", "work that is done by the word of its first worker, as of the last round"),
    v.done);
  a(or_null("whole", "the whole work; null: its worker does not say"), v.whole);
  a(or_null("unit", "unit of done and whole"), v.unit);
}

/// The request that a job was submitted with: without its command, its token and the values of its
/// variables.
struct SubmissionView {
  Job job;              ///< with one task, which the others are like
  std::string array{};  ///< the indices of its tasks, perhaps cut; empty: only a part is known
};

void fields(auto& a, Like<SubmissionView> auto& v) {
  a("job", v.job);
  a("array", v.array);
}

/// A job that has, or had, to be over before another one begins.
struct AfterView {
  JobId job;
  AfterEnd when = AfterEnd::ok;
  bool by_index = false;
};

void fields(auto& a, Like<AfterView> auto& v) {
  a(always("job", "its number"), v.job);
  a(always("when",
           "ok: it has to complete; fail: to fail, or be refused; any: to be over; start: "
           "to have started"),
    v.when);
  a(later("by_index", "each task waits for the task of that job with its array index alone"),
    v.by_index);
}

/// A job, or the part of it that one master or site has.
struct JobView {
  static constexpr std::string_view kSchema = "Job";

  JobId job;
  std::string name;
  std::string user;
  std::string workload_class;
  std::vector<std::string> command;
  MarketChoice market = MarketChoice::any;
  bool gang = false;
  bool movable = true;
  bool checkpoints = false;
  bool distinct_instances = false;     ///< exactly where the next is 1
  std::uint32_t most_an_instance = 0;  ///< 0: any number
  ShownState state = ShownState::waiting;
  std::uint64_t tasks = 0;  ///< of this part
  std::uint64_t whole = 0;  ///< of the job
  std::uint64_t waiting = 0;
  std::uint64_t held = 0;
  std::uint64_t capped = 0;
  std::uint64_t starting = 0;
  std::uint64_t running = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;  ///< for good
  std::uint64_t failed_attempts = 0;
  std::optional<Instant> submitted{};
  std::optional<Instant> over{};
  double usd = 0;
  std::optional<std::uint32_t> max_fails{};
  std::optional<std::int32_t> exit_code{};
  std::optional<std::uint32_t> failed_task{};  ///< the lowest index of those that have failed
  std::optional<std::string> failure{};        ///< that task's, for who puts the parts together
  std::optional<std::string> reason{};         ///< why it waits, failed or was refused
  std::string master{};                        ///< the master that has it; empty: no master
  std::string to{};      ///< of a site: where it is on its way to; empty: nowhere
  bool to_site = false;  ///< that is another site
  std::optional<ElasticView> elastic{};
  std::uint32_t revision = 0;
  std::vector<AfterView> after{};
  JobId again_of{};
  JobId run_of{};
  bool recurs = false;
  std::optional<SubmissionView> submission{};  ///< only of a job that was asked for alone
  JobPlace place{};
  std::optional<double> cpu_s{};
  std::optional<double> peak_mib{};
};

/// The later members: how it ended, to whom it belongs, and what it has used.
void fields_of_story(auto& a, Like<JobView> auto& v) {
  a(inside("failure"), v.failure);
  a(later("reason",
          "of a job that is not over, why tasks of it wait (a page of its tasks alone says "
          "this, not a list); else why it failed, was refused or ended"),
    v.reason);
  a(or_null("master", "the master that has it; null where no master does"), v.master);
  a(inside("to"), v.to);
  a(inside("to_site"), v.to_site);
  a(later("elastic",
          "of an elastic job, between which bounds it runs and how far it is; null: it is not "
          "elastic"),
    v.elastic);
  a(if_any("revision", "of a service, which of its revisions the job is"), v.revision);
  a(later("after", "the jobs that have to be over before it begins, or had to be"), v.after);
  a(if_any("again_of", "the job that it is a resubmission of"), v.again_of);
  a(if_any("run_of", "the recurring job that it is a run of"), v.run_of);
  a(inside("recurs"), v.recurs);
  a(inside("submission"), v.submission);
  a(inside("place"), v.place);
  a(later("cpu_s", "processor time of all its attempts that have ended; null: not known"), v.cpu_s);
  a(later("peak_mib", "the most memory that one of these held, in MiB; null: not known"),
    v.peak_mib);
}

void fields(auto& a, Like<JobView> auto& v) {
  a(always("job", "id"), v.job);
  a(always("name", "the name that its user gave it"), v.name);
  a(always("user", "its user"), v.user);
  a(always("class",
           "jobs with one class are taken to run alike; the name, unless the request says "
           "otherwise"),
    v.workload_class);
  a(always("command", "program and arguments"), v.command);
  a(always("market", "the market whose instances it may run on"), v.market);
  a(always("gang", "its tasks start together or not at all"), v.gang);
  a(later("movable", "a running task may be moved to another instance"), v.movable);
  a(later("checkpoints", "a task that is stopped goes on later where it was"), v.checkpoints);
  a(later("distinct_instances", "no two of its tasks run on one instance"), v.distinct_instances);
  a(later("most_an_instance",
          "number of its tasks that may have a place on one instance at once; 0: all"),
    v.most_an_instance);
  a(always("state",
           "waiting: no task has a place; starting: some have a place and no task runs; running: "
           "some task runs; held: its user holds what would wait; stopping: it will not be "
           "completed and something of it still runs; handing over: a site has not given it to "
           "a master yet; unknown: a word of a later version"),
    v.state);
  a(always("tasks_total", "number of its tasks"), v.tasks);
  a(inside("whole"), v.whole);
  a(always("waiting", "tasks that wait for a place or, with one, for their instance"), v.waiting);
  a(always("held", "tasks that their user holds"), v.held);
  a(always("capped",
           "tasks that are to get no place for now, as max_running or the width of the elastic "
           "job says"),
    v.capped);
  a(always("starting", "tasks whose instance is about to start them"), v.starting);
  a(always("running", "tasks that run"), v.running);
  a(always("finished", "tasks that have finished"), v.finished);
  a(always("failed", "tasks that have failed and are not tried again"), v.failed);
  a(always("failed_attempts", "attempts that have failed, of all its tasks"), v.failed_attempts);
  a(always("submitted_s",
           "when it was submitted; null where a site of an earlier version still has it"),
    v.submitted);
  a(always("over_s", "when it was over; null while it is not"), v.over);
  a(always("usd", "cost of its tasks so far"), v.usd);
  a(later("max_fails",
          "number of its tasks that may fail; with one more the rest is ended; null: any "
          "number"),
    v.max_fails);
  a(always("exit_code",
           "0 when all tasks have finished; else that of failed_task; null where no task has "
           "failed with one"),
    v.exit_code);
  a(later("failed_task", "lowest index of a task that has failed; null where no task has"),
    v.failed_task);
  fields_of_story(a, v);
}

/// Why a task waits or was refused.
struct ReasonView {
  static constexpr std::string_view kSchema = "Reason";

  RefusalKind kind = RefusalKind::not_now;
  std::string code{};  ///< its name; "refused": more is not known any more
  std::string text;
};

void fields(auto& a, Like<ReasonView> auto& v) {
  a(always("kind",
           "not now: it may change by itself; never: only another request can run; broken: a "
           "fault of the plan"),
    v.kind);
  a(always("code", "the reason, a word for programs"), v.code);
  a(always("text", "the reason with its numbers, a sentence for people"), v.text);
}

/// Failure of the last attempt that did not finish.
struct FailureView {
  FailureKind kind = FailureKind::unknown;
  std::string text;
};

void fields(auto& a, Like<FailureView> auto& v) {
  a(always("kind", "how it ended"), v.kind);
  a(always("text", "a sentence about it"), v.text);
}

/// A number with its name. A list of them is an object of the API's documents, in which the last
/// of a name counts and a number that is not finite is null.
struct FigureView {
  std::string name;
  double value = 0;
};

void fields(auto& a, Like<FigureView> auto& v) {
  a("name", v.name);
  a("value", v.value);
}

/// An attempt of a task.
struct AttemptView {
  static constexpr std::string_view kSchema = "Attempt";

  Attempt attempt = 0;
  InstanceId instance{};
  std::string instance_type{};  ///< empty: not known
  std::optional<Market> market{};
  std::optional<Instant> sent{};
  std::optional<Instant> started{};
  std::optional<Instant> ended{};
  std::optional<double> ran_s{};
  AttemptEnd end = AttemptEnd::not_over;
  std::string why{};
  std::optional<std::int32_t> exit_code{};
  double usd = 0;
  std::optional<double> cpu_s{};
  std::optional<double> peak_mib{};
};

void fields(auto& a, Like<AttemptView> auto& v) {
  a(always("attempt", "its number; the first is 1"), v.attempt);
  a(or_null("instance", "id of its instance"), v.instance);
  a(or_null("instance_type", "type of its instance"), v.instance_type);
  a(always("market", "market of its instance; null: not known"), v.market);
  a(always("sent_s", "when it was sent to its instance; null: not known"), v.sent);
  a(always("started_s", "when its program started; null: it has not, or it is not known"),
    v.started);
  a(always("ended_s", "when it left its instance; null: it has not"), v.ended);
  a(always("ran_s", "how long it ran, by the clock; null: it has not started, or it is not known"),
    v.ran_s);
  a(always("end",
           "moved: told to stop, the task goes on elsewhere; stopped: told to, for its job was "
           "over; lost: its worker or instance was gone"),
    v.end);
  a(always("why", "why it left, or where it is: a sentence for people"), v.why);
  a(always("exit_code", "that of its program; null where it had no process"), v.exit_code);
  a(always("usd", "its cost so far"), v.usd);
  a(later("cpu_s", "processor time; null: it has not ended, or it is not known"), v.cpu_s);
  a(later("peak_mib",
          "the most memory that it held, in MiB; null: it has not ended, or it is not known"),
    v.peak_mib);
}

/// A task of a job.
struct TaskView {
  static constexpr std::string_view kSchema = "Task";

  std::uint32_t index = 0;
  ShownPhase phase = ShownPhase::pending;
  Attempt attempt = 0;
  InstanceId instance{};
  std::string instance_type{};  ///< empty: not known
  double usd = 0;
  std::optional<std::int32_t> exit_code{};
  std::optional<ReasonView> reason{};
  std::uint32_t moves = 0;
  std::uint32_t failures = 0;
  std::optional<FailureView> last_failure{};
  std::optional<double> ran_s{};
  std::optional<double> wall_s{};
  std::optional<Instant> started{};
  std::optional<Instant> ended{};
  /// Of a job whose attempts are asked for: the first and the last ones.
  std::optional<std::vector<AttemptView>> attempts{};
  std::uint64_t attempts_left_out = 0;
  std::vector<FigureView> metrics{};  ///< metrics that it has reported last, by name
  std::string why{};                  ///< of an explained job, which alone shows it
  std::optional<double> cpu_s{};
  std::optional<double> peak_mib{};
};

void fields(auto& a, Like<TaskView> auto& v) {
  a(always("task", "its index in the job"), v.index);
  a(always("phase",
           "stopped and not run: its job was over first, after or before the task had run"),
    v.phase);
  a(always("attempt", "number of its newest attempt; 0 before the first"), v.attempt);
  a(or_null("instance", "id of its instance; null: it has no place"), v.instance);
  a(or_null("instance_type", "type of its instance"), v.instance_type);
  a(always("usd", "its cost so far"), v.usd);
  a(always("exit_code",
           "that of the last attempt that ended; null where no attempt ended or it had no "
           "process"),
    v.exit_code);
  a(always("reason", "why it waits; null: it does not"), v.reason);
  a(always("moves", "how often it was moved to another instance"), v.moves);
  a(later("failures", "attempts that failed"), v.failures);
  a(later("last_failure", "the last attempt that did not finish; null: there is no such attempt"),
    v.last_failure);
  a(later("ran_s",
          "how long it has run so far, as policies count it: an attempt of which all was lost "
          "does not count; null where its job is over and it did not finish at its first "
          "attempt"),
    v.ran_s);
  a(later("wall_s",
          "how long its attempts ran together, by the clock; null: earlier versions did not say"),
    v.wall_s);
  a(later("started_s", "when its first attempt started"), v.started);
  a(later("ended_s", "when its last attempt ended"), v.ended);
  a(if_any("attempts", "where they are asked for: its attempts, the first and the last ones"),
    v.attempts);
  a(if_any("attempts_left_out", "number of its attempts between the first and the last ones"),
    v.attempts_left_out);
  a(later("metrics",
          "values that the task reported last (muster progress --metric), by metric name"),
    v.metrics);
  a(inside("why"), v.why);
  a(later("cpu_s", "processor time of its attempts that have ended; null: not known"), v.cpu_s);
  a(later("peak_mib", "the most memory that one of these held, in MiB; null: not known"),
    v.peak_mib);
}

/// Jobs of a list, and parts of them.
struct JobsView {
  std::vector<JobView> jobs;
  bool cut = false;  ///< more are wanted, and go on behind the last of these
  /// Where it is cut and this is set: up to here all that are wanted are among these, and the
  /// others go on behind it.
  std::optional<JobCursor> looked{};
  std::vector<JobId>
      rest{};  ///< of JobsQuestion::only, where it is cut: those still to be asked for
};

void fields(auto& a, Like<JobsView> auto& v) {
  a("jobs", v.jobs);
  a(inside("cut"), v.cut);
  a(inside("looked"), v.looked);
  a(inside("rest"), v.rest);
}

/// A job, or a part of one, with a page of its tasks.
struct JobDetails {
  bool known = false;  ///< otherwise nothing of it is here
  JobView job;
  std::vector<TaskView> tasks{};
  std::uint64_t behind = 0;  ///< tasks that are wanted and come behind these
};

void fields(auto& a, Like<JobDetails> auto& v) {
  a("known", v.known);
  a("job", v.job);
  a("tasks", v.tasks);
  a("tasks_behind", v.behind);
}

/// Whether a job is here, and where in it the task that was asked for.
struct FoundView {
  bool known = false;
  bool over = false;
  std::optional<std::uint32_t> position{};  ///< of the task in the job
};

void fields(auto& a, Like<FoundView> auto& v) {
  a("known", v.known);
  a("over", v.over);
  a("position", v.position);
}

/// How a task of a job has ended. The one who asks for a word knows which tasks have it.
struct TaskEnd {
  enum class Kind : std::uint8_t { neither, finished, failed };
  std::uint32_t position = 0;
  std::uint32_t index = 0;
  Kind kind = Kind::neither;
};

/// The request that a job was made from, to submit it again. It has the job's environment, so it
/// goes to the node that serves the API and no further.
struct RequestView {
  bool known = false;
  Job job{};  ///< with one task, which the others are like; none: it cannot be submitted again
  std::uint32_t whole = 0;
  bool over = false;
  std::vector<TaskEnd> tasks{};
};

void fields(auto& a, Like<RequestView> auto& v) {
  a("known", v.known);
  a("job", v.job);
  a("whole", v.whole);
  a("over", v.over);
  a("tasks", v.tasks);
}

}  // namespace muster
