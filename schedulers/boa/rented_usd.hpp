#pragma once

#include <cstdint>
#include <map>

#include "schedulers/policy.hpp"

namespace muster::boa {

/// GPUs over time, or dollars where the budget is of them, since the first job came.
struct GpuHours {
  double used = 0;
  double rented = 0;
};

/// Present cost of the instances that are not given back, and the part of it that is used. A worker
/// has the part of its instance's price that a plan counts for it: an instance that has as many
/// workers as it holds is used as a whole, also where some of its GPUs are left over. Each event
/// costs a look at the one instance that it changes, a change of price one at all.
class RentedUsd {
 public:
  /// The view is the state right after the event.
  void observe(const Event& event, const ClusterView& view);
  /// Counts what is there, as if all that led to it had been observed.
  void recount(const ClusterView& view);

  GpuHours usd_h() const {
    return {static_cast<double>(sum_.used) / kNano, static_cast<double>(sum_.rented) / kNano};
  }

 private:
  static constexpr double kNano = 1e9;

  /// Whole nano-dollars an hour: sums of them come back to zero.
  struct Share {
    std::int64_t used = 0;
    std::int64_t rented = 0;
  };

  static Share share_of(const InstanceRow& row, const ClusterView& view);
  void look_at(InstanceId id, const ClusterView& view);
  void leave(TaskId task, const ClusterView& view);

  Share sum_;
  std::map<InstanceId, Share> counted_;  ///< those whose share is in the sum
  std::map<TaskId, InstanceId> places_;  ///< of tasks that hold resources
};

}  // namespace muster::boa
