#include "learning/services/measured.hpp"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

/// Samples agree no better than this with what holds a while later: the newest ones keep a say.
constexpr double kLeastNoiseVariance = 0.005 * 0.005;

}  // namespace

void take_up(std::vector<MeasuredPoint>& measured, const PerformanceSample& sample) {
  if (!std::isfinite(sample.value) || !std::isfinite(sample.noise)) return;
  const double value = std::clamp(sample.value, 0.0, 1.0);
  const double deviation = std::clamp(sample.noise, 0.0, 1.0) * value;
  const double variance = deviation * deviation;
  const auto known = std::ranges::find(measured, sample.at, &MeasuredPoint::at);
  if (known == measured.end()) {
    measured.push_back({sample.at, value, variance});
    return;
  }
  const double old = std::max(known->variance, kLeastNoiseVariance);
  const double fresh = std::max(variance, kLeastNoiseVariance);
  known->value += old / (old + fresh) * (value - known->value);
  known->variance = old * fresh / (old + fresh);
}

const MeasuredPoint* measured_at(std::span<const MeasuredPoint> measured, std::uint32_t at) {
  const auto known = std::ranges::find(measured, at, &MeasuredPoint::at);
  return known == measured.end() ? nullptr : &*known;
}

void write_measured(ModelWriter& out, std::span<const MeasuredPoint> measured) {
  out.line("measured").whole(measured.size());
  for (const MeasuredPoint& one : measured) {
    out.whole(one.at).number(one.value).number(one.variance);
  }
}

std::vector<MeasuredPoint> read_measured(ModelReader& in, std::uint32_t points) {
  in.line("measured");
  const std::uint64_t count = in.whole(0, points);
  std::vector<MeasuredPoint> measured;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    MeasuredPoint one;
    one.at = static_cast<std::uint32_t>(in.whole(0, points - 1));
    one.value = in.number(0, 1);
    one.variance = in.number(0, 1);
    if (measured_at(measured, one.at) != nullptr) in.refuse("a configuration comes twice");
    measured.push_back(one);
  }
  return measured;
}

}  // namespace muster
