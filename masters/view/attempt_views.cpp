#include "masters/view/attempt_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::cell {
namespace {

/// An attempt that was told to stop although its job goes on.
std::string leaving_text(const AttemptHistory& attempt) {
  if (!attempt.leaves) return "told to stop; the task goes on elsewhere";
  switch (*attempt.leaves) {
    case CauseCode::drained:
      return "moved, for a user drained its instance";
    case CauseCode::interrupted:
      return "moved, for the cloud takes its spot instance back";
    case CauseCode::spend_cap:
      return "stopped, for the day's money is spent";
    case CauseCode::worker_lost:
      return "moved, for the worker of its instance was silent or took no tasks";
    case CauseCode::evicted:
      return "stopped, for it had to leave its instance before it had another place";
    default:
      return "moved: " + cause_text(*attempt.leaves);
  }
}

/// An attempt whose worker or instance was gone.
std::string lost_text(const AttemptHistory& attempt) {
  if (!attempt.reason.empty()) return "lost: " + attempt.reason;
  if (attempt.leaves == CauseCode::interrupted || attempt.gone == CloudReason::reclaimed) {
    return "lost with its spot instance, which the cloud took back";
  }
  if (attempt.leaves == CauseCode::worker_lost) {
    return "lost with its instance, whose worker was silent or took no tasks";
  }
  if (attempt.leaves == CauseCode::spend_cap) {
    return "lost with its instance, which was ended, for the day's money is spent";
  }
  if (attempt.leaves == CauseCode::drained) return "lost with its instance, which was drained";
  if (attempt.gone == CloudReason::failed) return "lost with its instance, which failed";
  return "lost with its instance, which is gone";
}

AttemptView view_of(const AttemptHistory& attempt, const AttemptsNow& known) {
  AttemptView view;
  view.attempt = attempt.number;
  view.instance = attempt.instance;
  const bool typed = attempt.type.valid() && attempt.type.value < known.catalog.size();
  if (typed) view.instance_type = known.catalog[attempt.type].name;
  view.market = attempt.market;
  view.sent = attempt.sent_at;
  view.started = attempt.started_at;
  view.ended = attempt.ended_at;
  const std::optional<Instant> until = attempt.ended_at ? attempt.ended_at : known.now;
  if (attempt.started_at && until) {
    view.ran_s = to_seconds(std::max(Duration{}, *until - *attempt.started_at));
  }
  view.end = attempt.end;
  view.why = why_left(attempt, known.over);
  view.exit_code = attempt.exit_code;
  view.usd = attempt.cost.usd();
  put_usage(view, attempt.used);
  return view;
}

}  // namespace

std::string cause_text(CauseCode cause) {
  switch (cause) {
    case CauseCode::alone:
      return "an instance of its own costs least";
    case CauseCode::packed:
      return "sharing an instance costs less";
    case CauseCode::full_reconfiguration:
      return "all tasks were laid out anew, which costs less";
    case CauseCode::partial_reconfiguration:
      return "a part of the cluster was laid out anew, which costs less";
    case CauseCode::gang_restart:
      return "another task of its gang moves, so all of them start again";
    case CauseCode::empty:
      return "no task is left on it";
    case CauseCode::evicted:
      return "it has to leave before it has another place";
    case CauseCode::drained:
      return "a user drained the instance";
    case CauseCode::spend_cap:
      return "the day's money is spent";
    case CauseCode::interrupted:
      return "the cloud takes the spot instance back";
    case CauseCode::worker_lost:
      return "the worker of the instance was silent or took no tasks";
    case CauseCode::fleet:
      return "it belongs to the fixed fleet";
    case CauseCode::complementary:
      return "the tasks on it need different things";
    case CauseCode::best_fit:
      return "of the instances that hold it this one has the least room left";
    case CauseCode::sampled:
      return "of the instances that were asked this one had room first";
    case CauseCode::least_waiting:
      return "the work there is expected to end first";
    case CauseCode::first_free:
      return "of the instances of its group this one had room first";
    case CauseCode::width_plan:
      return "its job has another number of workers";
    case CauseCode::goodput:
      return "all jobs together progress best so";
    case CauseCode::kept_room:
      return "the room was kept for it";
    case CauseCode::scaled:
      return "its service has another number of replicas";
    case CauseCode::stand_in:
      return "it stands in for a replica that has to leave its instance";
    case CauseCode::revision:
      return "another revision of its service takes its place";
    case CauseCode::resized:
      return "its service meets its goal with replicas of another size";
  }
  return "for a reason that this version does not know";
}

