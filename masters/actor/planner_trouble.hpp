#pragma once

#include <cstdint>
#include <string>

#include "config/master_settings.hpp"
#include "masters/plan/planner.hpp"

namespace muster {

/// Keeps why a master's planner has failed, for those who look, and how long it is left alone.
class PlannerTrouble {
 public:
  explicit PlannerTrouble(const MasterSettings& settings)
      : retry_(settings.planner_retry), longest_(settings.planner_retry_longest) {}

  /// After each decision. The pause after one that failed is twice that after the one before.
  void note(const PlannedRound& planned, Instant now);
  /// From now to the time when it may be asked again.
  Duration pause(Instant now) const;
  /// Why its last answer was no plan, or lacked something; empty: nothing was wrong with it.
  const std::string& text() const { return text_; }

 private:
  Duration retry_;
  Duration longest_;
  std::uint32_t failed_ = 0;             ///< decisions one after the other, up to now
  Instant not_before_{Duration::min()};  ///< it is asked again
  std::string text_;
};

}  // namespace muster
