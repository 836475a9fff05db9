#pragma once

#include "config/time_keys.hpp"

namespace muster::client {

/// The time of the user's computer.
Instant clock_now();
/// Its clocks, by the variable TZ or /etc/localtime.
const config::LocalClock& local_clock();

}  // namespace muster::client
