#include "masters/view/cell_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "config/numbers.hpp"
#include "masters/room_rules.hpp"
#include "masters/view/attempt_views.hpp"
#include "masters/view/beyond_cap.hpp"
#include "masters/view/counterpart_text.hpp"
#include "masters/view/metric_series.hpp"
#include "masters/view/place_text.hpp"
#include "model/job_view.hpp"
#include "model/rounded_text.hpp"
#include "model/stay.hpp"
#include "model/time_text.hpp"

namespace muster::cell {
namespace {

std::string lost_attempts(const Refusal& refusal) {
  return fmt::format(
      "{} attempts one after the other were interrupted or moved without progress, "
      "and {} are too many",
      rounded_text(refusal.asked), rounded_text(refusal.available));
}

/// The sentence for a task that is confined.
std::string confinement(const ClusterState& state, const TaskRow& row) {
  return "is moved no more and runs on demand only: " + lost_attempts(why_confined(state, row));
}

bool waits(TaskPhase phase) {
  return phase == TaskPhase::pending || phase == TaskPhase::held || phase == TaskPhase::capped ||
         phase == TaskPhase::assigned;
}

/// How often what was said, in the order in which it was said first.
template <class Value>
class Tally {
 public:
  struct Entry {
    Value what;
    std::size_t count = 0;
  };
  void add(const Value& value) {
    ++size_;
    // Tasks of a job mostly have the reason of the one before.
    if (last_ >= entries_.size() || !(entries_[last_].what == value)) {
      const auto found = std::find_if(entries_.begin(), entries_.end(),
                                      [&](const Entry& entry) { return entry.what == value; });
      last_ = static_cast<std::size_t>(found - entries_.begin());
      if (found == entries_.end() && entries_.size() == kMostReasons) return;
      if (found == entries_.end()) entries_.push_back({value, 0});
    }
    ++entries_[last_].count;
  }
  std::size_t size() const { return size_; }
  /// The one that was said most often, the first of equals; nothing when nothing was said. Values
  /// of which `says_little` holds are passed over as long as there is another.
  template <class SaysLittle>
  std::optional<Entry> most(SaysLittle says_little) const {
    const auto found =
        std::max_element(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
          const auto rank = [&](const Entry& e) {
            return std::pair(!says_little(e.what), e.count);
          };
          return rank(a) < rank(b);
        });
    return found == entries_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  /// Different reasons that are told apart; numbers in them may make many.
  static constexpr std::size_t kMostReasons = 64;

