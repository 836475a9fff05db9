#include "masters/cell_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace muster::cell {
namespace {

using nlohmann::json;

json seconds_or_null(const std::optional<Instant>& t) {
  return t ? json(to_seconds(*t)) : json(nullptr);
}

std::string_view name_of(TaskPhase phase) {
  switch (phase) {
    case TaskPhase::pending:
      return "pending";
    case TaskPhase::held:
      return "held";
    case TaskPhase::assigned:
      return "assigned";
    case TaskPhase::starting:
      return "starting";
    case TaskPhase::running:
      return "running";
    case TaskPhase::stopping:
      return "stopping";
    case TaskPhase::finished:
      return "finished";
    case TaskPhase::failed:
      return "failed";
  }
  return "?";
}

json common(const Job& job) {
  return {{"job", job.id.value},
          {"name", job.name},
          {"user", job.user},
          {"class", job.workload_class},
          {"tasks_total", job.tasks.size()},
          {"whole_tasks", job.task_count()},
          {"market", muster::name_of(job.markets)},
          {"gang", job.gang},
          {"movable", job.movable},
          {"checkpoints", job.checkpoints},
          {"max_fails", job.max_fails ? json(*job.max_fails) : json(nullptr)},
          {"command", job.program.argv}};
}

bool waits(TaskPhase phase) {
  return phase == TaskPhase::pending || phase == TaskPhase::held || phase == TaskPhase::assigned;
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
  /// The one that was said most often, the first of equals; nothing when nothing was said. What
  /// `says_little` is passed over as long as there is something else.
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
  return FailedTask{index, master.task_history(id)};
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

/// What the job's exit code is by the task that failed first in it. The text is for whoever puts
/// the parts of the job together.
void put_failure(json& out, const std::optional<FailedTask>& first) {
  out["exit_code"] = nullptr;
  out["failed_task"] = nullptr;
  out["failure"] = nullptr;
  if (!first) return;
  if (first->task->end.exit_code != 0) out["exit_code"] = first->task->end.exit_code;
  out["failed_task"] = first->index;
  out["failure"] = failure_text(*first);
}

/// Of the last attempt that ended; null when there is none, or no process was that could say one.
json exit_code_of(const TaskHistory& task) {
  const bool said = task.ended_at && (task.finished || task.end.exit_code != 0);
  return said ? json(task.end.exit_code) : json(nullptr);
}

/// Of the last attempt that did not finish; null when all did.
json last_failure(const TaskHistory& task) {
  if (task.failure == FailureKind::unknown && task.failures == 0) return nullptr;
  return {{"kind", muster::name_of(task.failure)}, {"text", task.reason}};
}

/// As policies see it: what was lost with an attempt does not count.
double ran_s(const TaskRow& row, Instant now) {
  const bool runs = row.phase == TaskPhase::running || row.phase == TaskPhase::stopping;
  const Duration newest = runs ? std::max(Duration{}, now - row.started_at) : Duration{};
  return to_seconds(row.ran + newest);
}

/// The history knows the first start and the last end: enough for a task that had one attempt.
json ran_s(const TaskHistory& task) {
  if (task.attempts == 0) return 0;
  const bool known = task.finished && task.attempts == 1 && task.started_at && task.ended_at;
  return known ? json(to_seconds(*task.ended_at - *task.started_at)) : json(nullptr);
}

std::string place_text(const InstanceRow& row, const Catalog& catalog) {
  return fmt::format("instance {} ({}, {})", row.id.value, catalog[row.type].name,
                     muster::name_of(row.market));
}

}  // namespace

std::string_view phase_of(const TaskRow& row) {
  return name_of(row.phase);
}

std::string_view phase_of(const TaskHistory& task) {
  if (task.finished) return "finished";
  if (task.failed) return "failed";
  return task.attempts > 0 ? "stopped" : "not run";
}

json resources_json(const Resources& amounts) {
  json all = json::object();
  for (Resource kind : kAllResources) {
    const bool always = kind == Resource::cpu || kind == Resource::memory || kind == Resource::gpu;
    if (always || amounts[kind] != 0) all[std::string(muster::name_of(kind))] = amounts[kind];
  }
  return all;
}

json job_json(const JobRow& row, const Master& master) {
  json out = common(row.job);
  const JobFailures* failures = master.failures_of(row.job.id);
  out["state"] = muster::name_of(row.standing());
  out["waiting"] = row.pending + row.gang.assigned;
  out["held"] = row.held;
  out["starting"] = row.starting;
  out["running"] = row.running + row.stopping;
  out["finished"] = row.finished;
  out["failed"] = row.failed;
  out["failed_attempts"] = failures == nullptr ? 0 : failures->attempts;
  out["submitted_s"] = to_seconds(row.accepted_at);
  out["over_s"] = nullptr;
  out["usd"] = master.ledger().job(row.slot).usd();
  put_failure(out, first_failed(failures, master));
  out["reason"] = nullptr;
  return out;
}

json job_json(const JobHistory& job) {
  json out = common(job.job);
  std::uint32_t finished = 0;
  std::uint32_t failed = 0;
  std::uint32_t failures = 0;
  Money cost;
  for (const TaskHistory& task : job.tasks) {
    finished += task.finished;
    failed += task.failed;
    failures += task.failures;
    cost += task.cost;
  }
  out["state"] = muster::name_of(job.outcome);
  out["waiting"] = 0;
  out["held"] = 0;
  out["starting"] = 0;
  out["running"] = 0;
  out["finished"] = finished;
  out["failed"] = failed;
  out["failed_attempts"] = failures;
  out["submitted_s"] = to_seconds(job.accepted_at);
  out["over_s"] = to_seconds(job.over_at);
  out["usd"] = cost.usd();
  put_failure(out, first_failed(job));
  if (job.outcome == JobOutcome::completed) out["exit_code"] = 0;
  out["reason"] = reason_of(job);
  return out;
}

/// What has failed of the job so far; null when nothing has.
json failure_so_far(const JobRow& row, const Master& master) {
  const JobFailures* failures = master.failures_of(row.job.id);
  if (const auto first = first_failed(failures, master)) return failure_text(*first);
  if (failures == nullptr || failures->open.empty()) return nullptr;
  const TaskRow& task = *master.state().find(*failures->open.begin());
  return failure_text({master.state().spec(task).array_index, master.task_history(task.id)});
}

json reason_of(const JobRow& row, const Master& master) {
  const json failure = failure_so_far(row, master);
  Tally<Refusal> reasons;
  for (Slot slot : row.tasks) {
    const TaskRow& task = master.state().task(slot);
    if (waits(task.phase)) reasons.add(task.reason);
  }
  // A gang's other tasks wait for the one that cannot be placed.
  const auto most = reasons.most(
      [](const Refusal& reason) { return reason.code == RefusalCode::awaiting_peers; });
  if (!most) return failure;
  std::string text = counted(most->count, row.tasks.size(), "waits", "wait");
  text += ", " + sentence(most->what);
  if (const std::size_t others = reasons.size() - most->count; others > 0) {
    text += fmt::format("; {} for other reasons", others);
  }
  if (failure.is_string()) text += "; " + failure.get<std::string>();
  return text;
}

json reason_of(const JobHistory& job) {
  if (job.outcome == JobOutcome::failed) {
    const auto first = first_failed(job);
    return first ? json(failure_text(*first)) : json(nullptr);
  }
  if (job.outcome != JobOutcome::refused) return nullptr;
  Tally<std::string> reasons;
  for (const TaskHistory& task : job.tasks) {
    if (!task.finished && !task.reason.empty()) reasons.add(task.reason);
  }
  const auto most = reasons.most([](const std::string&) { return false; });
  if (!most) return nullptr;
  return counted(most->count, job.tasks.size(), "is refused", "are refused") + ", " + most->what;
}

json task_json(const TaskRow& row, const Master& master, Instant now) {
  const ClusterState& state = master.state();
  const TaskHistory* history = master.task_history(row.id);
  json out{{"task", state.spec(row).array_index},
           {"phase", phase_of(row)},
           {"attempt", row.attempt},
           {"instance", nullptr},
           {"instance_type", nullptr},
           {"usd", master.ledger().task(row.id).usd()},
           {"exit_code", nullptr},
           {"reason", nullptr},
           {"moves", 0},
           {"failures", 0},
           {"last_failure", nullptr},
           {"ran_s", ran_s(row, now)},
           {"started_s", nullptr},
           {"ended_s", nullptr}};
  const Slot place = row.at != kNoSlot ? row.at : row.target;
  if (place != kNoSlot) {
    out["instance"] = state.instance(place).id.value;
    out["instance_type"] = master.catalog()[state.instance(place).type].name;
  }
  if (history != nullptr) {
    out["moves"] = history->moves;
    out["failures"] = history->failures;
    out["started_s"] = seconds_or_null(history->started_at);
    out["ended_s"] = seconds_or_null(history->ended_at);
    const bool runs = row.phase == TaskPhase::starting || row.phase == TaskPhase::running;
    if (!runs) out["exit_code"] = exit_code_of(*history);
    out["last_failure"] = last_failure(*history);
  }
  if (waits(row.phase)) {
    out["reason"] = {{"kind", muster::name_of(row.reason.kind)},
                     {"code", muster::name_of(row.reason.code)},
                     {"text", why(row, master)}};
  }
  return out;
}

json task_json(const TaskHistory& task, std::size_t position, const JobHistory& job,
               const Catalog& catalog) {
  // What it was refused with stands where its last failure would.
  const bool refused = task.failure == FailureKind::unknown && task.failures == 0 &&
                       !task.finished && !task.reason.empty();
  json out{{"task", job.job.tasks[position].array_index},
           {"phase", phase_of(task)},
           {"attempt", task.attempts},
           {"instance", nullptr},
           {"instance_type", nullptr},
           {"usd", task.cost.usd()},
           {"exit_code", exit_code_of(task)},
           {"reason", nullptr},
           {"moves", task.moves},
           {"failures", task.failures},
           {"last_failure", last_failure(task)},
           {"ran_s", ran_s(task)},
           {"started_s", seconds_or_null(task.started_at)},
           {"ended_s", seconds_or_null(task.ended_at)}};
  if (task.instance.valid()) {
    out["instance"] = task.instance.value;
    if (task.type.value < catalog.size()) out["instance_type"] = catalog[task.type].name;
  }
  if (refused) {
    out["reason"] = {{"kind", muster::name_of(RefusalKind::never)},
                     {"code", muster::name_of(JobOutcome::refused)},
                     {"text", task.reason}};
  }
  return out;
}

std::string sentence(const Refusal& refusal) {
  std::string text =
      fmt::format("{}: {}", muster::name_of(refusal.kind), muster::name_of(refusal.code));
  if (refusal.binding) {
    text += fmt::format(" ({}: asked {:.6g}, available {:.6g})", muster::name_of(*refusal.binding),
                        refusal.asked, refusal.available);
  } else if (refusal.asked != 0 || refusal.available != 0) {
    text += fmt::format(" (asked {:.6g}, available {:.6g})", refusal.asked, refusal.available);
  }
  return text;
}

std::string why(const TaskRow& row, const Master& master) {
  const ClusterState& state = master.state();
  const TaskHistory* history = master.task_history(row.id);
  const auto target = [&] { return place_text(state.instance(row.target), master.catalog()); };
  const auto at = [&] { return place_text(state.instance(row.at), master.catalog()); };
  switch (row.phase) {
    case TaskPhase::pending:
    case TaskPhase::held: {
      std::string text = "waits, " + sentence(row.reason);
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
        return fmt::format("runs on {} and is to move to {}", at(), target());
      }
      return "runs on " + at();
    case TaskPhase::stopping:
      return row.target == kNoSlot
                 ? fmt::format("saves its checkpoint on {} and leaves", at())
                 : fmt::format("saves its checkpoint on {} to move to {}", at(), target());
    case TaskPhase::finished:
      return "has finished";
    case TaskPhase::failed:
      return "has failed: " + (history == nullptr ? std::string("?") : history->reason);
  }
  return "?";
}

}  // namespace muster::cell