std::string why_left(const AttemptHistory& attempt, std::optional<JobOutcome> over) {
  switch (attempt.end) {
    case AttemptEnd::not_over:
      return attempt.started_at ? "runs" : "was sent to its instance";
    case AttemptEnd::finished:
      return "finished";
    case AttemptEnd::failed:
      return "failed: " + (attempt.reason.empty() ? "it was not said why" : attempt.reason);
    case AttemptEnd::moved:
      return leaving_text(attempt);
    case AttemptEnd::stopped:
      return over ? fmt::format("stopped, for its job {} {}",
                                *over == JobOutcome::failed ? "has" : "was", name_of(*over))
                  : "stopped, for its job is being ended";
    case AttemptEnd::lost:
      return lost_text(attempt);
  }
  return "?";
}

void put_attempts(TaskView& view, const TaskHistory& task, const AttemptsNow& known) {
  std::vector<AttemptView>& list = view.attempts.emplace();
  list.reserve(task.earlier.size() + 1);
  for (const AttemptHistory& attempt : task.earlier) list.push_back(view_of(attempt, known));
  if (task.newest.number > 0) {
    list.push_back(view_of(task.newest, known));
    list.back().usd = (known.cost - task.paid).usd();
  }
  view.attempts_left_out = attempts_left_out(task);
}

/// How far it has come. A row is there as long as it is not gone.
InstanceStage stage_of(const InstanceHistory& known, const InstanceRow* row) {
  if (row == nullptr) return known.up_at ? InstanceStage::ended : InstanceStage::refused;
  if (row->released || row->phase == InstancePhase::terminating) return InstanceStage::leaving;
  if (row->phase == InstancePhase::requested) return InstanceStage::asked_for;
  return row->phase == InstancePhase::booting ? InstanceStage::booting : InstanceStage::ready;
}

std::string why_ended(const InstanceHistory& known) {
  std::string text = known.released_for ? cause_text(*known.released_for) : "";
  std::string_view gone;
  if (known.gone == CloudReason::reclaimed) gone = "the cloud took the spot instance back";
  if (known.gone == CloudReason::failed) gone = "the instance failed";
  if (!known.up_at && known.gone) {
    return fmt::format("the cloud did not give it: {}", name_of(*known.gone));
  }
  if (gone.empty()) return text;
  return text.empty() ? std::string(gone) : fmt::format("{}; {}", text, gone);
}

InstanceLife life_of(const InstanceHistory& known, const InstanceRow* row, const Catalog& catalog,
                     Instant now) {
  InstanceLife life;
  life.known = true;
  const bool typed = known.type.valid() && known.type.value < catalog.size();
  if (typed) life.type = catalog[known.type].name;
  life.market = known.market;
  life.zone = known.zone;
  life.stage = stage_of(known, row);
  life.requested = known.requested_at;
  life.up = known.up_at;
  life.ready = known.ready_at;
  life.released = known.released_at;
  life.ended = known.ended_at;
  if (known.rented_for) life.why_rented = cause_text(*known.rented_for);
  life.why_ended = why_ended(known);
  life.usd_h = (row == nullptr ? known.price : row->price).usd_h();
  life.usd = known.bill.usd();
  if (row != nullptr && known.up_at) {
    life.usd = charge(row->earlier_prices, row->price, *known.up_at, now).usd();
  }
  for (const VisitHistory& visit : known.visits) {
    life.tasks.push_back(
        {visit.job, visit.index, visit.attempt, visit.sent_at, visit.ended_at, visit.end});
  }
  life.tasks_before = known.visits_before;
  return life;
}

std::optional<double> wall_s(const TaskHistory& task, std::optional<Instant> now) {
  if (!task.ran) return std::nullopt;
  Duration ran = *task.ran;
  const AttemptHistory& newest = task.newest;
  if (now && newest.started_at && !newest.ended_at) {
    ran += std::max(Duration{}, *now - *newest.started_at);
  }
  return to_seconds(ran);
}

}  // namespace muster::cell
