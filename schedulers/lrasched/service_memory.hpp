#pragma once

#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <string_view>

#include "schedulers/lrasched/service.hpp"
#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// Services that are not over, and demand of those that came within the last hour: a period may
/// have a single service, which weighed by itself asks for as much of each resource as there is
/// demand. A fold over the events.
class ServiceMemory {
 public:
  static constexpr Duration kRemembered{std::chrono::hours{1}};

  void observe(const Event& event, const ClusterView& view);

  /// Those that are not over, by rising ids.
  const std::set<JobId>& services() const { return services_; }
  /// Demand of those that came within the last hour.
  Demand demand(Instant now) const;

  /// A service that came, its demand on the first family that it names.
  struct Arrival {
    Instant at{};
    Resources size{};
    std::uint32_t replicas = 0;

    friend bool operator==(const Arrival&, const Arrival&) = default;
  };

  /// Equal for equal memories.
  std::string save() const;
  /// False when the words are not understood.
  bool load(std::string_view text, const ClusterView& view);

 private:
  void look(const ClusterState& state);
  void add(const JobRow& row);

  std::set<JobId> services_;
  std::deque<Arrival> arrivals_;  ///< the oldest first
  bool looked_ = false;           ///< at what was there before the first event
};

}  // namespace muster::lrasched
