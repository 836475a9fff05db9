#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// The only source of random numbers: seeded, and equal on every platform (the distributions of the
/// standard library are not).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  /// The random numbers of one round of a master: equal seeds, names and rounds give equal numbers,
  /// whatever was drawn before.
  static Rng of_round(std::uint64_t seed, std::string_view master, std::uint64_t round) {
    std::uint64_t name = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const char c : master) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return Rng(mix(mix(mix(seed) ^ name) ^ round));
  }

  std::uint64_t next() { return engine_(); }

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform among 0 .. count-1; `count` > 0.
  std::uint64_t below(std::uint64_t count) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(count));
  }

  /// Exponentially distributed with the given mean.
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

 private:
  /// The finaliser of SplitMix64: near numbers give distant ones.
  static std::uint64_t mix(std::uint64_t value) {
    std::uint64_t z = value + 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::mt19937_64 engine_;
};

/// One of 0 .. count-1, in an order that all seeds share: as many seeds that follow each other draw
/// each of them once. `count` > 0.
inline std::uint64_t drawn_place(std::uint64_t count, std::uint64_t seed) {
  constexpr std::uint64_t kOrder = 1;
  std::vector<std::uint64_t> places(count);
  std::iota(places.begin(), places.end(), std::uint64_t{0});
  Rng rng(kOrder);
  for (std::uint64_t left = count; left > 1; --left) {
    std::swap(places[left - 1], places[rng.below(left)]);
  }
  return places[seed % count];
}

}  // namespace muster
