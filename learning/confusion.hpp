#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "learning/job_features.hpp"

namespace muster {

/// How often jobs of either length were taken for which.
class Confusion {
 public:
  void add(JobLength actual, JobLength predicted) {
    ++count_[position_of(actual)][position_of(predicted)];
  }

  std::size_t count(JobLength actual, JobLength predicted) const {
    return count_[position_of(actual)][position_of(predicted)];
  }
  /// Jobs that are of that length.
  std::size_t actual(JobLength length) const;
  /// Jobs that were taken for that length.
  std::size_t predicted(JobLength length) const;
  std::size_t total() const;

  /// Share of all jobs that were classified rightly; nothing without jobs.
  std::optional<double> accuracy() const;
  /// Share of those classified as `length` that are; nothing when no job was.
  std::optional<double> precision(JobLength length) const;
  /// Share of those that are of `length` and were classified so; nothing when no job is.
  std::optional<double> recall(JobLength length) const;
  /// Mean of the recalls that there are: 0.5 for an answer that never changes, whatever the
  /// shares of the lengths. Nothing without jobs.
  std::optional<double> balanced_accuracy() const;

  friend bool operator==(const Confusion&, const Confusion&) = default;

 private:
  std::array<std::array<std::size_t, kKnownLengths>, kKnownLengths> count_{};
};

}  // namespace muster
