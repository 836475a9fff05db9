#pragma once

#include <string>

#include "model/catalog.hpp"
#include "model/plan.hpp"
#include "model/refusal.hpp"
#include "model/time.hpp"

// How reports say things to people.

namespace muster::metrics {

/// "day 1 03:20:05" for 98,405 s: whole days since the start, then the time of day. Fractions of a
/// second are cut off.
std::string clock_text(Instant instant);

/// "3.25 h", "12 min 5 s" or "7.5 s", whichever suits the length.
std::string length_text(Duration duration);

/// "$12.34", with the sign before the dollar.
std::string usd_text(double usd);

/// "never: fits no type (gpu: asked 16, available 8)".
std::string describe(const Refusal& refusal);

/// "is ready", or why a replica is not.
std::string describe(const ReplicaState& state);
/// Why a task of a service is one of its replicas from now on, or is to leave.
std::string describe(const ReplicaWanted& event);
std::string describe(const ServiceScaled& event);
/// "packed, gain $1.25/h".
std::string describe(const Cause& cause);

}  // namespace muster::metrics
