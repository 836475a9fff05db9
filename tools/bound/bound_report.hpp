#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "schedulers/packing/bound/column_generation.hpp"
#include "tools/bound/fluid_workload.hpp"

namespace muster::bound {

/// Number of the dearest patterns that are shown to people.
inline constexpr std::size_t kShownPatterns = 10;

/// The bound for the workload of one trial.
struct TrialBound {
  std::uint64_t seed = 0;
  FluidWorkload workload;
  FluidBound bound;
};

/// How the bound was proved, in a word.
std::string proof_of(const FluidBound& bound);

/// The bound in dollars as it is shown, to the cent below.
std::string bound_text(double usd);

/// A line a trial, the dearest patterns of the first one, and what the bound does not count.
std::string bound_table(std::span<const TrialBound> trials);

/// All of it; every pattern and the prices of work that prove the bound.
std::string bound_json(std::span<const TrialBound> trials);

}  // namespace muster::bound
