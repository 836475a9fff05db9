#pragma once

#include <cstdint>
#include <optional>

#include "model/expected.hpp"

namespace muster {

enum class StoreError : std::uint8_t {
  unreadable,    ///< the directory or a file in it cannot be read, or is no store
  unwritable,    ///< the directory or a file in it cannot be written
  no_space,      ///< the disk is full
  locked,        ///< another process has the store open
  wrong_kind,    ///< the store of something else
  newer_format,  ///< written by a later version of this program
  corrupt        ///< a record does not say anything that makes sense
};

/// Why something could not be written; nothing when it was.
using StoreTrouble = std::optional<Failure<StoreError>>;

}  // namespace muster
