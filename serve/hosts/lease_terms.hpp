#pragma once

#include <algorithm>
#include <optional>

#include "model/time.hpp"
#include "serve/hosts/host_table.hpp"

namespace muster::hosts {

/// From the end of a lease until nothing of its machine can run: supervisors look each second, and
/// what they kill is gone soon.
inline constexpr Duration kLeaseMargin = std::chrono::seconds{5};
/// A machine's clock may run slower than the connector's, by one part in that number (500 ppm,
/// beyond which no clock of a computer is corrected).
inline constexpr int kDriftParts = 2000;

/// From the end of that lease on: a long one also bears the drift of clocks over its length.
constexpr Duration lease_margin(Duration lease) {
  return std::max<Duration>(kLeaseMargin, lease / kDriftParts);
}

/// Until when machines may run what they have been told to run. A lease that the process before has
/// told may be another one, and holds on; 0 is a lease without an end.
class LeaseTerms {
 public:
  /// `opened`: the start of this process, by the clock of which all times are.
  LeaseTerms(Duration lease, Duration opened) : lease_(lease), earlier_(lease), opened_(opened) {}

  void set_earlier(Duration lease) { earlier_ = lease; }
  Duration opened() const { return opened_; }
  /// When nothing of the machine's instance can run any more; nothing: only a person can know.
  std::optional<Duration> end_of(const HostEntry& host) const;
  /// The longest lease that may hold, for the file.
  Duration longest(const HostTable& hosts, Duration now) const;

 private:
  Duration lease_;
  Duration earlier_;
  Duration opened_;
};

}  // namespace muster::hosts
