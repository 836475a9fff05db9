#pragma once

#include <cstdint>

#include "model/service.hpp"

namespace muster::process {

/// How the last checks in a row came out, and whether a replica is well by them: it becomes so with
/// `successes` of them, and is no longer so with `failures`. At first it is not well.
class CheckStreak {
 public:
  explicit CheckStreak(const HealthCheck& check)
      : successes_(check.successes), failures_(check.failures) {}

  void add(bool passed) {
    if (passed != passing_) in_a_row_ = 0;
    passing_ = passed;
    // No bound of a check is larger than what the number holds.
    if (in_a_row_ < UINT32_MAX) ++in_a_row_;
    if (passed && in_a_row_ >= successes_) well_ = was_well_ = true;
    if (has_failed()) well_ = false;
  }

  bool is_well() const { return well_; }
  /// At some time since the first check.
  bool was_well() const { return was_well_; }
  /// The last check has failed.
  bool is_failing() const { return !passing_ && in_a_row_ > 0; }
  /// As many as it takes have failed.
  bool has_failed() const { return is_failing() && in_a_row_ >= failures_; }

 private:
  std::uint32_t successes_;
  std::uint32_t failures_;
  std::uint32_t in_a_row_ = 0;
  bool passing_ = false;
  bool well_ = false;
  bool was_well_ = false;
};

}  // namespace muster::process
