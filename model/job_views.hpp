#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.hpp"
#include "model/job.hpp"
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
  a("least", v.least);
  a("most", v.most);
  a(or_null("width"), v.width);
  a("done", v.done);
  a(or_null("whole"), v.whole);
  a(or_null("unit"), v.unit);
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
  bool distinct_instances = false;
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
  std::optional<SubmissionView> submission{};  ///< only of a job that was asked for alone
};

void fields(auto& a, Like<JobView> auto& v) {
  a("job", v.job);
  a("name", v.name);
  a("user", v.user);
  a("class", v.workload_class);
  a("command", v.command);
  a("market", v.market);
  a("gang", v.gang);
  a(later("movable"), v.movable);
  a(later("checkpoints"), v.checkpoints);
  a(later("distinct_instances"), v.distinct_instances);
  a("state", v.state);
  a("tasks_total", v.tasks);
  a(inside("whole"), v.whole);
  a("waiting", v.waiting);
  a("held", v.held);
  a("capped", v.capped);
  a("starting", v.starting);
  a("running", v.running);
  a("finished", v.finished);
  a("failed", v.failed);
  a("failed_attempts", v.failed_attempts);
  a("submitted_s", v.submitted);
  a("over_s", v.over);
  a("usd", v.usd);
  a(later("max_fails"), v.max_fails);
  a("exit_code", v.exit_code);
  a(later("failed_task"), v.failed_task);
  a(inside("failure"), v.failure);
  a(later("reason"), v.reason);
  a(or_null("master"), v.master);
  a(inside("to"), v.to);
  a(inside("to_site"), v.to_site);
  a(later("elastic"), v.elastic);
  a(inside("submission"), v.submission);
}

/// Why a task waits or was refused.
struct ReasonView {
  static constexpr std::string_view kSchema = "Reason";

  RefusalKind kind = RefusalKind::not_now;
  std::string code{};  ///< its name; "refused": more is not known any more
  std::string text;
};

void fields(auto& a, Like<ReasonView> auto& v) {
  a("kind", v.kind);
  a("code", v.code);
  a("text", v.text);
}

/// Failure of the last attempt that did not finish.
struct FailureView {
  FailureKind kind = FailureKind::unknown;
  std::string text;
};

void fields(auto& a, Like<FailureView> auto& v) {
  a("kind", v.kind);
  a("text", v.text);
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
  std::optional<Instant> started{};
  std::optional<Instant> ended{};
  std::vector<FigureView> metrics{};  ///< metrics that it has reported last, by name
  std::string why{};                  ///< of an explained job, which alone shows it
};

void fields(auto& a, Like<TaskView> auto& v) {
  a("task", v.index);
  a("phase", v.phase);
  a("attempt", v.attempt);
  a(or_null("instance"), v.instance);
  a(or_null("instance_type"), v.instance_type);
  a("usd", v.usd);
  a("exit_code", v.exit_code);
  a("reason", v.reason);
  a("moves", v.moves);
  a(later("failures"), v.failures);
  a(later("last_failure"), v.last_failure);
  a(later("ran_s"), v.ran_s);
  a(later("started_s"), v.started);
  a(later("ended_s"), v.ended);
  a(later("metrics"), v.metrics);
  a(inside("why"), v.why);
}

/// Jobs of a list, and parts of them.
struct JobsView {
  std::vector<JobView> jobs;
  bool cut = false;  ///< more are wanted, and go on behind the last of these
  std::vector<JobId>
      rest{};  ///< of JobsQuestion::only, where it is cut: those still to be asked for
};

void fields(auto& a, Like<JobsView> auto& v) {
  a("jobs", v.jobs);
  a(inside("cut"), v.cut);
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
