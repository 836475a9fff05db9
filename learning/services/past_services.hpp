#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learning/services/performance_history.hpp"
#include "learning/services/service_sizes.hpp"

namespace muster {

/// The most past services that a file of them has: as many as a learner keeps.
inline constexpr std::uint32_t kMostPastServices = 600;

/// A service of the past that was measured at each of its numbers of cores with each memory.
struct PastService {
  std::vector<double> cores{};       ///< ascending
  std::vector<double> memory_gib{};  ///< likewise
  std::vector<double> values{};      ///< in [0, 1], 1 the best: cores major

  friend bool operator==(const PastService&, const PastService&) = default;
};

/// Whether there are a size and not too many, all numbers are in their ranges and in their order,
/// and the largest size does better than not at all.
bool valid_past_service(const PastService& service);

/// How a service like the past one would do at these sizes, whose largest is to it as that of the
/// past one: between sizes that were measured as between their numbers, below the least in
/// proportion to what is left.
PerformanceCurve curve_of(const PastService& past, const ServiceSizes& sizes);

/// Past services as a text, for parse_past_services().
std::string past_services_text(std::span<const PastService> services);
/// The past services of a text; a fault where it is not one, or of another version.
Expected<std::vector<PastService>, LearnError> parse_past_services(std::string_view text);

}  // namespace muster
