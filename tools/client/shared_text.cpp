#include "tools/client/shared_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace muster::client {
namespace {

constexpr int kFewestDigits = 4;
constexpr int kMostDigits = 9;

/// So many that the least part is at least half a unit of the last one.
int digits_for(const std::vector<CostPart>& parts) {
  int digits = kFewestDigits;
  for (const auto& [name, usd] : parts) {
    while (usd != 0 && digits < kMostDigits && std::abs(usd) * std::pow(10, digits) < 0.5) ++digits;
  }
  return digits;
}

}  // namespace

SharedText shared_text(const std::vector<CostPart>& parts, double total_usd) {
  const int digits = digits_for(parts);
  const double per_usd = std::pow(10, digits);
  std::vector<double> units;  // whole numbers of the last digit
  double left = std::round(total_usd * per_usd);
  for (const auto& [name, usd] : parts) {
    units.push_back(std::floor(usd * per_usd));
    left -= units.back();
  }
  const auto lost = [&](std::size_t i) { return parts[i].usd * per_usd - units[i]; };
  if (left >= 0 && left <= static_cast<double>(parts.size())) {
    // Those that lose most by rounding down are rounded up; of equal ones the first.
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lost(a) > lost(b); });
    for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) units[order[i]] += 1;
  } else {
    for (std::size_t i = 0; i < parts.size(); ++i) units[i] = std::round(parts[i].usd * per_usd);
  }
  SharedText text;
  for (const double one : units) {
    text.parts.push_back(fmt::format("${:.{}f}", one / per_usd, digits));
  }
  text.total = fmt::format("${:.{}f}", total_usd, digits);
  return text;
}

}  // namespace muster::client
