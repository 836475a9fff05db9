#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "model/history.hpp"

namespace muster {

/// Finished jobs, the newest so many of them.
class History {
 public:
  virtual ~History() = default;

  /// Durable no later than events that are appended to the journal afterwards.
  virtual void add(JobHistory job) = 0;
  /// How many jobs are kept.
  virtual std::size_t size() const = 0;
  virtual std::optional<JobHistory> find(JobId id) const = 0;
  /// Newest first, at most `limit`; calls `use` for each until it says false.
  virtual void newest(std::size_t limit,
                      const std::function<bool(const JobHistory&)>& use) const = 0;
};

}  // namespace muster
