#include "model/history.hpp"

#include <algorithm>
#include <utility>

#include "model/text_cut.hpp"

namespace muster {
namespace {

/// Bytes of an attempt's reason that are kept: workers send reasons of any length.
constexpr std::size_t kReasonBytes = 200;

std::string cut(std::string text) {
  if (text.size() <= kReasonBytes) return text;
  return std::string(whole_characters(text, kReasonBytes)) + "...";
}

/// The instance itself goes, so that no plan could have kept the task there.
bool is_of_instance(CauseCode cause) {
  return cause == CauseCode::drained || cause == CauseCode::interrupted ||
         cause == CauseCode::spend_cap || cause == CauseCode::worker_lost;
}

}  // namespace

void begin_attempt(TaskHistory& task, AttemptHistory next, Money paid, std::uint32_t most) {
  if (task.newest.number > 0) {
    task.newest.cost = paid - task.paid;
    task.earlier.push_back(std::move(task.newest));
    // The newest one is among the last that are kept.
    const bool is_full = task.earlier.size() >= 2 * std::size_t{most};
    if (is_full) task.earlier.erase(task.earlier.begin() + most);
  }
  task.newest = std::move(next);
  task.paid = paid;
}

void end_attempt(TaskHistory& task, AttemptEnding ending, Instant at) {
  AttemptHistory& newest = task.newest;
  if (newest.number == 0 || newest.ended_at) return;
  newest.ended_at = at;
  newest.end = ending.end;
  newest.gone = ending.gone;
  newest.exit_code = ending.exit_code;
  newest.reason = cut(std::move(ending.reason));
  newest.used = ending.used;
  task.used.add(ending.used);
  if (task.ran && newest.started_at) *task.ran += std::max(Duration{}, at - *newest.started_at);
}

void note_leaving(TaskHistory& task, CauseCode cause) {
  AttemptHistory& newest = task.newest;
  if (newest.number == 0 || newest.ended_at) return;
  if (!newest.leaves || (is_of_instance(cause) && !is_of_instance(*newest.leaves))) {
    newest.leaves = cause;
  }
}

std::uint32_t attempts_left_out(const TaskHistory& task) {
  const std::size_t kept = task.earlier.size() + (task.newest.number > 0 ? 1 : 0);
  return task.attempts - static_cast<std::uint32_t>(std::min<std::size_t>(kept, task.attempts));
}

void begin_visit(InstanceHistory& instance, const VisitHistory& visit, std::uint32_t most) {
  if (instance.visits.size() >= most) {
    instance.visits.erase(instance.visits.begin());
    ++instance.visits_before;
  }
  instance.visits.push_back(visit);
}

void end_visit(InstanceHistory& instance, const VisitHistory& ended) {
  const auto known =
      std::find_if(instance.visits.rbegin(), instance.visits.rend(), [&](const VisitHistory& each) {
        return each.job == ended.job && each.index == ended.index && !each.ended_at;
      });
  if (known == instance.visits.rend()) return;  // many have come since it did
  known->ended_at = ended.ended_at;
  known->end = ended.end;
}

void complete_attempts(TaskHistory& task, bool is_over) {
  if (task.newest.number > 0 || task.attempts == 0) return;
  AttemptHistory& newest = task.newest;
  newest.number = task.attempts;
  newest.instance = task.instance;
  newest.type = task.type;
  // Of several attempts the first start and the last end are known, which are of different ones.
  const bool is_only = task.attempts == 1;
  if (is_only) newest.started_at = task.started_at;
  task.ran = is_only ? std::optional(Duration{}) : std::nullopt;
  if (!task.finished && !task.failed && !is_over) return;
  newest.ended_at = task.ended_at;
  newest.end = task.finished ? AttemptEnd::finished
               : task.failed ? AttemptEnd::failed
                             : AttemptEnd::stopped;
  if (task.finished || task.end.exit_code != 0) newest.exit_code = task.end.exit_code;
  if (task.failed) newest.reason = cut(task.reason);
  if (is_only && task.started_at && task.ended_at) task.ran = *task.ended_at - *task.started_at;
}

}  // namespace muster