  std::vector<Entry> entries_;
  std::size_t last_ = 0;
  std::size_t size_ = 0;
};

/// "3 of 8 tasks wait"; of a job of one task "waits".
std::string counted(std::size_t count, std::size_t tasks, std::string_view one,
                    std::string_view several) {
  if (tasks == 1) return std::string(one);
  return fmt::format("{} of {} tasks {}", count, tasks, count == 1 ? one : several);
}

/// A task that has failed, by the index that its job gave it.
struct FailedTask {
  std::uint32_t index = 0;
  const TaskHistory* task = nullptr;
};

std::string failure_text(const FailedTask& failed) {
  const TaskHistory& task = *failed.task;
  if (task.failed && task.failures <= 1) {
    return fmt::format("task {} has failed: {}", failed.index, task.reason);
  }
  return fmt::format("task {} has failed {}, the last time: {}", failed.index,
                     task.failures == 1 ? "once" : fmt::format("{} times", task.failures),
                     task.reason);
}

/// The task with the lowest index of those that have failed for good.
std::optional<FailedTask> first_failed(const JobFailures* failures, const Master& master) {
  if (failures == nullptr || failures->for_good.empty()) return std::nullopt;
  const auto& [index, id] = *failures->for_good.begin();
  return FailedTask{index, master.facts().task_history(id)};
}

std::optional<FailedTask> first_failed(const JobHistory& job) {
  std::optional<FailedTask> first;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const std::uint32_t index = job.job.tasks[i].array_index;
    if (!job.tasks[i].failed || (first && first->index <= index)) continue;
    first = {index, &job.tasks[i]};
  }
  return first;
}

/// The job's exit code is that of the task that failed first in it. The text is for whoever puts
/// the parts of the job together.
void put_failure(JobView& view, const std::optional<FailedTask>& first) {
  if (!first) return;
  if (first->task->end.exit_code != 0) view.exit_code = first->task->end.exit_code;
  view.failed_task = first->index;
  view.failure = failure_text(*first);
}

/// Of the last attempt that ended; nothing without such an attempt, or without a process that could
/// give a code.
std::optional<std::int32_t> exit_code_of(const TaskHistory& task) {
  const bool said = task.ended_at && (task.finished || task.end.exit_code != 0);
  return said ? std::optional(task.end.exit_code) : std::nullopt;
}

/// Of the last attempt that did not finish; nothing when all did.
std::optional<FailureView> last_failure(const TaskHistory& task) {
  if (task.failure == FailureKind::unknown && task.failures == 0) return std::nullopt;
  return FailureView{task.failure, task.reason};
}

/// As policies see it: time that was lost with an attempt does not count.
double ran_s(const TaskRow& row, Instant now) {
  const bool runs = row.phase == TaskPhase::running || row.phase == TaskPhase::stopping;
  const Duration newest = runs ? std::max(Duration{}, now - row.started_at) : Duration{};
  return to_seconds(row.ran + newest);
}

/// The history knows the first start and the last end: enough for a task that had one attempt.
std::optional<double> ran_s(const TaskHistory& task) {
  if (task.attempts == 0) return 0;
  const bool known = task.finished && task.attempts == 1 && task.started_at && task.ended_at;
  if (!known) return std::nullopt;
  return to_seconds(*task.ended_at - *task.started_at);
}

/// "instance 4", "instances 4 and 7", and of many only the first ones.
std::string instances_text(const std::vector<ClosedInstance>& closed) {
  constexpr std::size_t kMostNamed = 5;
  std::string text = closed.size() == 1 ? "instance" : "instances";
  for (std::size_t i = 0; i < std::min(closed.size(), kMostNamed); ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : ",", closed[i].instance.value);
  }
  if (closed.size() > kMostNamed) text += fmt::format(" and {} more", closed.size() - kMostNamed);
  return text;
}

CapSentences under_caps(const Master& master) {
  return {master.settings().caps, master.catalog()};
}

/// Jobs that this job waits behind where something bounds the room, and since when; or the job that
/// its room is kept for. Empty: neither.
std::string room_text(const JobRow& job, const Refusal& reason, const Master& master) {
  // Nothing that others do gives it room.
  if (under_caps(master).is_beyond(job.job, job.job.tasks.front(), reason)) return {};
  const Claims& claims = master.facts().claims;
  const RoomClaim* claim = claims.claim();
  if (claim != nullptr && claim->room.place.job == job.job.id) {
    const std::string since = "; room is kept for it since " + utc_text(claim->since);
    const std::vector<ClosedInstance>& closed = claim->room.closed;
    if (closed.empty()) return since + ": nothing that is behind it is rented before";
    return fmt::format("{}: {} {} nothing that is behind it until {} emptied for it", since,
                       instances_text(closed), closed.size() == 1 ? "takes" : "take",
                       closed.size() == 1 ? "it has" : "they have");
  }
  if (claim != nullptr && reason.code == RefusalCode::kept_room) {
    return fmt::format("; it is kept for job {} since {}", claim->room.place.job.value,
                       utc_text(claim->since));
  }
  const RoomWait* wait = claims.wait_of(job.job.id);
  if (wait == nullptr) return {};
  const std::string since = "; it waits for room since " + utc_text(wait->since);
  if (claims.is_hopeless(*wait)) return since + ", and no day's money pays for it";
  if (const auto until = claims.rests_until(*wait)) {
    return fmt::format("{}, and no room can be kept for it before {}", since, utc_text(*until));
  }
  if (claim != nullptr && claim->room.is_before(job)) {
    return fmt::format("{}, behind job {}, for which room is kept", since,
                       claim->room.place.job.value);
  }
  const auto due = claims.by_age(job);
  if (!due) return since + ": an instance would have to empty, and takes nothing behind it then";
  return fmt::format("{}: an instance would have to empty, and younger jobs are put there until {}",
                     since, utc_text(*due));
}

