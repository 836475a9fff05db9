#pragma once

#include <cstdint>
#include <string>

#include "schedulers/policy_services.hpp"

namespace muster {

/// Which of the limits ends a search.
enum class SolverStop : std::uint8_t {
  nodes,   ///< the same program gives the same answer
  seconds  ///< it answers in time, whatever the machine
};

/// Solves integer programs by CBC, the program of Debian's package coinor-cbc, as a child process.
/// It is killed when it outlives its time, and when this process ends in whatever way. What the two
/// write to each other has no name in any folder, so that nothing is left behind.
class CbcSolver final : public IntegerSolver {
 public:
  CbcSolver(std::string program, SolverStop stop) : program_(std::move(program)), stop_(stop) {}

  Expected<std::vector<std::uint32_t>, SolverError> solve(const IntegerProgram& program,
                                                          const SolveLimits& limits) const override;

 private:
  std::string program_;
  SolverStop stop_;
};

/// The path of the program of that name in PATH; empty when there is none.
std::string find_program(const std::string& name);

/// What policies are handed in by a process that composes masters: CBC where it is installed, else
/// how to get it.
PolicyServices policy_services(SolverStop stop);

}  // namespace muster
