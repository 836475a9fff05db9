#pragma once

#include <kj/exception.h>

#include <array>
#include <string>
#include <utility>

#include "model/check.hpp"
#include "model/cluster_state.hpp"
#include "model/event.hpp"
#include "storage/schema.capnp.h"

// Which enumerant of the schema stands for which of the model: the two orders need not be the same.

namespace muster::record_codec {

/// Ends the decoding of a record; decode_record() turns it into an error.
[[noreturn]] inline void refuse(const std::string& why) {
  kj::throwFatalException(
      kj::Exception(kj::Exception::Type::FAILED, __FILE__, __LINE__, kj::heapString(why.c_str())));
}

/// Every market and what stands for it.
constexpr auto pairs_of(Market) {
  using Ours = Market;
  using Theirs = record::Market;
  return std::to_array<std::pair<Ours, Theirs>>(
      {{Ours::on_demand, Theirs::ON_DEMAND}, {Ours::spot, Theirs::SPOT}});
}

/// Every choice of markets and what stands for it.
constexpr auto pairs_of(MarketChoice) {
  using Ours = MarketChoice;
  using Theirs = record::MarketChoice;
  return std::to_array<std::pair<Ours, Theirs>>(
      {{Ours::any, Theirs::ANY}, {Ours::on_demand, Theirs::ON_DEMAND}, {Ours::spot, Theirs::SPOT}});
}

/// Every expected length of a job and what stands for it.
constexpr auto pairs_of(JobLength) {
  using Ours = JobLength;
  using Theirs = record::JobLength;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::unknown, Theirs::UNKNOWN},
                                                 {Ours::short_run, Theirs::SHORT_RUN},
                                                 {Ours::long_run, Theirs::LONG_RUN}});
}

/// Every kind of resource and what stands for it.
constexpr auto pairs_of(Resource) {
  using Ours = Resource;
  using Theirs = record::ResourceKind;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::gpu, Theirs::GPU},
                                                 {Ours::cpu, Theirs::CPU},
                                                 {Ours::memory, Theirs::MEMORY},
                                                 {Ours::storage, Theirs::STORAGE},
                                                 {Ours::network, Theirs::NETWORK},
                                                 {Ours::spare, Theirs::SPARE}});
}

/// Every outcome of a job and what stands for it.
constexpr auto pairs_of(JobOutcome) {
  using Ours = JobOutcome;
  using Theirs = record::JobOutcome;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::completed, Theirs::COMPLETED},
                                                 {Ours::failed, Theirs::FAILED},
                                                 {Ours::refused, Theirs::REFUSED},
                                                 {Ours::cancelled, Theirs::CANCELLED}});
}

/// Every kind of refusal and what stands for it.
constexpr auto pairs_of(RefusalKind) {
  using Ours = RefusalKind;
  using Theirs = record::RefusalKind;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::not_now, Theirs::NOT_NOW},
                                                 {Ours::never, Theirs::NEVER},
                                                 {Ours::broken, Theirs::BROKEN}});
}

/// Every reason of a refusal and what stands for it.
constexpr auto pairs_of(RefusalCode) {
  using Ours = RefusalCode;
  using Theirs = record::RefusalCode;
  return std::to_array<std::pair<Ours, Theirs>>(
      {{Ours::awaiting_round, Theirs::AWAITING_ROUND},
       {Ours::awaiting_instance, Theirs::AWAITING_INSTANCE},
       {Ours::awaiting_capacity, Theirs::AWAITING_ROOM},
       {Ours::awaiting_peers, Theirs::AWAITING_PEERS},
       {Ours::fits_no_type, Theirs::FITS_NO_TYPE},
       {Ours::instance_cap, Theirs::INSTANCE_CAP},
       {Ours::spend_cap, Theirs::SPEND_CAP},
       {Ours::cloud_capacity, Theirs::CLOUD_CAPACITY},
       {Ours::over_capacity, Theirs::OVER_CAPACITY},
       {Ours::outdated, Theirs::OUTDATED},
       {Ours::task_failed, Theirs::TASK_FAILED},
       {Ours::held, Theirs::HELD},
       {Ours::in_flight_cap, Theirs::IN_FLIGHT_CAP},
       {Ours::wrong_market, Theirs::WRONG_MARKET},
       {Ours::fixed_fleet, Theirs::FIXED_FLEET},
       {Ours::malformed, Theirs::MALFORMED},
       {Ours::gang_turn, Theirs::GANG_TURN},
       {Ours::day_cap, Theirs::DAY_CAP},
       {Ours::not_movable, Theirs::NOT_MOVABLE},
       {Ours::min_stay, Theirs::MIN_STAY},
       {Ours::group_refused, Theirs::GROUP_REFUSED},
       {Ours::not_elastic, Theirs::NOT_ELASTIC},
       {Ours::width_bounds, Theirs::WIDTH_BOUNDS},
       {Ours::in_transit, Theirs::IN_TRANSIT},
       {Ours::unchanged, Theirs::UNCHANGED},
       {Ours::cloud_quota, Theirs::CLOUD_QUOTA},
       {Ours::cloud_price, Theirs::CLOUD_PRICE},
       {Ours::cloud_throttled, Theirs::CLOUD_THROTTLED},
       {Ours::cloud_failed, Theirs::CLOUD_FAILED},
       {Ours::better_place, Theirs::BETTER_PLACE},
       {Ours::over_budget, Theirs::OVER_BUDGET},
       {Ours::distinct_instances, Theirs::DISTINCT_INSTANCES},
       {Ours::no_progress, Theirs::NO_PROGRESS},
       {Ours::kept_room, Theirs::KEPT_ROOM}});
}