/// A service is as large as it has replicas: tasks that are to spare are no work that waits.
void leave_out_spare(JobView& view, const JobRow& row, const ClusterState& state) {
  view.tasks = row.wanted + row.leaving;
  view.whole = view.tasks;
  for (const Slot slot : row.tasks) {
    const TaskRow& task = state.task(slot);
    if (task.wanted) continue;
    view.capped -= task.phase == TaskPhase::capped;
    view.held -= task.phase == TaskPhase::held;
  }
}

}  // namespace

ShownPhase phase_of(const TaskRow& row) {
  return shown(row.phase);
}

ShownPhase phase_of(const TaskHistory& task) {
  if (task.finished) return ShownPhase::finished;
  if (task.failed) return ShownPhase::failed;
  return task.attempts > 0 ? ShownPhase::stopped : ShownPhase::not_run;
}

JobView job_view(const JobRow& row, const Master& master) {
  JobView view = view_of(row.job);
  const JobFailures* failures = master.facts().failures_of(row.job.id);
  view.state = shown(row.standing());
  view.waiting = row.pending + row.gang.assigned;
  view.held = row.held;
  view.capped = row.capped;
  view.starting = row.starting;
  view.running = row.running + row.stopping;
  view.finished = row.finished;
  view.failed = row.failed;
  view.failed_attempts = failures == nullptr ? 0 : failures->attempts;
  view.submitted = row.job.submitted.value_or(row.accepted_at);
  view.usd = master.ledger().job(row.slot).usd();
  put_usage(view, master.facts().used_by(row.job.id));
  if (view.elastic) {
    view.elastic->width = row.width;
    view.elastic->done = row.done;
    // Held or not, workers beyond the width are not waited for.
    for (std::size_t i = row.width; row.held > 0 && i < row.tasks.size(); ++i) {
      const bool held = master.state().task(row.tasks[i]).phase == TaskPhase::held;
      view.held -= held;
      view.capped += held;
    }
  }
  if (row.job.service() != nullptr) leave_out_spare(view, row, master.state());
  put_failure(view, first_failed(failures, master));
  return view;
}

JobView job_view(const JobHistory& job) {
  JobView view = view_of(job.job);
  Money cost;
  Usage used;
  for (const TaskHistory& task : job.tasks) {
    view.finished += task.finished;
    view.failed += task.failed;
    view.failed_attempts += task.failures;
    cost += task.cost;
    used.add(task.used);
  }
  view.state = shown(job.outcome);
  view.submitted = job.job.submitted.value_or(job.accepted_at);
  view.over = job.over_at;
  view.usd = cost.usd();
  put_usage(view, used);
  put_failure(view, first_failed(job));
  if (job.outcome == JobOutcome::completed) view.exit_code = 0;
  view.reason = reason_of(job);
  return view;
}

/// Failures of the job so far; nothing when no task has failed.
std::optional<std::string> failure_so_far(const JobRow& row, const Master& master) {
  const JobFailures* failures = master.facts().failures_of(row.job.id);
  if (const auto first = first_failed(failures, master)) return failure_text(*first);
  if (failures == nullptr || failures->open.empty()) return std::nullopt;
  const TaskRow& task = *master.state().find(*failures->open.begin());
  return failure_text(
      {master.state().spec(task).array_index, master.facts().task_history(task.id)});
}

std::optional<std::string> reason_of(const JobRow& row, const Master& master) {
  const std::optional<std::string> failure = failure_so_far(row, master);
  Tally<Refusal> reasons;
  for (Slot slot : row.tasks) {
    const TaskRow& task = master.state().task(slot);
    // Workers that an elastic job is not to have wait for nothing, nor do spare replicas.
    const bool no_replica = row.job.service() != nullptr && !task.wanted;
    const bool spare = (row.width > 0 || no_replica) && task.phase == TaskPhase::capped;
    if (waits(task.phase) && !spare) reasons.add(task.reason);
  }
  // A gang's other tasks wait for the one that cannot be placed.
  const auto most = reasons.most(
      [](const Refusal& reason) { return reason.code == RefusalCode::awaiting_peers; });
  if (!most) return failure;
  std::string text = counted(most->count, row.size(), "waits", "wait");
  text += ", " + under_caps(master).of(row.job, row.job.tasks.front(), most->what);
  if (const std::size_t others = reasons.size() - most->count; others > 0) {
    text += fmt::format("; {} for other reasons", others);
  }
  if (row.pending > 0) text += room_text(row, most->what, master);
  if (failure) text += "; " + *failure;
  return text;
}

