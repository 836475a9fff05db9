#include "replay/workload/bursty_arrivals.hpp"

#include <cmath>

// Arrivals in bursts, as a Markov-modulated Poisson process of two states. With rates r and 1/r of
// the mean and a share 1/(1+r) of all time at the high one the mean rate is 1, whatever r is. The
// gaps between the arrivals of such a process have the squared coefficient of variation
//   1 + 2 s1 s2 (l1 - l2)^2 / ((s1 + s2)^2 (l1 l2 + l1 s2 + l2 s1))
// for rates l1, l2 that are left at rates s1, s2. Here that is 1 + 2 u (y - 2) / (u + y + 2), with
// y = r + 1/r and a cycle of u mean gaps, which is solved for y.

namespace muster::replay {

std::optional<TwoRates> two_rates(double squared_cv, double cycle) {
  const double more = squared_cv - 1;
  if (2 * cycle <= more) return std::nullopt;
  const double y = (more * (cycle + 2) + 4 * cycle) / (2 * cycle - more);
  // Of the two solutions, which are each other's inverse, the one that is at least 1.
  return TwoRates{(y + std::sqrt(std::max(0.0, y * y - 4))) / 2, cycle};
}

std::vector<double> draw_arrivals(const TwoRates& rates, std::size_t count, Rng& rng) {
  std::vector<double> times;
  times.reserve(count);
  bool high = rng.uniform() < rates.high_share();
  double now = 0;
  while (times.size() < count) {
    const double rate = high ? rates.ratio : 1 / rates.ratio;
    const double share = high ? rates.high_share() : 1 - rates.high_share();
    const double until = now + rng.exponential(rates.cycle * share);
    // An exponential gap that the switch cuts short has no memory: its rest is drawn anew.
    for (double next = now + rng.exponential(1 / rate);; next += rng.exponential(1 / rate)) {
      if (next > until || times.size() == count) break;
      times.push_back(next);
    }
    now = until;
    high = !high;
  }
  return times;
}

}  // namespace muster::replay
