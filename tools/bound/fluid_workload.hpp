#pragma once

#include <cstdint>
#include <string>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "replay/workload/workload.hpp"
#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

/// Why there is no bound.
enum class NoBound : std::uint8_t {
  bad_input,    ///< a file that the config names is not as it should be
  not_defined,  ///< no bound of this kind holds for the config
};

/// The fluid problem of a replay, and what had to be left out of it. Parts that are left out lower
/// the bound and never raise it.
struct FluidWorkload {
  FluidProblem problem;
  std::uint64_t tasks = 0;
  std::uint64_t never_fit = 0;  ///< tasks that no type holds; no policy can run them
  std::uint64_t free = 0;       ///< tasks that take nothing of some type which they fit
  bool interference =
      true;  ///< false: interference is left out, as the model has no rates of pairs
  bool prices_vary = false;  ///< each type counts at the least that it ever costs
  double work_h = 0;         ///< of the tasks that are in it, at speed 1
  double alone_usd = 0;      ///< of their work, each alone in the cheapest way
};

/// The work of all jobs by kind, and what may be rented. A task of a gang counts as one by itself
/// that has the gang's work to do: together they are no faster. No bound where the fleet is fixed,
/// as it is paid for whatever is done with it, nor where a type costs nothing.
Expected<FluidWorkload, NoBound> fluid_workload(const ReplayConfig& config, const Catalog& catalog,
                                                const replay::JobSource& jobs);

}  // namespace muster::bound
