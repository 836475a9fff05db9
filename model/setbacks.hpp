#pragma once

#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster {

/// The replica's attempt fails by itself, for which it rests before it is started again. The worker
/// or the instance took the attempt from one that was ready: it starts elsewhere at once. One that
/// never gets ready rests even then, so that no loop is without pauses.
inline bool is_setback(const TaskRow& replica, FailureKind kind) {
  return kind != FailureKind::lost || !is_endpoint(replica);
}

}  // namespace muster
