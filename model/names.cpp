// Names of enumerators as they stand in event logs, in the API's answers and in reports. Logs that
// are kept hold them, so a name may not change. No switch has a default: the compiler warns of an
// enumerator that has no name; "?" is for a number that is none.

#include "model/cluster_state.hpp"
#include "model/event.hpp"
#include "model/offering.hpp"
#include "model/plan.hpp"
#include "model/refusal.hpp"

namespace muster {

std::string_view name_of(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::not_now:
      return "not now";
    case RefusalKind::never:
      return "never";
    case RefusalKind::broken:
      return "broken";
  }
  return "?";
}

std::string_view name_of(CloudReason reason) {
  switch (reason) {
    case CloudReason::not_said:
      return "not_said";
    case CloudReason::capacity:
      return "capacity";
    case CloudReason::quota:
      return "quota";
    case CloudReason::price:
      return "price";
    case CloudReason::throttled:
      return "throttled";
    case CloudReason::failed:
      return "failed";
    case CloudReason::reclaimed:
      return "reclaimed";
    case CloudReason::ended:
      return "ended";
  }
  return "?";
}

std::string_view name_of(JobStanding standing) {
  switch (standing) {
    case JobStanding::waiting:
      return "waiting";
    case JobStanding::held:
      return "held";
    case JobStanding::starting:
      return "starting";
    case JobStanding::running:
      return "running";
    case JobStanding::stopping:
      return "stopping";
  }
  return "?";
}

namespace {

/// The names of those codes that are of caps.
std::string_view name_of_cap(RefusalCode code) {
  if (code == RefusalCode::instance_cap) return "instance cap";
  if (code == RefusalCode::spend_cap) return "spend cap";
  if (code == RefusalCode::in_flight_cap) return "in-flight cap";
  if (code == RefusalCode::day_cap) return "day's spend cap";
  return "?";
}

/// The names of those codes that the cloud's answers have.
std::string_view name_of_cloud_answer(RefusalCode code) {
  if (code == RefusalCode::cloud_capacity) return "cloud capacity";
  if (code == RefusalCode::cloud_quota) return "cloud quota";
  if (code == RefusalCode::cloud_price) return "cloud price";
  if (code == RefusalCode::cloud_throttled) return "cloud throttled";
  if (code == RefusalCode::cloud_failed) return "cloud failed";
  return "?";
}

}  // namespace

std::string_view name_of(RefusalCode code) {
  switch (code) {
    case RefusalCode::awaiting_round:
      return "awaiting round";
    case RefusalCode::awaiting_instance:
      return "awaiting instance";
    case RefusalCode::awaiting_capacity:
      return "awaiting room";
    case RefusalCode::awaiting_peers:
      return "awaiting peers";
    case RefusalCode::fits_no_type:
      return "fits no type";
    case RefusalCode::over_capacity:
      return "over capacity";
    case RefusalCode::outdated:
      return "outdated";
    case RefusalCode::task_failed:
      return "task failed";
    case RefusalCode::held:
      return "held";
    case RefusalCode::fixed_fleet:
      return "fixed fleet";
    case RefusalCode::wrong_market:
      return "wrong market";
    case RefusalCode::malformed:
      return "malformed";
    case RefusalCode::gang_turn:
      return "gang turn";
    case RefusalCode::not_movable:
      return "not movable";
    case RefusalCode::min_stay:
      return "minimum stay";
    case RefusalCode::group_refused:
      return "group refused";
    case RefusalCode::not_elastic:
      return "not elastic";
    case RefusalCode::width_bounds:
      return "width bounds";
    case RefusalCode::in_transit:
      return "in transit";
    case RefusalCode::unchanged:
      return "unchanged";
    case RefusalCode::better_place:
      return "better place";
    case RefusalCode::over_budget:
      return "over budget";
    case RefusalCode::distinct_instances:
      return "distinct instances";
    case RefusalCode::kept_room:
      return "room kept for another job";
    case RefusalCode::no_progress:
      return "no progress";
    case RefusalCode::instance_cap:
    case RefusalCode::spend_cap:
    case RefusalCode::in_flight_cap:
    case RefusalCode::day_cap:
      return name_of_cap(code);
    case RefusalCode::cloud_capacity:
    case RefusalCode::cloud_quota:
    case RefusalCode::cloud_price:
    case RefusalCode::cloud_throttled:
    case RefusalCode::cloud_failed:
      return name_of_cloud_answer(code);
  }
  return "?";
}

std::string_view name_of(CauseCode code) {
  switch (code) {
    case CauseCode::alone:
      return "alone";
    case CauseCode::packed:
      return "packed";
    case CauseCode::full_reconfiguration:
      return "full reconfiguration";
    case CauseCode::partial_reconfiguration:
      return "partial reconfiguration";
    case CauseCode::gang_restart:
      return "gang restart";
    case CauseCode::empty:
      return "empty";
    case CauseCode::evicted:
      return "evicted";
    case CauseCode::drained:
      return "drained";
    case CauseCode::spend_cap:
      return "spend cap";
    case CauseCode::interrupted:
      return "interrupted";
    case CauseCode::fleet:
      return "fixed fleet";
    case CauseCode::complementary:
      return "complementary";
    case CauseCode::best_fit:
      return "best fit";
    case CauseCode::sampled:
      return "sampled";
    case CauseCode::least_waiting:
      return "least waiting";
    case CauseCode::first_free:
      return "first free";
    case CauseCode::width_plan:
      return "width plan";
    case CauseCode::goodput:
      return "goodput";
    case CauseCode::kept_room:
      return "room kept for it";
    case CauseCode::worker_lost:
      return "worker lost";
  }
  return "?";
}

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::unknown:
      return "unknown";
    case FailureKind::exit_code:
      return "exit code";
    case FailureKind::signal:
      return "signal";
    case FailureKind::out_of_memory:
      return "out of memory";
    case FailureKind::time_limit:
      return "time limit";
    case FailureKind::cannot_start:
      return "cannot start";
    case FailureKind::lost:
      return "lost";
    case FailureKind::rejected:
      return "rejected";
    case FailureKind::disk_full:
      return "disk full";
  }
  return "?";
}

std::string_view name_of(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
      return "completed";
    case JobOutcome::failed:
      return "failed";
    case JobOutcome::refused:
      return "refused";
    case JobOutcome::cancelled:
      return "cancelled";
  }
  return "?";
}

std::string_view name_of(JobLength length) {
  switch (length) {
    case JobLength::unknown:
      return "unknown";
    case JobLength::short_run:
      return "short";
    case JobLength::long_run:
      return "long";
  }
  return "?";
}

std::string_view name_of(MarketChoice choice) {
  switch (choice) {
    case MarketChoice::any:
      return "any";
    case MarketChoice::on_demand:
      return "on-demand";
    case MarketChoice::spot:
      return "spot";
  }
  return "?";
}

}  // namespace muster
