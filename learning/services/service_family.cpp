#include "learning/services/service_family.hpp"

#include <algorithm>
#include <cmath>

#include "learning/services/normal.hpp"
#include "model/log_uniform.hpp"

namespace muster {
namespace {

struct Span {
  double low = 0;
  double high = 0;
};

/// From what the numbers of a kind are drawn.
struct KindSpans {
  std::string_view name;
  Span load, exponent, working_set, hit_exponent, miss_penalty, contention, locality;
};

constexpr std::array<KindSpans, kServiceKinds.size()> kKindSpans = {{
    {"wide", {0.4, 3}, {0.80, 0.95}, {2, 10}, {0.4, 0.7}, {1.5, 3}, {0.010, 0.040}, {0, 0.02}},
    {"table", {0.3, 2}, {0.75, 0.90}, {3, 14}, {0.5, 0.9}, {3, 6}, {0.010, 0.030}, {0.01, 0.04}},
    {"cache", {0.1, 0.8}, {0.70, 0.90}, {1, 12}, {0.8, 1.2}, {6, 12}, {0.005, 0.020}, {0, 0.01}},
    {"web", {0.4, 4}, {0.90, 1.00}, {0.4, 2}, {0.2, 0.5}, {0.3, 1}, {0.020, 0.080}, {0, 0.02}},
}};

const KindSpans& spans_of(ServiceKind kind) {
  return kKindSpans[static_cast<std::size_t>(kind)];
}

double draw_even(const Span& span, Rng& rng) {
  return rng.uniform(span.low, span.high);
}

double draw_log(const Span& span, Rng& rng) {
  return log_uniform(span.low, span.high, rng);
}

/// The share of the load that is served in time, by the utilisation.
double served(double utilisation) {
  constexpr double kSaturated = 0.9;
  if (utilisation <= kSaturated) return 1 - utilisation;
  return (1 - kSaturated) * std::pow(kSaturated / utilisation, 3);
}

}  // namespace

std::string_view name_of(ServiceKind kind) {
  return spans_of(kind).name;
}

FamilyService draw_service(ServiceKind kind, Rng& rng) {
  const KindSpans& spans = spans_of(kind);
  FamilyService service;
  service.kind = kind;
  service.load_cores = draw_log(spans.load, rng);
  service.exponent = draw_even(spans.exponent, rng);
  service.working_set_gib = draw_log(spans.working_set, rng);
  service.hit_exponent = draw_even(spans.hit_exponent, rng);
  service.miss_penalty = draw_even(spans.miss_penalty, rng);
  service.contention = draw_log(spans.contention, rng);
  service.locality = draw_even(spans.locality, rng);
  return service;
}

FamilyService draw_service(Rng& rng) {
  return draw_service(kServiceKinds[rng.below(kServiceKinds.size())], rng);
}

double raw_performance(const FamilyService& service, const ReplicaPlace& place) {
  constexpr double kContentionCores = 4;  // the size at which the contention is stated
  const double hit =
      std::pow(std::min(1.0, place.memory_gib / service.working_set_gib), service.hit_exponent);
  const double slow = 1 + service.miss_penalty * (1 - hit);
  const double utilisation = service.load_cores * slow / std::pow(place.cores, service.exponent);
  const double gain = 1 + service.locality * std::log2(place.degree);
  const double loss = 1 + service.contention * std::pow(place.degree - 1, 1.5) *
                              std::sqrt(place.cores / kContentionCores);
  return served(utilisation) / slow * gain / loss;
}

double performance_unit(const FamilyService& service, const ServiceSizes& sizes) {
  double best = 0;
  for (std::uint32_t at = 0; at < sizes.size(); ++at) {
    best = std::max(best, raw_performance(service, {sizes[at].cores, sizes[at].memory_gib, 1}));
  }
  return best;
}

PerformanceCurve performance_curve(const FamilyService& service, const ServiceSizes& sizes,
                                   double degree) {
  const double unit = performance_unit(service, sizes);
  PerformanceCurve curve;
  for (std::uint32_t at = 0; at < sizes.size(); ++at) {
    const ReplicaPlace place{sizes[at].cores, sizes[at].memory_gib, degree};
    curve.push_back(std::min(1.0, raw_performance(service, place) / unit));
  }
  return curve;
}

double noisy_performance(double performance, double noise, Rng& rng) {
  return std::clamp(performance * std::exp(noise * standard_normal(rng)), 0.0, 1.0);
}

ServiceSizes family_sizes() {
  constexpr std::array<double, 5> kCores = {0.5, 1, 2, 4, 8};
  constexpr std::array<double, 6> kMemory_gib = {0.5, 1, 2, 4, 8, 16};
  return ServiceSizes::grid(kCores, kMemory_gib);
}

}  // namespace muster
