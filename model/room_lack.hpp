#pragma once

#include <cstdint>

#include "model/refusal.hpp"

namespace muster {

/// The room that a refusal says is lacking. Others have it, so the lack may end when they have left
/// or have less.
enum class RoomLack : std::uint8_t {
  none,           ///< it is not for want of room
  caps,           ///< the caps leave nothing
  full_cloud,     ///< the cloud has no more, so that an instance less may make room for one
  refused_cloud,  ///< the cloud did not give an instance, though it may have some
  full_place,     ///< the chosen instance is full
  leaving,        ///< the chosen instance is full until a task has left it
  peers,          ///< other tasks of the job are still where they were
  fleet,          ///< the fixed fleet is full
  kept            ///< the room is kept for a job that goes before
};

/// The one table of the refusals for want of room.
constexpr RoomLack lack_of(RefusalCode code) {
  switch (code) {
    case RefusalCode::instance_cap:
    case RefusalCode::spend_cap:
    case RefusalCode::day_cap:
      return RoomLack::caps;
    case RefusalCode::cloud_capacity:
    case RefusalCode::no_free_machine:
    case RefusalCode::cloud_quota:
      return RoomLack::full_cloud;
    case RefusalCode::cloud_price:
    case RefusalCode::cloud_throttled:
    case RefusalCode::cloud_failed:
      return RoomLack::refused_cloud;
    case RefusalCode::over_capacity:
      return RoomLack::full_place;
    case RefusalCode::awaiting_capacity:
      return RoomLack::leaving;
    case RefusalCode::awaiting_peers:
      return RoomLack::peers;
    case RefusalCode::fixed_fleet:
      return RoomLack::fleet;
    case RefusalCode::kept_room:
      return RoomLack::kept;
    case RefusalCode::awaiting_round:
    case RefusalCode::awaiting_instance:
    case RefusalCode::fits_no_type:
    case RefusalCode::outdated:
    case RefusalCode::task_failed:
    case RefusalCode::held:
    case RefusalCode::in_flight_cap:
    case RefusalCode::wrong_market:
    case RefusalCode::malformed:
    case RefusalCode::gang_turn:
    case RefusalCode::not_movable:
    case RefusalCode::min_stay:
    case RefusalCode::group_refused:
    case RefusalCode::not_elastic:
    case RefusalCode::width_bounds:
    case RefusalCode::in_transit:
    case RefusalCode::unchanged:
    case RefusalCode::better_place:
    case RefusalCode::over_budget:
    case RefusalCode::distinct_instances:
    case RefusalCode::no_progress:
    case RefusalCode::constraint:
    case RefusalCode::restart_pause:
    case RefusalCode::spare_replica:
    case RefusalCode::name_taken:
    case RefusalCode::awaiting_counterpart:
      break;
  }
  return RoomLack::none;
}

/// The cloud has no room for more, so that an instance less may make some.
constexpr bool is_full_cloud(RefusalCode code) {
  return lack_of(code) == RoomLack::full_cloud;
}

}  // namespace muster
