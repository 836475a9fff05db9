#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "learning/services/performance_history.hpp"
#include "learning/services/service_sizes.hpp"
#include "model/rng.hpp"

namespace muster {

/// Kinds of services, each like a server that is well known.
enum class ServiceKind : std::uint8_t {
  wide,   ///< a wide-column store (Cassandra)
  table,  ///< a table store (HBase)
  cache,  ///< an in-memory cache (Memcached)
  web     ///< a web server (Apache)
};
inline constexpr std::array kServiceKinds = {ServiceKind::wide, ServiceKind::table,
                                             ServiceKind::cache, ServiceKind::web};

std::string_view name_of(ServiceKind kind);

/// How large a replica is, and how many replicas of its service an instance holds.
struct ReplicaPlace {
  double cores = 1;
  double memory_gib = 1;
  double degree = 1;
};

/// A drawn service, whose performance is a formula: for replays and tests, which need services that
/// behave like real ones and are known in full.
struct FamilyService {
  ServiceKind kind = ServiceKind::wide;
  double load_cores = 1;  ///< work that arrives at a replica
  double exponent = 1;    ///< of the speedup by cores
  double working_set_gib = 1;
  double hit_exponent = 1;
  double miss_penalty = 1;  ///< by which a miss takes longer than a hit
  double contention = 0;    ///< loss by other replicas on the instance
  double locality = 0;      ///< gain by them

  friend bool operator==(const FamilyService&, const FamilyService&) = default;
};

/// Draws a service of a kind, or of any.
FamilyService draw_service(ServiceKind kind, Rng& rng);
FamilyService draw_service(Rng& rng);

/// The share of the load that is served in time, and how fast: above 0, and without a unit.
double raw_performance(const FamilyService& service, const ReplicaPlace& place);

/// The best raw performance over all configurations with one replica an instance: the unit.
double performance_unit(const FamilyService& service, const ServiceSizes& sizes);

/// Performance at each configuration, with that many replicas of the service an instance.
PerformanceCurve performance_curve(const FamilyService& service, const ServiceSizes& sizes,
                                   double degree = 1);

/// A measurement of a performance, with noise relative to it.
double noisy_performance(double performance, double noise, Rng& rng);

/// The configurations that the family is made for: 0.5 to 8 cores by 0.5 to 16 GiB.
ServiceSizes family_sizes();
/// The degrees of collocation that go with them.
inline constexpr std::array<std::uint32_t, 4> kFamilyDegrees = {1, 2, 4, 8};

}  // namespace muster
