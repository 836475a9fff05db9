#include "masters/actor/planner_trouble.hpp"

#include <algorithm>
#include <chrono>

namespace muster {

void PlannerTrouble::note(const PlannedRound& planned, Instant now) {
  text_ = planned.trouble;
  if (!planned.failed) {
    failed_ = 0;
    not_before_ = Instant{Duration::min()};
    return;
  }
  constexpr std::uint32_t kMostDoublings = 20;
  not_before_ = now + std::min(retry_ * (1 << std::min(failed_++, kMostDoublings)), longest_);
  if (text_.empty()) return;
  text_ += "; nothing is planned, and it is asked again after " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(pause(now)).count()) + " s";
}

Duration PlannerTrouble::pause(Instant now) const {
  return not_before_ > now ? not_before_ - now : Duration::zero();
}

}  // namespace muster
