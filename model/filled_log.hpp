#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace muster {

/// How much of what a running attempt has written is in files that nothing is added to any more.
struct FilledLog {
  TaskId task;
  Attempt attempt = 0;
  std::uint64_t out_bytes = 0;  ///< of its standard output, from the first byte on
  std::uint64_t err_bytes = 0;
};

}  // namespace muster