bool is_given_up(const JobHistory& job) {
  const ServiceSpec* service = job.job.service();
  return service != nullptr && service->replaces.valid() && job.outcome == JobOutcome::failed;
}

std::optional<std::string> reason_of(const JobHistory& job) {
  const bool given_up = is_given_up(job);
  if (job.outcome == JobOutcome::failed) {
    const auto first = first_failed(job);
    if (first) return failure_text(*first);
  }
  if (job.outcome == JobOutcome::expired && job.job.deadline) {
    return "was not over at its deadline, " + utc_text(*job.job.deadline);
  }
  if (!given_up && job.outcome != JobOutcome::refused) return std::nullopt;
  Tally<std::string> reasons;
  for (const TaskHistory& task : job.tasks) {
    if (!task.finished && !task.reason.empty()) reasons.add(task.reason);
  }
  const auto most = reasons.most([](const std::string&) { return false; });
  if (!most) return std::nullopt;
  if (given_up) {
    return fmt::format("given up, as no further replica became ready within {}: {}",
                       duration_text(job.job.service()->update_within), most->what);
  }
  return counted(most->count, job.tasks.size(), "is refused", "are refused") + ", " + most->what;
}

Money unsettled(const TaskRow& row, const Master& master, Instant now) {
  if (row.at == kNoSlot) return {};
  return master.ledger().unsettled(row.id, master.state().instance(row.at), now);
}

TaskView task_view(const TaskRow& row, const Master& master, Instant now) {
  const ClusterState& state = master.state();
  const TaskHistory* history = master.facts().task_history(row.id);
  TaskView view;
  view.index = state.spec(row).array_index;
  view.phase = phase_of(row);
  view.attempt = row.attempt;
  view.usd = (master.ledger().task(row.id) + unsettled(row, master, now)).usd();
  view.ran_s = ran_s(row, now);
  // A replica that has left says nothing any more: its numbers were those of where it ran.
  const bool has_left = row.at == kNoSlot && state.job(row.job).job.service() != nullptr;
  if (!has_left) view.metrics = shown(row.metrics);
  const Slot place = row.at != kNoSlot ? row.at : row.target;
  if (place != kNoSlot) {
    view.instance = state.instance(place).id;
    view.instance_type = master.catalog()[state.instance(place).type].name;
  }
  if (history != nullptr) {
    view.moves = history->moves;
    view.failures = history->failures;
    view.started = history->started_at;
    view.ended = history->ended_at;
    view.wall_s = wall_s(*history, now);
    put_usage(view, history->used);
    const bool runs = row.phase == TaskPhase::starting || row.phase == TaskPhase::running;
    if (!runs) view.exit_code = exit_code_of(*history);
    view.last_failure = last_failure(*history);
  }
  if (waits(row.phase))
    view.reason = ReasonView{row.reason.kind, std::string(muster::name_of(row.reason.code)),
                             why(row, master)};
  return view;
}

TaskView task_view(const TaskHistory& task, std::size_t position, const JobHistory& job,
                   const Catalog& catalog) {
  // Its refusal stands where its last failure would.
  const bool refused = task.failure == FailureKind::unknown && task.failures == 0 &&
                       !task.finished && !task.reason.empty() && !is_given_up(job);
  TaskView view;
  view.index = job.job.tasks[position].array_index;
  view.phase = phase_of(task);
  view.attempt = task.attempts;
  view.usd = task.cost.usd();
  view.exit_code = exit_code_of(task);
  view.moves = task.moves;
  view.failures = task.failures;
  view.last_failure = last_failure(task);
  view.ran_s = ran_s(task);
  view.wall_s = wall_s(task, {});
  put_usage(view, task.used);
  view.metrics = shown(task.metrics);
  view.started = task.started_at;
  view.ended = task.ended_at;
  view.instance = task.instance;
  const bool typed = task.instance.valid() && task.type.value < catalog.size();
  if (typed) view.instance_type = catalog[task.type].name;
  if (refused)
    view.reason = ReasonView{RefusalKind::never, std::string(muster::name_of(JobOutcome::refused)),
                             task.reason};
  return view;
}

