#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/ids.hpp"
#include "model/time.hpp"

namespace muster {

/// Instances that are to be ended and are held for output that is yet to come from them, each for
/// the longest hold at most.
class LogHolds {
 public:
  explicit LogHolds(Duration longest) : longest_(longest) {}

  /// The instance's worker has to say first what it has.
  void expect(InstanceId id) { expected_.insert(id); }
  void met(InstanceId id) { expected_.erase(id); }
  bool expects(InstanceId id) const { return expected_.contains(id); }

  /// Until when the instance is held, from the first call on.
  Instant hold(InstanceId id, Instant now) {
    return held_.try_emplace(id, now + longest_).first->second;
  }
  /// False: it was not held.
  bool let_go(InstanceId id) { return held_.erase(id) > 0; }
  void forget(InstanceId id) {
    held_.erase(id);
    expected_.erase(id);
  }
  /// Those that are held for the longest time.
  std::vector<InstanceId> overdue(Instant now) const {
    std::vector<InstanceId> over;
    for (const auto& [id, until] : held_) {
      if (until <= now) over.push_back(id);
    }
    return over;
  }
  std::optional<Instant> next_due() const {
    std::optional<Instant> next;
    for (const auto& [id, until] : held_) next = next ? std::min(*next, until) : until;
    return next;
  }

 private:
  Duration longest_;
  std::set<InstanceId> expected_;
  std::map<InstanceId, Instant> held_;  ///< until when
};

}  // namespace muster
