#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "learning/services/service_family.hpp"
#include "learning/services/service_sizes.hpp"

namespace muster::replay {

/// Performance of replicas as somebody has measured it.
struct MeasuredPerformance {
  std::vector<std::pair<ServiceSize, double>> sizes;  ///< by rising price; at least one
  std::map<std::uint32_t, double> degrees;  ///< factor with that number of replicas an instance

  friend bool operator==(const MeasuredPerformance&, const MeasuredPerformance&) = default;
};

/// How well a replica of a service does, in [0, 1], by its size and the number of its service's
/// replicas on its instance: a member of the family of services, or measured.
class ServicePerformance {
 public:
  explicit ServicePerformance(const FamilyService& service);
  explicit ServicePerformance(MeasuredPerformance measured);

  /// With that multiple of the service's load, which changes nothing where it was measured.
  double at(const ReplicaPlace& place, double load = 1) const;
  /// The cheapest size at which one replica an instance reaches the goal; the largest when no
  /// size does.
  ServiceSize right_size(double goal, double load = 1) const;
  bool is_measured() const { return std::holds_alternative<MeasuredPerformance>(kind_); }

  /// As parse_performance() reads it.
  std::string text() const;

 private:
  double measured_at(const ReplicaPlace& place) const;

  std::variant<FamilyService, MeasuredPerformance> kind_;
  double unit_ = 1;  ///< of the family's member
};

/// The texts that parse_performance() takes, for messages.
inline constexpr std::string_view kWantedPerformance =
    "KIND:LOAD/EXPONENT/WORKING_SET/HIT_EXPONENT/MISS_PENALTY/CONTENTION/LOCALITY with the kind "
    "wide, table, cache or web, such as web:1.2/0.95/1/0.3/0.5/0.04/0.01, or "
    "measured:CORES/GIB=PERFORMANCE with semicolons between sizes and xN=FACTOR for N replicas on "
    "an instance, such as measured:1/2=0.5;2/4=0.9;x2=0.97";

/// Nothing when the text is no performance.
std::optional<ServicePerformance> parse_performance(std::string_view text);

/// Hours of a day.
inline constexpr std::size_t kDayHours = 24;

/// Facts of a service that no scheduler is told. The seconds until its user ends it are its job's
/// iterations.
struct ServiceTruth {
  std::shared_ptr<const ServicePerformance> performance;  ///< null: not known
  double goal = 0;          ///< performance that its user wants; 0: no goal
  std::vector<double> day;  ///< factor on its load, by hour of the day; none: always the load

  /// The factor at its peak.
  double peak() const;
};

/// Price of a replica of that size where no instance says another.
double comparison_price_usd_h(double cores, double memory_gib);

}  // namespace muster::replay
