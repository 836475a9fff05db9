#pragma once

#include <cstdint>

#include "model/resources.hpp"

namespace muster {

/// What a placement may use of its instance: said by the plan, carried by the events, held by the
/// task's row, billed by the ledger and ordered from the worker. Nothing derives it anew.
struct Grant {
  Resources amount;
  std::uint32_t width = 0;  ///< 1; 0: no grant

  /// That of a rigid task.
  static Grant of(const Resources& amount) { return {amount, 1}; }
  friend bool operator==(const Grant&, const Grant&) = default;
};

}  // namespace muster
