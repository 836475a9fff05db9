#include "learning/services/service_sizes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace muster {
namespace {

/// Alternating passes along cores and memory; two are enough nearly always.
constexpr int kMostPasses = 20;
/// A fall between neighbours that is no fall.
constexpr double kLeastFall = 1e-9;

/// Pools adjacent violators: the nearest rising values in the sense of least squares. Whether any
/// value changed.
bool make_rise(std::span<const std::uint32_t> line, std::span<double> values) {
  bool rises = true;
  for (std::size_t i = 1; i < line.size(); ++i) {
    rises = rises && values[line[i]] >= values[line[i - 1]] - kLeastFall;
  }
  if (rises) return false;
  struct Pool {
    double sum = 0;
    double count = 0;
    double mean() const { return sum / count; }
  };
  std::array<Pool, kMostPoints> pools;
  std::size_t top = 0;
  for (const std::uint32_t at : line) {
    pools[top++] = {values[at], 1};
    for (; top > 1 && pools[top - 2].mean() > pools[top - 1].mean(); --top) {
      pools[top - 2].sum += pools[top - 1].sum;
      pools[top - 2].count += pools[top - 1].count;
    }
  }
  std::size_t next = 0;
  for (std::size_t pool = 0; pool < top; ++pool) {
    const double mean = pools[pool].mean();
    for (double left = pools[pool].count; left > 0; --left) values[line[next++]] = mean;
  }
  return true;
}

/// The configurations with equal first amounts, each by the second amount.
template <class First, class Second>
void add_lines(std::span<const ServiceSize> all, const First& first, const Second& second,
               std::vector<std::vector<std::uint32_t>>& lines) {
  std::map<double, std::map<double, std::uint32_t>> sorted;
  for (std::uint32_t at = 0; at < all.size(); ++at) sorted[first(all[at])][second(all[at])] = at;
  for (const auto& [amount, line] : sorted) {
    auto& added = lines.emplace_back();
    for (const auto& [other, at] : line) added.push_back(at);
  }
}

double cores_of(const ServiceSize& one) {
  return one.cores;
}

double memory_of(const ServiceSize& one) {
  return one.memory_gib;
}

}  // namespace

bool valid_service_sizes(std::span<const ServiceSize> all) {
  if (all.empty() || all.size() > kMostPoints) return false;
  const auto sound = [](double value, double low) {
    return value >= low && value <= kGreatestLearnt;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ServiceSize& one = all[i];
    if (!sound(one.cores, kLeastLearnt) || !sound(one.memory_gib, kLeastLearnt)) return false;
    if (!sound(one.price_usd_h, 0)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (one.cores == all[j].cores && one.memory_gib == all[j].memory_gib) return false;
    }
  }
  return true;
}

ServiceSizes::ServiceSizes(std::vector<ServiceSize> all) : all_(std::move(all)) {
  MUSTER_CHECK(valid_service_sizes(all_), "services are compared at valid configurations");
  double most_cores = 0, most_gib = 0;
  for (const ServiceSize& one : all_) {
    most_cores = std::max(most_cores, one.cores);
    most_gib = std::max(most_gib, one.memory_gib);
  }
  for (std::uint32_t at = 0; at < size(); ++at) {
    const ServiceSize &one = all_[at], &most = all_[largest_];
    if (one.cores != most.cores ? one.cores > most.cores : one.memory_gib > most.memory_gib) {
      largest_ = at;
    }
  }
  const auto share = [&](std::uint32_t at) {
    return std::max(all_[at].cores / most_cores, all_[at].memory_gib / most_gib);
  };
  for (std::uint32_t at = 0; at < size(); ++at) by_price_.push_back(at);
  std::stable_sort(by_price_.begin(), by_price_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (all_[a].price_usd_h != all_[b].price_usd_h) {
      return all_[a].price_usd_h < all_[b].price_usd_h;
    }
    return share(a) < share(b);
  });
  add_lines(all_, cores_of, memory_of, lines_);
  add_lines(all_, memory_of, cores_of, lines_);
}

ServiceSizes ServiceSizes::grid(std::span<const double> cores, std::span<const double> memory_gib) {
  std::vector<ServiceSize> all;
  for (const double core : cores) {
    for (const double gib : memory_gib) {
      all.push_back({core, gib, core * kCorePrice_usd_h + gib * kGibPrice_usd_h});
    }
  }
  return ServiceSizes(std::move(all));
}

void ServiceSizes::make_monotone(std::span<double> values) const {
  MUSTER_CHECK(values.size() == all_.size(), "each configuration has a value");
  for (double& value : values) value = std::clamp(value, 0.0, 1.0);
  bool changed = true;
  for (int pass = 0; pass < kMostPasses && changed; ++pass) {
    changed = false;
    for (const Line& line : lines_) changed = make_rise(line, values) || changed;
  }
}

void ServiceSizes::write(ModelWriter& out) const {
  out.line("configurations").whole(size());
  for (const ServiceSize& one : all_) {
    out.line("configuration").number(one.cores).number(one.memory_gib).number(one.price_usd_h);
  }
}

ServiceSizes ServiceSizes::read(ModelReader& in) {
  in.line("configurations");
  const std::uint64_t count = in.whole(1, kMostPoints);
  std::vector<ServiceSize> all;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    in.line("configuration");
    ServiceSize& one = all.emplace_back();
    one.cores = in.number(kLeastLearnt, kGreatestLearnt);
    one.memory_gib = in.number(kLeastLearnt, kGreatestLearnt);
    one.price_usd_h = in.number(0, kGreatestLearnt);
  }
  if (valid_service_sizes(all)) return ServiceSizes(std::move(all));
  in.refuse("two configurations are alike");
  return ServiceSizes({{1, 1, 1}});
}

}  // namespace muster
