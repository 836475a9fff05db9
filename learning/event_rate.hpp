#pragma once

#include <cstdint>
#include <optional>

#include "model/time.hpp"

namespace muster {

/// How often something happens: the mean gap between all occurrences so far.
class EventRate {
 public:
  EventRate() = default;
  /// Rebuilt from count(), first() and last() of another one.
  EventRate(std::uint64_t count, Instant first, Instant last)
      : count_(count), first_(first), last_(last) {}

  /// Counts an occurrence. They come in the order of time.
  void add(Instant at) {
    if (count_++ == 0) first_ = at;
    last_ = at;
  }

  std::uint64_t count() const { return count_; }
  /// When the first and the last one happened; only when there was one.
  Instant first() const { return first_; }
  Instant last() const { return last_; }
  /// (n - 1) / (last - first); nothing before two occurrences at different times.
  std::optional<double> per_s() const;

 private:
  std::uint64_t count_ = 0;
  Instant first_;
  Instant last_;
};

/// Mean time until an event that comes `rate_per_s` often and counts with probability
/// `probability` counts for the first time: -1 / (rate ln(1 - probability)) seconds (Eva 4.5).
/// Zero when every event counts; nothing when it is undefined (the probability is not in (0, 1], or
/// the rate is not positive).
std::optional<double> mean_time_to_success_s(double rate_per_s, double probability);

}  // namespace muster