/// Every reason of a cloud and what stands for it.
constexpr auto pairs_of(CloudReason) {
  using Ours = CloudReason;
  using Theirs = record::CloudReason;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::not_said, Theirs::NOT_SAID},
                                                 {Ours::capacity, Theirs::CAPACITY},
                                                 {Ours::quota, Theirs::QUOTA},
                                                 {Ours::price, Theirs::PRICE},
                                                 {Ours::throttled, Theirs::THROTTLED},
                                                 {Ours::failed, Theirs::FAILED},
                                                 {Ours::reclaimed, Theirs::RECLAIMED},
                                                 {Ours::ended, Theirs::ENDED}});
}

/// Every cause of a move or release and what stands for it.
constexpr auto pairs_of(CauseCode) {
  using Ours = CauseCode;
  using Theirs = record::CauseCode;
  return std::to_array<std::pair<Ours, Theirs>>(
      {{Ours::alone, Theirs::ALONE},
       {Ours::packed, Theirs::PACKED},
       {Ours::full_reconfiguration, Theirs::FULL_RECONFIGURATION},
       {Ours::partial_reconfiguration, Theirs::PARTIAL_RECONFIGURATION},
       {Ours::gang_restart, Theirs::GANG_RESTART},
       {Ours::empty, Theirs::EMPTY},
       {Ours::evicted, Theirs::EVICTED},
       {Ours::drained, Theirs::DRAINED},
       {Ours::spend_cap, Theirs::SPEND_CAP},
       {Ours::interrupted, Theirs::INTERRUPTED},
       {Ours::worker_lost, Theirs::WORKER_LOST},
       {Ours::fleet, Theirs::FLEET},
       {Ours::complementary, Theirs::COMPLEMENTARY},
       {Ours::best_fit, Theirs::BEST_FIT},
       {Ours::sampled, Theirs::SAMPLED},
       {Ours::least_waiting, Theirs::LEAST_WAITING},
       {Ours::first_free, Theirs::FIRST_FREE},
       {Ours::width_plan, Theirs::WIDTH_PLAN},
       {Ours::goodput, Theirs::GOODPUT},
       {Ours::kept_room, Theirs::KEPT_ROOM}});
}

/// Every phase of a task and what stands for it.
constexpr auto pairs_of(TaskPhase) {
  using Ours = TaskPhase;
  using Theirs = record::TaskPhase;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::pending, Theirs::PENDING},
                                                 {Ours::assigned, Theirs::ASSIGNED},
                                                 {Ours::starting, Theirs::STARTING},
                                                 {Ours::running, Theirs::RUNNING},
                                                 {Ours::stopping, Theirs::STOPPING},
                                                 {Ours::finished, Theirs::FINISHED},
                                                 {Ours::held, Theirs::HELD},
                                                 {Ours::capped, Theirs::CAPPED},
                                                 {Ours::failed, Theirs::FAILED}});
}

/// Every kind of failure and what stands for it.
constexpr auto pairs_of(FailureKind) {
  using Ours = FailureKind;
  using Theirs = record::FailureKind;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::unknown, Theirs::UNKNOWN},
                                                 {Ours::exit_code, Theirs::EXIT_CODE},
                                                 {Ours::signal, Theirs::SIGNAL},
                                                 {Ours::out_of_memory, Theirs::OUT_OF_MEMORY},
                                                 {Ours::time_limit, Theirs::TIME_LIMIT},
                                                 {Ours::cannot_start, Theirs::CANNOT_START},
                                                 {Ours::lost, Theirs::LOST},
                                                 {Ours::rejected, Theirs::REJECTED},
                                                 {Ours::disk_full, Theirs::DISK_FULL}});
}

/// Every phase of an instance and what stands for it.
constexpr auto pairs_of(InstancePhase) {
  using Ours = InstancePhase;
  using Theirs = record::InstancePhase;
  return std::to_array<std::pair<Ours, Theirs>>({{Ours::requested, Theirs::REQUESTED},
                                                 {Ours::booting, Theirs::BOOTING},
                                                 {Ours::ready, Theirs::READY},
                                                 {Ours::terminating, Theirs::TERMINATING}});
}

/// What stands for the enumerator in a record.
template <class Ours>
auto to_record(Ours ours) {
  for (const auto& [a, b] : pairs_of(Ours{})) {
    if (a == ours) return b;
  }
  MUSTER_CHECK(false, "every enumerator has its enumerant in the schema");
}

/// The enumerator that it stands for; one that only a later version knows is refused.
template <class Ours, class Theirs>
Ours from_record(Theirs theirs) {
  for (const auto& [a, b] : pairs_of(Ours{})) {
    if (b == theirs) return a;
  }
  refuse("enumerant " + std::to_string(static_cast<unsigned>(theirs)) +
         " is not known to this version");
}

}  // namespace muster::record_codec
