#pragma once

#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster {

/// The replica was ready at that time, and had been for as long as its service asks.
inline bool is_healthy(const TaskRow& replica, const ServiceSpec& service, Instant at) {
  return is_endpoint(replica) && at - replica.ready_since >= service.healthy_for;
}

/// The replica's attempt fails by itself, for which it rests before it is started again. When its
/// worker or instance loses a healthy one, that starts elsewhere at once. One that never gets
/// healthy rests even then, so that no loop is without pauses.
inline bool is_setback(const TaskRow& replica, const ServiceSpec& service, const TaskFailed& failed,
                       Instant at) {
  return failed.kind != FailureKind::lost || !is_healthy(replica, service, at);
}

}  // namespace muster
