#include "schedulers/muster/pair_rates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/check.hpp"

// Rates are kept as logarithms, in which a set's rate is a sum, and as themselves, for those who
// multiply pair by pair: an exponential for each would be most of the time of a round. The first
// classes have a table; where every job has a name of its own a table of all would grow with the
// square of the jobs ever met.

namespace muster::own {
namespace {

/// Share of a miss that one observation corrects.
constexpr double kStep = 0.5;
/// Misses below this are noise: correcting them would make every round look like news.
constexpr double kLeastMiss = 1e-4;
/// A task that stands still says nothing that a logarithm could hold.
constexpr double kLeastThroughput = 1e-3;
/// Classes that the table holds at most: 16 MiB of pairs.
constexpr std::size_t kMostWidth = 1024;

}  // namespace

PairRates::PairRates(double default_pair)
    : default_rate_(default_pair), default_log_(std::log(default_pair)) {
  MUSTER_CHECK(default_pair > 0 && default_pair <= 1, "a pair's rate is a share");
}

/// Has the table hold the class numbered `most`.
void PairRates::widen(std::size_t most) {
  if (most < width_) return;
  // Doubling keeps the copying linear in the classes met.
  const std::size_t wider = std::min(kMostWidth, std::max<std::size_t>(most + 1, 2 * width_));
  const auto copy = [&](std::vector<double>& from, double unknown) {
    std::vector<double> to(wider * wider, unknown);
    for (std::size_t row = 0; row < width_; ++row) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * width_), width_,
                  to.begin() + static_cast<std::ptrdiff_t>(row * wider));
    }
    from = std::move(to);
  };
  copy(logs_, default_log_);
  copy(rates_, default_rate_);
  width_ = wider;
}

PairRates::Other PairRates::other(ClassId task, ClassId neighbour) const {
  const auto known = others_.find(key_of(task, neighbour));
  return known == others_.end() ? Other{default_log_, default_rate_} : known->second;
}

void PairRates::set(ClassId task, ClassId neighbour, double log) {
  const Other known{std::min(0.0, log), std::exp(std::min(0.0, log))};
  const std::size_t most = std::max(task.value, neighbour.value);
  if (most >= kMostWidth) {
    others_[key_of(task, neighbour)] = known;
    return;
  }
  widen(most);
  logs_[task.value * width_ + neighbour.value] = known.log;
  rates_[task.value * width_ + neighbour.value] = known.rate;
}

double PairRates::log_beside(ClassId task, std::span<const ClassId> neighbours) const {
  return std::accumulate(
      neighbours.begin(), neighbours.end(), 0.0,
      [&](double sum, ClassId neighbour) { return sum + log_rate(task, neighbour); });
}

void PairRates::learn_gang(std::span<const GangPlace> places, double throughput,
                           std::uint64_t times) {
  const double seen = std::log(std::clamp(throughput, kLeastThroughput, 1.0));
  const GangPlace* slowest = nullptr;
  double least = 0;
  for (const GangPlace& place : places) {
    // A task alone on its instance cannot have been slowed by neighbours (Eva 4.4).
    if (place.neighbours.empty()) continue;
    const double expected = log_beside(place.task, place.neighbours);
    if (slowest == nullptr || expected < least ||
        (expected == least && place.neighbours.size() > slowest->neighbours.size())) {
      slowest = &place;
      least = expected;
    }
  }
  if (slowest == nullptr) return;
  if (least >= seen) return learn(slowest->task, slowest->neighbours, throughput, times);
  for (const GangPlace& place : places) {
    if (log_beside(place.task, place.neighbours) >= seen) continue;
    learn(place.task, place.neighbours, throughput, times);
  }
}

void PairRates::learn(ClassId task, std::span<const ClassId> neighbours, double throughput,
                      std::uint64_t times) {
  if (neighbours.empty() || times == 0) return;
  double miss = std::log(std::clamp(throughput, kLeastThroughput, 1.0));
  miss -= log_beside(task, neighbours);
  if (std::abs(miss) <= kLeastMiss) return;
  // The same observation k times leaves (1 - step)^k of the miss.
  const double corrected = 1 - std::pow(1 - kStep, static_cast<double>(times));
  const double each = miss * corrected / static_cast<double>(neighbours.size());
  for (ClassId neighbour : neighbours) set(task, neighbour, log_rate(task, neighbour) + each);
  ++version_;
}

std::vector<PairRate> PairRates::learnt() const {
  std::vector<PairRate> rates;
  for (std::uint32_t task = 0; task < width_; ++task) {
    for (std::uint32_t neighbour = 0; neighbour < width_; ++neighbour) {
      const double log = logs_[task * width_ + neighbour];
      if (log != default_log_) rates.push_back({ClassId{task}, ClassId{neighbour}, log});
    }
  }
  for (const auto& [key, known] : others_) {
    if (known.log == default_log_) continue;
    const auto task = static_cast<std::uint32_t>(key >> 32U);
    rates.push_back({ClassId{task}, ClassId{static_cast<std::uint32_t>(key)}, known.log});
  }
  std::sort(rates.begin(), rates.end(), [](const PairRate& a, const PairRate& b) {
    return std::pair(a.task, a.neighbour) < std::pair(b.task, b.neighbour);
  });
  return rates;
}

void PairRates::restore(std::span<const PairRate> rates) {
  logs_.clear();
  rates_.clear();
  others_.clear();
  width_ = 0;
  for (const PairRate& rate : rates) set(rate.task, rate.neighbour, rate.log_rate);
  ++version_;
}

}  // namespace muster::own
