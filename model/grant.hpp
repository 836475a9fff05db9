#pragma once

#include "model/resources.hpp"

namespace muster {

/// Resources of an instance that a placement may use: named by the plan, carried by the events,
/// held by the task's row, billed by the ledger and ordered from the worker. Nothing derives it
/// anew.
struct Grant {
  Resources amount;

  static Grant of(const Resources& amount) { return {amount}; }
  /// No placement goes with it.
  bool is_empty() const { return amount == Resources{}; }
  friend bool operator==(const Grant&, const Grant&) = default;
};

}  // namespace muster
