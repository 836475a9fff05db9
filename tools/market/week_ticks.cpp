#include "tools/market/week_ticks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <utility>

#include "model/check.hpp"

namespace muster::market {
namespace {

constexpr Seconds kLevelStep = 3600;

/// Normally distributed (Box and Muller), of mean 0 and variance 1.
double normal(Rng& rng) {
  const double radius = std::sqrt(2 * rng.exponential(1));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

void shuffle(std::vector<std::int64_t>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

/// The making of one week: times first, then where the tail stands, then the body between.
class Week {
 public:
  Week(const WeekValues& values, const TickShape& shape, Rng& rng)
      : shape_(shape),
        rng_(rng),
        prices_(values.body.size() + values.excursions.size() + values.spikes.size(), 0),
        times_(prices_.size()) {}

  void draw_times();
  void place_tail(std::vector<std::int64_t> tail, std::uint64_t week, ZoneWeather& weather);
  void stretch_spikes(std::int64_t on_demand);
  void place_body(const std::vector<std::int64_t>& body, Seconds since, ZoneWeather& weather);
  std::vector<Tick> ticks(Seconds start) const;

 private:
  std::vector<std::size_t> free_ticks() const;
  std::size_t free_stretch(std::size_t wanted, std::size_t length);
  void part_equals(const std::vector<std::size_t>& body);
  void to_whole_seconds();

  const TickShape& shape_;
  Rng& rng_;
  std::vector<std::int64_t> prices_;  ///< 0: not yet known
  std::vector<double> times_;         ///< in seconds from the beginning of the week
  std::size_t too_long_ = SIZE_MAX;   ///< no free stretch has this number of ticks or more
};

void Week::draw_times() {
  double at = 0;
  for (double& time : times_) {
    at += shape_.gaps[rng_.below(shape_.gaps.size())];
    time = at;
  }
  // A last gap, so that the week does not end with a tick.
  at += shape_.gaps[rng_.below(shape_.gaps.size())];
  for (double& time : times_) time *= static_cast<double>(kWeek) / at;
  to_whole_seconds();
}

/// Rising by a second at least, and within the week.
void Week::to_whole_seconds() {
  const std::size_t count = times_.size();
  double least = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double most = static_cast<double>(kWeek) - static_cast<double>(count - i);
    times_[i] = std::min(std::max(std::floor(times_[i]), least), most);
    least = times_[i] + 1;
  }
}

/// The nearest place to `wanted` where that number of ticks stands free, and free to both sides:
/// runs that touched would be longer ones.
std::size_t Week::free_stretch(std::size_t wanted, std::size_t length) {
  // Ticks are only taken: a length without room finds no room later, and a week that is all tail is
  // not searched anew for each of its spikes.
  if (length >= too_long_) return prices_.size();
  const auto stands_free = [&](std::size_t first) {
    const std::size_t from = first == 0 ? 0 : first - 1;
    for (std::size_t i = from; i < std::min(prices_.size(), first + length + 1); ++i) {
      if (prices_[i] != 0) return false;
    }
    return first + length <= prices_.size();
  };
  for (std::size_t away = 0; away < prices_.size(); ++away) {
    if (wanted + away < prices_.size() && stands_free(wanted + away)) return wanted + away;
    if (wanted >= away && stands_free(wanted - away)) return wanted - away;
  }
  too_long_ = length;
  return prices_.size();
}

void Week::place_tail(std::vector<std::int64_t> tail, std::uint64_t week, ZoneWeather& weather) {
  shuffle(tail, rng_);
  // Two sizes have the storm of a number in common with the probability of their correlation.
  const double joins = std::sqrt(shape_.size_correlation);
  std::size_t next = 0;
  std::size_t single = 0;  // all before it are taken
  for (std::size_t number = 0; next < tail.size(); ++number) {
    const std::size_t drawn = shape_.spikes[rng_.below(shape_.spikes.size())];
    const std::size_t length = std::min(drawn, tail.size() - next);
    const double share = rng_.uniform() < joins ? weather.storm(week, number) : rng_.uniform();
    const auto near =
        std::lower_bound(times_.begin(), times_.end(), share * static_cast<double>(kWeek));
    const auto wanted =
        std::min(static_cast<std::size_t>(near - times_.begin()), prices_.size() - 1);
    const std::size_t first = free_stretch(wanted, length);
    const bool apart = first == prices_.size();
    for (std::size_t i = 0; i < length; ++i, ++next) {
      // Where the tail leaves no free stretch, single ticks have to do.
      while (apart && prices_[single] != 0) ++single;
      prices_[apart ? single : first + i] = tail[next];
    }
  }
}

/// Ticks of spikes last longer or shorter than others.
void Week::stretch_spikes(std::int64_t on_demand) {
  double at = 0;
  double before = 0;
  std::vector<double> stretched(times_.size());
  for (std::size_t i = 0; i <= times_.size(); ++i) {
    const double end = i < times_.size() ? times_[i] : static_cast<double>(kWeek);
    const bool spike = i > 0 && prices_[i - 1] >= on_demand;
    at += (end - before) * (spike ? shape_.spike_gap : 1);
    before = end;
    if (i < times_.size()) stretched[i] = at;
  }
  for (std::size_t i = 0; i < times_.size(); ++i) {
    times_[i] = stretched[i] * static_cast<double>(kWeek) / at;
  }
  to_whole_seconds();
}

std::vector<std::size_t> Week::free_ticks() const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    if (prices_[i] == 0) free.push_back(i);
  }
  return free;
}

/// The order of the body's prices is that of a level: partly the zone's, partly the series' own,
/// which is partly forgotten with each tick.
void Week::place_body(const std::vector<std::int64_t>& body, Seconds since, ZoneWeather& weather) {
  const std::vector<std::size_t> free = free_ticks();
  MUSTER_CHECK(free.size() == body.size(), "every value has a tick");
  const double kept = std::exp(-1 / shape_.memory_ticks);
  const double fresh = std::sqrt(1 - kept * kept);
  const double common = std::sqrt(shape_.size_correlation);
  const double own = std::sqrt(1 - shape_.size_correlation);
  std::vector<double> levels;
  double slow = normal(rng_);
  for (const std::size_t tick : free) {
    slow = kept * slow + fresh * normal(rng_);
    const double lasting =
        common * weather.level(since + static_cast<Seconds>(times_[tick])) + own * slow;
    levels.push_back(std::sqrt(shape_.carried) * lasting +
                     std::sqrt(1 - shape_.carried) * normal(rng_));
  }
  std::vector<std::size_t> order(free.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) prices_[free[order[i]]] = body[i];
  part_equals(free);
}

/// A tick is a change of the price: one of the body that repeats the price before it changes places
/// with the next of the body that does not, when there is one near.
void Week::part_equals(const std::vector<std::size_t>& body) {
  constexpr std::size_t kReach = 64;
  for (std::size_t i = 1; i < body.size(); ++i) {
    const std::int64_t price = prices_[body[i]];
    if (price != prices_[body[i] - 1]) continue;
    for (std::size_t j = i + 1; j < std::min(body.size(), i + kReach); ++j) {
      if (prices_[body[j]] == price) continue;
      std::swap(prices_[body[i]], prices_[body[j]]);
      break;
    }
  }
}

std::vector<Tick> Week::ticks(Seconds start) const {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    ticks.push_back({start + static_cast<Seconds>(times_[i]), prices_[i] * kQuantum});
  }
  return ticks;
}

}  // namespace

