#pragma once

#include <optional>

#include "config/master_settings.hpp"
#include "model/room_lack.hpp"

// The ends of a lack of room: by a claim, or by a gang's turn; and the cap that is lacking.

namespace muster {

/// Whether a claim to the room that others leave may end the lack. Without caps it is the policy
/// that chose a full instance, though it may rent others.
constexpr bool can_be_claimed(RoomLack lack, bool has_caps) {
  switch (lack) {
    case RoomLack::caps:
    case RoomLack::full_cloud:
    case RoomLack::kept:
      return true;
    case RoomLack::full_place:
    case RoomLack::leaving:
      return has_caps;
    case RoomLack::none:
    case RoomLack::refused_cloud:
    case RoomLack::peers:
    case RoomLack::fleet:
      break;
  }
  return false;
}

/// The whole of the cap that the refusal is for; nothing: it is for no cap.
inline std::optional<double> cap_of(RefusalCode code, const MasterCaps& caps) {
  if (code == RefusalCode::instance_cap) return caps.max_instances;
  if (code == RefusalCode::spend_cap) return caps.max_usd_h;
  if (code == RefusalCode::day_cap) return caps.max_usd_day;
  return std::nullopt;
}

/// Bounds on the instances that a master may have.
struct RoomBounds {
  bool caps = false;
  bool fixed_fleet = false;
};

/// Whether a gang's turn, in which no other job starts, may end the lack. Without caps or a fixed
/// fleet no turn would change that the policy chose a full instance.
constexpr bool ends_in_a_turn(RoomLack lack, RoomBounds bounds) {
  switch (lack) {
    case RoomLack::caps:
    case RoomLack::full_cloud:
    case RoomLack::refused_cloud:
      return true;
    case RoomLack::full_place:
    case RoomLack::peers:
      return bounds.caps || bounds.fixed_fleet;
    case RoomLack::fleet:
    case RoomLack::leaving:
      return bounds.fixed_fleet;
    case RoomLack::none:
    case RoomLack::kept:
      break;
  }
  return false;
}

}  // namespace muster
