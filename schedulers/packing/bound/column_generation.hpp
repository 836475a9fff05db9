#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"
#include "schedulers/packing/bound/pattern_search.hpp"

namespace muster::bound {

/// The bound is exact when it is this close to a cost that is reached, as a share of it.
inline constexpr double kExact = 1e-6;
/// Rounds of new patterns, at most.
inline constexpr std::uint32_t kRounds = 2000;
/// Sets of tasks that all searches together look at, unless told otherwise.
inline constexpr std::uint64_t kNodes = 100'000'000;

/// Hours that a pattern is rented for.
struct PatternHours {
  Pattern pattern;
  double hours = 0;
  double usd = 0;
};

/// Progress of the work so far.
struct FluidProgress {
  std::uint32_t round = 0;
  double bound_usd = 0;
  double reached_usd = 0;
};

/// When the work stops without having come to its end, and who is told of it meanwhile.
struct FluidLimits {
  std::uint64_t nodes = kNodes;  ///< of all searches together
  std::uint32_t rounds = kRounds;
  std::function<void(const FluidProgress&)> progress;  ///< may be empty
  double exact = kExact;  ///< the bound is close enough when it is this close, as a share
  std::span<const Pattern> start{};  ///< patterns that fit, known before the first search
};

/// The least cost of a fluid problem, between two values.
struct FluidBound {
  double bound_usd = 0;    ///< no schedule costs less
  double reached_usd = 0;  ///< cost of the patterns found: the least cost is no more than this
  bool exact = false;      ///< the two are equal, but for rounding (kExact)
  bool divided = false;    ///< the bound is that of divided_bound(), no search gave a higher one
  double stretch = 1;      ///< how much longer tasks take in these patterns than at speed 1
  std::vector<PatternHours> patterns;  ///< of the cost that is reached, the dearest first
  std::vector<Pattern> columns;        ///< all that were looked at, in that order
  std::vector<double> usd_per_work_h;  ///< of each kind: prices that prove the bound
  std::uint32_t rounds = 0;
  std::uint64_t nodes = 0;  ///< of all searches
};

/// Solves the problem by column generation: a master program over the patterns known so far gives
/// prices of work, and the search for each type gives the patterns that are worth more than they
/// cost at these. The bound comes from prices that no pattern beats, scaled down as far as the
/// searches could not prove it (Farley 1990), or from divided_bound(): it holds whenever the work
/// stops. Each kind has to fit a type, and to take something of every type that it fits.
FluidBound solve_fluid(const FluidProblem& problem, const FluidLimits& limits = {});

}  // namespace muster::bound
