#include "actors/link/worker_link_values.hpp"

#include <cmath>

namespace muster::link_values {

Failure<LinkError> malformed(const std::string& what) {
  return {LinkError::malformed, what};
}

void put(capnp::List<double>::Builder list, const Resources& amounts) {
  for (unsigned i = 0; i < kResourceKinds; ++i) list.set(i, amounts[kAllResources[i]]);
}

Expected<Resources, LinkError> read_resources(capnp::List<double>::Reader list, const char* what) {
  if (list.size() > kResourceKinds) {
    return malformed(std::string(what) + " has " + std::to_string(list.size()) +
                     " amounts; there are " + std::to_string(kResourceKinds) + " kinds");
  }
  Resources amounts;
  for (unsigned i = 0; i < list.size(); ++i) {
    const double amount = list[i];
    // Written so that a NaN fails too; a negative amount would free room that is not there.
    if (!std::isfinite(amount) || amount < 0 || amount > kMaxAmount) {
      return malformed(std::string(what) + " has an amount of " + std::to_string(amount) +
                       "; it has to be finite and not negative");
    }
    amounts[kAllResources[i]] = amount;
  }
  return amounts;
}

Expected<Duration, LinkError> read_span(std::int64_t ns, const char* what) {
  if (ns < 0 || ns > kMaxSpan.count()) {
    return malformed(std::string(what) + " of " + std::to_string(ns) + " ns");
  }
  return Duration{ns};
}

std::string attempt_problem(std::uint64_t task, std::uint32_t attempt) {
  // An invalid id names no task, and attempts are counted from 1.
  if (!TaskId{task}.valid()) return "the id of no task";
  if (attempt == 0) return "attempt 0 of task " + std::to_string(task) + "; the first one is 1";
  return {};
}

}  // namespace muster::link_values