std::string sentence(const Refusal& refusal) {
  std::string text =
      fmt::format("{}: {}", muster::name_of(refusal.kind), muster::name_of(refusal.code));
  if (refusal.code == RefusalCode::no_progress) {
    text += " (" + lost_attempts(refusal) + ")";
    if (refusal.kind == RefusalKind::never) text += "; nothing on demand may hold it";
  } else if (refusal.binding) {
    text += fmt::format(" ({}: asked {}, available {})", muster::name_of(*refusal.binding),
                        rounded_text(refusal.asked), rounded_text(refusal.available));
  } else if (refusal.asked != 0 || refusal.available != 0) {
    text += fmt::format(" (asked {}, available {})", rounded_text(refusal.asked),
                        rounded_text(refusal.available));
  }
  return text;
}

std::string why(const TaskRow& row, const Master& master) {
  const ClusterState& state = master.state();
  const TaskHistory* history = master.facts().task_history(row.id);
  const auto target = [&] { return place_text(state.instance(row.target), master.catalog()); };
  const auto at = [&] { return place_text(state.instance(row.at), master.catalog()); };
  switch (row.phase) {
    case TaskPhase::pending:
    case TaskPhase::held:
    case TaskPhase::capped: {
      if (const std::uint32_t width = state.job(row.job).width;
          width > 0 && row.phase == TaskPhase::capped) {
        return fmt::format("is not needed: the job is {} worker{} wide", width,
                           width == 1 ? "" : "s");
      }
      const JobRow& job = state.job(row.job);
      const bool is_spare =
          row.phase == TaskPhase::capped && job.job.service() != nullptr && !row.wanted;
      std::string text = "waits, " + under_caps(master).of(job.job, state.spec(row), row.reason);
      if (is_spare) {
        text = "is not needed: the service has " + count_text(job.replicas, "replica");
      } else if (row.phase == TaskPhase::pending) {
        text += room_text(job, row.reason, master);
      }
      if (row.awaits) text += counterparts_text(job.job);
      if (row.reason.code == RefusalCode::constraint) {
        text += ": " + state.job(row.job).job.constraint;
      }
      const std::uint32_t most = job.job.most_an_instance;
      if (row.reason.code == RefusalCode::distinct_instances && most > 0) {
        text += fmt::format("; an instance may have {} of the job", count_text(most, "task"));
      }
      const bool said = row.reason.code == RefusalCode::no_progress;
      if (state.is_confined(row) && !said) text += "; " + confinement(state, row);
      if (history != nullptr && history->failures > 0) {
        text += fmt::format("; attempt {} failed: {}", history->attempts, history->reason);
      }
      return text;
    }
    case TaskPhase::assigned:
      return fmt::format("is to start on {}; {}", target(), sentence(row.reason));
    case TaskPhase::starting:
      return "was sent to " + at();
    case TaskPhase::running:
      if (row.target != kNoSlot && row.target != row.at) {
        return fmt::format("runs on {} and is to move to {}{}", at(), target(),
                           own_checkpoints_text(state, row));
      }
      return "runs on " + at() + (state.is_confined(row) ? "; " + confinement(state, row) : "") +
             own_checkpoints_text(state, row);
    case TaskPhase::stopping:
      return (row.target == kNoSlot
                  ? fmt::format("saves its checkpoint on {} and leaves", at())
                  : fmt::format("saves its checkpoint on {} to move to {}", at(), target())) +
             own_checkpoints_text(state, row);
    case TaskPhase::finished:
      return "has finished";
    case TaskPhase::failed:
      return "has failed: " + (history == nullptr ? std::string("?") : history->reason);
  }
  return "?";
}

}  // namespace muster::cell
