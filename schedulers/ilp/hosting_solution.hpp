#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedulers/ilp/ilp_params.hpp"
#include "schedulers/packing/bound/column_generation.hpp"
#include "schedulers/packing/programs/hosting_problem.hpp"
#include "schedulers/packing/programs/integer_program.hpp"

namespace muster::ilp {

/// How instances for a set of tasks are looked for.
struct HostingSearch {
  Form form = Form::patterns;
  SolveLimits limits;
  std::uint64_t pattern_nodes = 0;  ///< sets of tasks that searches for patterns look at, at most
};

/// Instances for a set of tasks, and how much cheaper others could be at most.
struct HostingSolution {
  std::vector<bound::Pattern> instances;  ///< the dearest first; empty where there is a `trouble`
  double cost_usd_h = 0;
  double bound_usd_h = 0;  ///< no choice of instances costs less
  std::string trouble;     ///< why there are no instances: a few words; else empty
  bool failed = false;     ///< the trouble is the solver's: it gave no answer, or none that holds
};

/// The cheapest instances that are found for the tasks of the problem, by an integer program and
/// the solver, whose answer is looked at before it is used. `start`: instances that host all tasks,
/// from which the search goes on; may be empty. `solver`: null, and there is the bound alone. The
/// solver may be called twice; the calls share the seconds of the search.
HostingSolution solve_hosting(const HostingProblem& hosting, const ReservationPrices& prices,
                              std::span<const bound::Pattern> start, const HostingSearch& search,
                              const IntegerSolver* solver);

}  // namespace muster::ilp
