#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/model_text.hpp"

namespace muster {

/// The most configurations, or degrees of collocation, that a learner compares.
inline constexpr std::uint32_t kMostPoints = 64;

/// A size that a replica may have, and its price.
struct ServiceSize {
  double cores = 0;
  double memory_gib = 0;
  double price_usd_h = 0;

  friend bool operator==(const ServiceSize&, const ServiceSize&) = default;
};

/// Whether there are some, not too many, each with more than nothing, and no two alike in size.
bool valid_service_sizes(std::span<const ServiceSize> all);

/// The sizes that services are compared at, numbered from 0.
class ServiceSizes {
 public:
  /// They have to be valid_service_sizes.
  explicit ServiceSizes(std::vector<ServiceSize> all);
  /// Each number of cores with each memory, cores major.
  static ServiceSizes grid(std::span<const double> cores, std::span<const double> memory_gib);

  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  const ServiceSize& operator[](std::uint32_t at) const { return all_[at]; }
  /// From the cheapest to the dearest; of equal prices the one with less of its dominant share of
  /// the largest amounts first.
  std::span<const std::uint32_t> by_price() const { return by_price_; }
  /// The one with the most cores, and of them with the most memory.
  std::uint32_t largest() const { return largest_; }

  /// Brings the values, one a configuration, into [0, 1] and makes them rise with cores and with
  /// memory, as near to what they were as a few passes come: between configurations of equal
  /// cores, and between those of equal memory.
  void make_monotone(std::span<double> values) const;

  void write(ModelWriter& out) const;
  static ServiceSizes read(ModelReader& in);
  friend bool operator==(const ServiceSizes& a, const ServiceSizes& b) { return a.all_ == b.all_; }

 private:
  using Line = std::vector<std::uint32_t>;

  std::vector<ServiceSize> all_;
  std::vector<std::uint32_t> by_price_;
  std::uint32_t largest_ = 0;
  std::vector<Line> lines_;  ///< along which values rise
};

/// Prices for comparisons where no instance says another: on demand, of a core and of a GiB.
inline constexpr double kCorePrice_usd_h = 0.0316, kGibPrice_usd_h = 0.0042;

}  // namespace muster
