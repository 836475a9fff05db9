#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "schedulers/policy_services.hpp"

namespace muster {

/// Which of the limits ends a search.
enum class SolverStop : std::uint8_t {
  nodes,   ///< the same program gives the same answer
  seconds  ///< it answers in time, whatever the machine
};

/// Solves integer programs by CBC, the program of Debian's package coinor-cbc, as a child process.
/// It is killed when it outlives its time, and when this process ends in whatever way. Programs and
/// answers are passed in files that have no name in any folder, so that nothing is left behind.
class CbcSolver final : public IntegerSolver {
 public:
  /// Nodes say nothing of how long the root of a search takes, nor of a program that hangs: where
  /// nodes count, one call takes no longer. After a call that did, every further one fails at once.
  static constexpr double kBackstop_s = 600;

  CbcSolver(std::string program, SolverStop stop, double backstop_s = kBackstop_s)
      : program_(std::move(program)), stop_(stop), backstop_s_(backstop_s) {}

  Expected<std::vector<std::uint32_t>, SolverError> solve(const IntegerProgram& program,
                                                          const SolveLimits& limits) const override;

 private:
  std::string program_;
  SolverStop stop_;
  double backstop_s_;
  mutable std::atomic<bool> given_up_{false};
};

/// The path of the program of that name in PATH; empty when it is not there.
std::string find_program(const std::string& name);

/// The text of a file that a parameter of a policy names, of at most that many bytes.
Expected<std::string, PolicyError> read_policy_file(const std::filesystem::path& file);
inline constexpr std::size_t kLargestPolicyFile_bytes = std::size_t{16} << 20U;

/// The services of policies in a process that composes masters: files, and CBC where it is
/// installed, else how to get it.
PolicyServices policy_services(SolverStop stop);

}  // namespace muster
