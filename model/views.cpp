#include "model/views.hpp"

namespace muster {

JobsQuestion JobsQuestion::parts_of(std::vector<JobId> jobs) {
  JobsQuestion question;
  question.most = static_cast<std::uint32_t>(std::min<std::size_t>(jobs.size(), kMost));
  question.only = std::move(jobs);
  return question;
}

void JobsQuestion::begin_behind(const JobCursor& cursor) {
  (cursor.over ? over_below : active_below) = cursor.behind;
  if (cursor.over) active = false;
}

std::string_view name_of(ShownState state) {
  switch (state) {
    case ShownState::stopping:
      return "stopping";
    case ShownState::running:
      return "running";
    case ShownState::starting:
      return "starting";
    case ShownState::waiting:
      return "waiting";
    case ShownState::handing_over:
      return "handing over";
    case ShownState::held:
      return "held";
    case ShownState::refused:
      return "refused";
    case ShownState::cancelled:
      return "cancelled";
    case ShownState::failed:
      return "failed";
    case ShownState::completed:
      return "completed";
    case ShownState::unknown:
      return "unknown";
  }
  return "?";
}

ShownState shown(JobStanding standing) {
  switch (standing) {
    case JobStanding::waiting:
      return ShownState::waiting;
    case JobStanding::held:
      return ShownState::held;
    case JobStanding::starting:
      return ShownState::starting;
    case JobStanding::running:
      return ShownState::running;
    case JobStanding::stopping:
      return ShownState::stopping;
  }
  return ShownState::unknown;
}

ShownState shown(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
      return ShownState::completed;
    case JobOutcome::failed:
      return ShownState::failed;
    case JobOutcome::refused:
      return ShownState::refused;
    case JobOutcome::cancelled:
      return ShownState::cancelled;
  }
  return ShownState::unknown;
}

std::string_view name_of(ShownPhase phase) {
  switch (phase) {
    case ShownPhase::pending:
      return "pending";
    case ShownPhase::held:
      return "held";
    case ShownPhase::capped:
      return "capped";
    case ShownPhase::assigned:
      return "assigned";
    case ShownPhase::starting:
      return "starting";
    case ShownPhase::running:
      return "running";
    case ShownPhase::stopping:
      return "stopping";
    case ShownPhase::finished:
      return "finished";
    case ShownPhase::failed:
      return "failed";
    case ShownPhase::stopped:
      return "stopped";
    case ShownPhase::not_run:
      return "not run";
  }
  return "?";
}

ShownPhase shown(TaskPhase phase) {
  switch (phase) {
    case TaskPhase::pending:
      return ShownPhase::pending;
    case TaskPhase::held:
      return ShownPhase::held;
    case TaskPhase::capped:
      return ShownPhase::capped;
    case TaskPhase::assigned:
      return ShownPhase::assigned;
    case TaskPhase::starting:
      return ShownPhase::starting;
    case TaskPhase::running:
      return ShownPhase::running;
    case TaskPhase::stopping:
      return ShownPhase::stopping;
    case TaskPhase::finished:
      return ShownPhase::finished;
    case TaskPhase::failed:
      return ShownPhase::failed;
  }
  return ShownPhase::pending;
}

std::string_view name_of(RentState state) {
  switch (state) {
    case RentState::ordered:
      return "ordered";
    case RentState::up:
      return "up";
    case RentState::ending:
      return "ending";
    case RentState::gone:
      return "gone";
    case RentState::refused:
      return "refused";
  }
  return "?";
}

}  // namespace muster
