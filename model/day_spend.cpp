#include "model/day_spend.hpp"

#include <algorithm>

namespace muster {
namespace {

/// The cloud's clock is never set back by more than the days that are remembered.
constexpr std::int64_t kDaysKept = 4;

}  // namespace

void DaySpend::gone(InstanceId id, Price price, Instant until) {
  const auto found = up_since.find(id);
  if (found == up_since.end()) return;
  const Instant oldest{(day_of(until) - kDaysKept) * kCapDay};
  for (Instant from = std::max(found->second, oldest); from < until;) {
    const Instant to = std::min(until, midnight_before(from) + kCapDay);
    by_day[day_of(from)] += Money::of(price, to - from);
    from = to;
  }
  up_since.erase(found);
  while (by_day.size() > kDaysKept) by_day.erase(by_day.begin());
}

Money DaySpend::until(Instant now, const ClusterState& state) const {
  const Instant midnight = midnight_before(now);
  const auto over = by_day.find(day_of(now));
  Money sum = over == by_day.end() ? Money{} : over->second;
  for (const auto& [id, since] : up_since) {
    const Instant from = std::max(since, midnight);
    if (from < now) sum += Money::of(state.find(id)->price, now - from);
  }
  return sum;
}

}  // namespace muster
