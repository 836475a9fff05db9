#include "model/day_spend.hpp"

#include <algorithm>

// Sums up each day's spending, for the day's cap. Times are the cloud's, by which it bills; a
// change of price that is told late still counts from its own instant on.

namespace muster {
namespace {

/// The cloud's clock is never set back by more than the days that are remembered.
constexpr std::int64_t kDaysKept = 4;

}  // namespace

/// Adds what the instance costs in between; takes it away where `until` is before `from`.
void DaySpend::book(const InstanceRow& row, Instant from, Instant until) {
  const bool back = until < from;
  const Instant last = std::max(from, until);
  // Days before these are not asked for any more.
  const Instant oldest{(day_of(last) - kDaysKept) * kCapDay};
  for (Instant at = std::max(std::min(from, until), oldest); at < last;) {
    const Instant to = std::min(last, midnight_before(at) + kCapDay);
    const Money part = charge(row.earlier_prices, row.price, at, to);
    by_day[day_of(at)] += back ? Money{} - part : part;
    at = to;
  }
  while (by_day.size() > kDaysKept) by_day.erase(by_day.begin());
}

// A price may have changed before the instance was heard to be up.
void DaySpend::up(const InstanceRow& row, Instant since) {
  const PriceSteps& earlier = row.earlier_prices;
  const Instant now_from = earlier.empty() ? since : std::max(since, earlier.back().until);
  book(row, since, now_from);
  up_since[row.id] = now_from;
}

void DaySpend::reprice(const OfferingChange& change, const ClusterState& before) {
  if (!before.is_news(change)) return;
  for (Slot slot : before.repriced_by(change)) {
    const InstanceRow& row = before.instance(slot);
    const auto found = up_since.find(row.id);
    const Instant at = start_of_price(row.earlier_prices, change.at);
    if (found == up_since.end() || at <= found->second) continue;
    book(row, found->second, at);
    found->second = at;
  }
}

void DaySpend::gone(const InstanceRow& row, Instant until) {
  const auto found = up_since.find(row.id);
  if (found == up_since.end()) return;
  book(row, found->second, until);
  up_since.erase(found);
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
