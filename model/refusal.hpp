#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/enum_words.hpp"
#include "model/resources.hpp"

namespace muster {

/// Whether asking again may help.
enum class RefusalKind : std::uint8_t {
  not_now,  ///< may succeed later, without anybody's doing
  never,    ///< cannot succeed unless the request or the catalog changes
  broken    ///< something failed that should have worked
};
constexpr auto words_of(RefusalKind) {
  using E = RefusalKind;
  return std::to_array<EnumWord<E>>(
      {{E::not_now, "not now"}, {E::never, "never"}, {E::broken, "broken"}});
}

/// The gate that said no.
enum class RefusalCode : std::uint8_t {
  awaiting_round,      ///< accepted, no policy round has seen it yet
  awaiting_instance,   ///< placed on an instance that is not ready yet
  awaiting_capacity,   ///< placed on an instance that another task has still to leave
  awaiting_peers,      ///< the job's other tasks have still to leave their instances
  fits_no_type,        ///< no instance type on offer holds the demand
  instance_cap,        ///< the cluster may not have more instances
  spend_cap,           ///< the cluster may not spend more an hour
  cloud_capacity,      ///< the cloud has no such instance now
  over_capacity,       ///< the plan would overfill the instance
  outdated,            ///< the plan speaks of something that is no longer so
  task_failed,         ///< the last attempt failed
  held,                ///< its user holds the job
  in_flight_cap,       ///< as many of the job's tasks have a place as it allows, or as it is wide
  wrong_market,        ///< the job does not want the instance's market
  fixed_fleet,         ///< the master's instances are given: no instance is rented or given back
  malformed,           ///< the plan names what is not on offer, or a figure of it is no number
  gang_turn,           ///< a gang that has waited long has its turn: no other job starts
  day_cap,             ///< the day's money does not pay for more
  not_movable,         ///< the job is not to be moved
  min_stay,            ///< the task has not run for long enough where it is
  group_refused,       ///< another part of the plan that was to be carried out with it is refused
  not_elastic,         ///< only an elastic job has a width
  width_bounds,        ///< the number of workers is not within the job's bounds
  in_transit,          ///< some of the job's tasks are just starting, stopping or at their end
  unchanged,           ///< it is so already
  cloud_quota,         ///< the cloud does not let this account have more
  cloud_price,         ///< the cloud asks more than was to be paid
  cloud_throttled,     ///< the cloud was asked too often
  cloud_failed,        ///< the cloud could not carry the order out
  better_place,        ///< it waits for a place that is worth its price
  over_budget,         ///< even the cheapest widths need more GPUs on average than may be paid
  distinct_instances,  ///< as many other tasks of the job have places there as the job wants at
                       ///< most
  no_progress,         ///< too many of the task's attempts have ended without any
  kept_room,           ///< the room is kept for a job that goes before
  constraint,          ///< the job's constraint does not admit the instance's type
  restart_pause,       ///< it has ended again and again: it is started after a pause
  spare_replica,       ///< its service has as many replicas without it as it is to have
  name_taken,       ///< another service of the user has its name, or what it follows is not there
  no_free_machine,  ///< of the cloud's machines of that type too few are free
  awaiting_counterpart  ///< the task of another job that it waits for is not over
};
constexpr auto words_of(RefusalCode) {
  using E = RefusalCode;
  return std::to_array<EnumWord<E>>({{E::awaiting_round, "awaiting round"},
                                     {E::awaiting_instance, "awaiting instance"},
                                     {E::awaiting_capacity, "awaiting room"},
                                     {E::awaiting_peers, "awaiting peers"},
                                     {E::fits_no_type, "fits no type"},
                                     {E::instance_cap, "instance cap"},
                                     {E::spend_cap, "spend cap"},
                                     {E::cloud_capacity, "cloud capacity"},
                                     {E::over_capacity, "over capacity"},
                                     {E::outdated, "outdated"},
                                     {E::task_failed, "task failed"},
                                     {E::held, "held"},
                                     {E::in_flight_cap, "in-flight cap"},
                                     {E::wrong_market, "wrong market"},
                                     {E::fixed_fleet, "fixed fleet"},
                                     {E::malformed, "malformed"},
                                     {E::gang_turn, "gang turn"},
                                     {E::day_cap, "day's spend cap"},
                                     {E::not_movable, "not movable"},
                                     {E::min_stay, "minimum stay"},
                                     {E::group_refused, "group refused"},
                                     {E::not_elastic, "not elastic"},
                                     {E::width_bounds, "width bounds"},
                                     {E::in_transit, "in transit"},
                                     {E::unchanged, "unchanged"},
                                     {E::cloud_quota, "cloud quota"},
                                     {E::cloud_price, "cloud price"},
                                     {E::cloud_throttled, "cloud throttled"},
                                     {E::cloud_failed, "cloud failed"},
                                     {E::better_place, "better place"},
                                     {E::over_budget, "over budget"},
                                     {E::distinct_instances, "distinct instances"},
                                     {E::no_progress, "no progress"},
                                     {E::kept_room, "room kept for another job"},
                                     {E::constraint, "constraint"},
                                     {E::restart_pause, "restart pause"},
                                     {E::spare_replica, "spare replica"},
                                     {E::name_taken, "name taken"},
                                     {E::no_free_machine, "no machine of the type is free"},
                                     {E::awaiting_counterpart, "awaiting counterpart"}});
}

/// It was the cloud that did not give an instance.
constexpr bool is_of_cloud(RefusalCode code) {
  return code == RefusalCode::cloud_capacity || code == RefusalCode::no_free_machine ||
         (code >= RefusalCode::cloud_quota && code <= RefusalCode::cloud_failed);
}

/// Why a task waits or part of a plan was not carried out, with the numbers that decided it.
struct Refusal {
  RefusalKind kind = RefusalKind::not_now;
  RefusalCode code = RefusalCode::awaiting_round;
  std::optional<Resource> binding{};  ///< the resource that did not fit
  double asked = 0;      ///< in the unit of `binding`, instances, $/h, $, s, or workers
  double available = 0;  ///< in the same unit

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace muster
