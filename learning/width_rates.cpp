#include "learning/width_rates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace muster {
void WidthRates::observe(std::uint32_t width, double progress, double seconds) {
  const bool possible = std::isfinite(progress) && std::isfinite(seconds) &&
                        progress >= kLeastLearnt && seconds >= kLeastLearnt && width >= 1 &&
                        width <= kMostWidths;
  if (!possible) return;
  Seen& seen = by_width_[width];
  if (seen.progress + progress > kGreatestLearnt || seen.seconds + seconds > kGreatestLearnt)
    return;
  seen.progress += progress;
  seen.seconds += seconds;
}

std::uint32_t WidthRates::width_cap() const {
  return empty() ? 1 : std::min(2 * by_width_.rbegin()->first, kMostWidths);
}

double WidthRates::at(double width) const {
  // No workers make no progress: that is known of every class.
  std::pair<double, double> before{0, 0};
  std::pair<double, double> last{0, 0};
  for (const auto& [seen_width, seen] : by_width_) {
    before = std::exchange(last, std::pair<double, double>(seen_width, seen.rate()));
    if (last.first >= width) break;
  }
  const double slope = (last.second - before.second) / (last.first - before.first);
  // Widths that made jobs slower say nothing of wider ones than that these gain nothing.
  const bool beyond = width > last.first;
  return last.second + (width - last.first) * (beyond ? std::max(slope, 0.0) : slope);
}

std::vector<double> WidthRates::speedup() const {
  std::vector<double> all;
  if (empty()) return all;
  const double one = at(1);
  for (std::uint32_t width = 1; width <= width_cap(); ++width) all.push_back(at(width) / one);
  return all;
}

void WidthRates::write(ModelWriter& out) const {
  out.line("widths").whole(by_width_.size());
  for (const auto& [width, seen] : by_width_) {
    out.line("width").whole(width).number(seen.progress).number(seen.seconds);
  }
}

WidthRates WidthRates::read(ModelReader& in) {
  WidthRates read;
  in.line("widths");
  const std::uint64_t count = in.whole(0, kMostWidths);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    in.line("width");
    const auto width = static_cast<std::uint32_t>(in.whole(1, kMostWidths));
    const Seen seen{in.number(0, kGreatestLearnt), in.number(0, kGreatestLearnt)};
    // Earlier versions took up less, which says nothing.
    if (seen.progress >= kLeastLearnt && seen.seconds >= kLeastLearnt) read.by_width_[width] = seen;
  }
  return read;
}

}  // namespace muster
