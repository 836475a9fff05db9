#pragma once

#include <cstdint>

namespace muster {

/// Why a file or a request of the user is not taken.
enum class ConfigError : std::uint8_t {
  unreadable,
  malformed,
  invalid,
  bad_override  ///< the files are fine, what came with the call is not
};

}  // namespace muster
