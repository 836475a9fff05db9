#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "learning/services/service_family.hpp"

// Drawn services for service_learners: past ones with their profiles, and arrivals that are known
// in full. All learners see equal worlds.

namespace muster::bench {

/// Past services that learners are taught by.
inline constexpr std::size_t kPast = 200;

/// Relative deviation of an exhaustive profile.
inline constexpr double kProfileNoise = 0.02;

/// A service that arrives.
struct Arrival {
  FamilyService service;
  PerformanceCurve truth;             ///< by configuration
  PerformanceCurve probed;            ///< a probe's measurement there
  std::vector<std::uint32_t> random;  ///< configurations in a random order
  double goal = 0;
  std::uint32_t cheapest = 0;  ///< the configuration that truly reaches it at least cost
};

/// Services of the past with their profiles, and those that arrive.
struct ServiceWorld {
  ServiceSizes sizes = family_sizes();
  std::vector<FamilyService> past;
  std::vector<PerformanceCurve> profiles;
  std::vector<Arrival> arrivals;
  bool largest_first = false;  ///< the first probe is of the largest size, whoever chooses
};

/// The curve as it is measured with that noise.
inline PerformanceCurve noisy_curve(const PerformanceCurve& truth, double noise, Rng& rng) {
  PerformanceCurve curve;
  for (const double value : truth) curve.push_back(noisy_performance(value, noise, rng));
  return curve;
}

/// 0, 1 ... in a random order.
inline std::vector<std::uint32_t> drawn_order(std::uint32_t count, Rng& rng) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[rng.below(left)]);
  }
  return order;
}

/// A service of that performance that arrives, with its goal.
inline Arrival known_arrival(const ServiceSizes& sizes, PerformanceCurve truth, Rng& rng) {
  Arrival arrival;
  arrival.truth = std::move(truth);
  arrival.probed = noisy_curve(arrival.truth, kProbeNoise, rng);
  arrival.random = drawn_order(sizes.size(), rng);
  arrival.goal = rng.uniform(0.5, 0.9);
  arrival.cheapest = *std::ranges::find_if(
      sizes.by_price(), [&](std::uint32_t at) { return arrival.truth[at] >= arrival.goal; });
  return arrival;
}

/// A drawn service that arrives.
inline Arrival draw_arrival(const ServiceSizes& sizes, Rng& rng) {
  const FamilyService service = draw_service(rng);
  Arrival arrival = known_arrival(sizes, performance_curve(service, sizes), rng);
  arrival.service = service;
  return arrival;
}

/// A world of that number of past services and of arrivals.
inline ServiceWorld draw_world(std::uint64_t seed, std::size_t past, std::size_t arrivals,
                               const ServiceSizes& sizes = family_sizes()) {
  ServiceWorld world{.sizes = sizes, .past = {}, .profiles = {}, .arrivals = {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < past; ++i) {
    world.past.push_back(draw_service(rng));
    world.profiles.push_back(
        noisy_curve(performance_curve(world.past.back(), world.sizes), kProfileNoise, rng));
  }
  for (std::size_t i = 0; i < arrivals; ++i) {
    world.arrivals.push_back(draw_arrival(world.sizes, rng));
  }
  return world;
}

/// Squared errors over what was not measured.
class ErrorSum {
 public:
  /// Adds a service.
  void add(const PerformanceCurve& truth, const std::vector<double>& mean,
           std::span<const MeasuredPoint> measured) {
    double own = 0, count = 0;
    for (std::uint32_t at = 0; at < truth.size(); ++at) {
      if (measured_at(measured, at) != nullptr) continue;
      own += (mean[at] - truth[at]) * (mean[at] - truth[at]);
      ++count;
    }
    if (count == 0) return;
    squares_ += own;
    count_ += count;
    worst_ = std::max(worst_, std::sqrt(own / count));
  }
  double rmse() const { return count_ > 0 ? std::sqrt(squares_ / count_) : 0; }
  /// The greatest error of a service.
  double worst() const { return worst_; }

 private:
  double squares_ = 0, count_ = 0, worst_ = 0;
};

}  // namespace muster::bench
