#pragma once

#include <cstdint>
#include <optional>

#include "learning/event_rate.hpp"

namespace muster::eva {

/// Estimates how long a new layout will last: the time until the next arrival or departure that
/// makes Full Reconfiguration worth while (Eva 4.5).
class LifetimeEstimator {
 public:
  struct Estimate {
    std::optional<double> rate_per_s;  ///< lambda; nothing before two events
    double probability = 0;            ///< p: rounds that chose Full / events
    std::optional<double> lifetime_s;  ///< D; nothing where the artifact's formula is undefined
  };

  /// A job arrived or departed. They come in the order of time.
  void note_event(Instant at) { events_.add(at); }
  /// A round adopted the Full Reconfiguration.
  void full_chosen() { ++full_; }

  /// While Full was never chosen D is the time since the first event: the time that has passed
  /// without it. Where every event (or more) led to Full, D is 0.
  Estimate estimate(Instant now) const;
  /// As the artifact has it: while Full was never chosen D is the time since the start of the
  /// cluster, and undefined where p > 1 or lambda is unknown.
  Estimate estimate_of_artifact(Instant now) const;

  const EventRate& events() const { return events_; }
  std::uint64_t full_count() const { return full_; }
  /// Takes back what events() and full_count() gave.
  void restore(const EventRate& events, std::uint64_t full_count) {
    events_ = events;
    full_ = full_count;
  }

 private:
  Estimate known() const;

  EventRate events_;
  std::uint64_t full_ = 0;
};

}  // namespace muster::eva
