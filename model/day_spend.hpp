#pragma once

#include <cstdint>
#include <map>

#include "model/cluster_state.hpp"
#include "model/money.hpp"

namespace muster {

/// Time that a cap for a day is counted over: from midnight to midnight UTC, by the cloud's clock.
inline constexpr Duration kCapDay = std::chrono::hours{24};

/// Counted from 1970.
constexpr std::int64_t day_of(Instant t) {
  const std::int64_t days = t.time_since_epoch() / kCapDay;
  return Instant{days * kCapDay} > t ? days - 1 : days;
}
constexpr Instant midnight_before(Instant t) {
  return Instant{day_of(t) * kCapDay};
}

/// Charges of a master's instances, day by day. All times are those of the cloud's clock, which
/// bills: from its word that an instance is up to its word that it is gone.
struct DaySpend {
  std::map<InstanceId, Instant> up_since{};  ///< of those that are up: booked until then
  /// For instances that are gone, and for others until their price changed; the newest days.
  std::map<std::int64_t, Money> by_day{};

  void up(const InstanceRow& row, Instant since);
  /// The change, which is news, gives these instances another price.
  void reprice(const OfferingChange& change, const ClusterState& before);
  void gone(const InstanceRow& row, Instant until);
  /// Cost of the day of that time until that time.
  Money until(Instant now, const ClusterState& state) const;

 private:
  void book(const InstanceRow& row, Instant from, Instant until);
};

}  // namespace muster
