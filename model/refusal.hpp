#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/resources.hpp"

namespace muster {

/// Whether asking again may help.
enum class RefusalKind : std::uint8_t {
  not_now,  ///< may succeed later, without anybody's doing
  never,    ///< cannot succeed unless the request or the catalog changes
  broken    ///< something failed that should have worked
};

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
  fixed_fleet,         ///< the master's instances are given: none is rented or given back
  malformed,           ///< the plan names what is not on offer, or a figure of it is no number
  gang_turn,           ///< a gang that has waited long has its turn: nobody else starts
  day_cap,             ///< the day's money does not pay for more
  not_movable,         ///< the job is not to be moved
  min_stay,            ///< the task has not run for long enough where it is
  group_refused,       ///< another part of the plan that was to be carried out with it is refused
  not_elastic,         ///< only an elastic job has a width
  width_bounds,        ///< the job may not have so many workers, or so few
  in_transit,          ///< some of the job's tasks are just starting, stopping or at their end
  unchanged,           ///< it is so already
  cloud_quota,         ///< the cloud does not let this account have more
  cloud_price,         ///< the cloud asks more than was to be paid
  cloud_throttled,     ///< the cloud was asked too often
  cloud_failed,        ///< the cloud could not carry the order out
  better_place,        ///< it waits for a place that is worth its price
  over_budget,         ///< even the cheapest widths need more GPUs on average than may be paid
  distinct_instances,  ///< another task of the job has a place there, which the job does not want
  no_progress,         ///< too many of the task's attempts have ended without any
  kept_room            ///< the room is kept for a job that goes before
};

/// It was the cloud that did not give an instance.
constexpr bool is_of_cloud(RefusalCode code) {
  return code == RefusalCode::cloud_capacity ||
         (code >= RefusalCode::cloud_quota && code <= RefusalCode::cloud_failed);
}

std::string_view name_of(RefusalKind kind);
std::string_view name_of(RefusalCode code);

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
