#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "learning/model_text.hpp"
#include "model/elastic.hpp"

namespace muster {

/// Widths that are told apart at most.
inline constexpr std::uint32_t kMostWidths = kWidestJob;

/// Learns how fast the jobs of a class go at each width from how far they say that they have come,
/// where they say nothing else of themselves.
class WidthRates {
 public:
  /// A job of that width made that progress in that time. Observations without progress or time are
  /// left out, and so are widths beyond kMostWidths.
  void observe(std::uint32_t width, double progress, double seconds);

  bool empty() const { return by_width_.empty(); }
  /// How wide a job may be by what is known: twice the widest that made progress, at least 1.
  std::uint32_t width_cap() const;
  /// Progress a second of one worker; 0 before the first observation.
  double rate_per_s() const { return empty() ? 0 : at(1); }
  /// Of widths 1 up to width_cap(), relative to one worker: linear between the widths that were
  /// seen, from 0 workers on, and beyond all of them as between the last two; empty before the
  /// first observation.
  std::vector<double> speedup() const;

  void write(ModelWriter& out) const;
  static WidthRates read(ModelReader& in);

 private:
  struct Seen {
    double progress = 0;
    double seconds = 0;

    double rate() const { return progress / seconds; }
  };

  double at(double width) const;

  std::map<std::uint32_t, Seen> by_width_;
};

}  // namespace muster
