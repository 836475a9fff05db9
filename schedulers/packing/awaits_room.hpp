#pragma once

#include "model/refusal.hpp"

namespace muster {

/// Said of a task, or of each task of a gang, that finds no room on the instances there are: the
/// master lets room gather for it.
inline Refusal awaits_room() {
  return {RefusalKind::not_now, RefusalCode::awaiting_capacity, {}, 0, 0};
}

}  // namespace muster
