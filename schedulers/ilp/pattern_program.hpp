#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"
#include "schedulers/packing/programs/integer_program.hpp"

namespace muster::ilp {

/// How many instances are rented with each pattern: a row a kind of tasks, of which at least as
/// many seats are needed as there are tasks. `start` may be empty; its patterns have to be among
/// `patterns`.
IntegerProgram pattern_program(const bound::FluidProblem& problem,
                               std::span<const bound::Pattern> patterns,
                               std::span<const bound::Pattern> start);

/// The instances of a solution.
std::vector<bound::Pattern> instances_of(std::span<const bound::Pattern> patterns,
                                         const std::vector<std::uint32_t>& values);

}  // namespace muster::ilp