ZoneWeather::ZoneWeather(std::uint64_t seed, const std::string& zone, const TickShape& shape)
    : seed_(seed),
      zone_(zone),
      rng_(Rng::of_round(seed, "level of zone " + zone, 0)),
      kept_(std::exp(-static_cast<double>(kLevelStep) / shape.memory_s)) {
  levels_.push_back(normal(rng_));
}

double ZoneWeather::level(Seconds since) {
  const auto hour = static_cast<std::size_t>(since / kLevelStep);
  while (levels_.size() <= hour) {
    levels_.push_back(kept_ * levels_.back() + std::sqrt(1 - kept_ * kept_) * normal(rng_));
  }
  return levels_[hour];
}

double ZoneWeather::storm(std::uint64_t week, std::size_t number) {
  while (storms_.size() <= week) storms_.emplace_back();
  std::vector<double>& storms = storms_[week];
  // Each from its own place in chance, as series ask for more or fewer of them.
  while (storms.size() <= number) {
    storms.push_back(Rng::of_round(Rng::of_round(seed_, "storms of zone " + zone_, week).next(),
                                   "storm", storms.size())
                         .uniform());
  }
  return storms[number];
}

std::vector<Tick> place_week(const WeekValues& values, const TickShape& shape,
                             const WeekPlace& place, ZoneWeather& weather, Rng& rng) {
  Week week(values, shape, rng);
  week.draw_times();
  week.place_tail(values.spikes, place.number, weather);
  if (!values.spikes.empty()) {
    week.stretch_spikes(*std::min_element(values.spikes.begin(), values.spikes.end()));
  }
  week.place_tail(values.excursions, place.number, weather);
  week.place_body(values.body, place.since, weather);
  return week.ticks(place.start);
}

}  // namespace muster::market
