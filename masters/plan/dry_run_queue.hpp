#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/master_settings.hpp"
#include "model/job.hpp"
#include "model/time.hpp"

namespace muster {

/// Dry runs that wait for a planner: a bounded number, a share of it for one user, and each no
/// longer than its asker waits. One is under way at a time, so that a round waits for one at most.
class DryRunQueue {
 public:
  /// Calls of these settle the question.
  struct Asked {
    Job job;
    Instant at;
    std::function<void(Job)> run;                       ///< it is its turn
    std::function<void(const std::string&)> turn_away;  ///< and why
  };

  explicit DryRunQueue(const DryRunBounds& bounds) : bounds_(bounds) {}

  /// Runs it at once, has it wait, or turns it away.
  void ask(Asked asked);
  /// The one that was under way has ended: it is the next one's turn.
  void ended(Instant now);
  std::size_t waiting() const { return waiting_.size(); }
  /// Drops all dry runs.
  void clear() { waiting_.clear(); }

 private:
  void begin(Asked asked);
  void leave(const std::string& user);

  DryRunBounds bounds_;
  std::deque<Asked> waiting_;
  std::map<std::string, std::uint32_t> of_user_;  ///< those that wait, and the one under way
  std::optional<std::string> running_;            ///< whose is under way
};

}  // namespace muster
