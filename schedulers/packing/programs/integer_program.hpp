#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "model/expected.hpp"

// Questions of a policy to a solver of integer programs, and the check of an answer before it is
// used. The solver itself is handed in by whoever composes the process: it may run programs, look
// at clocks and fail, which a policy does not.

namespace muster {

/// Minimise the cost of whole amounts of columns, such that each row comes to between its least and
/// its most.
struct IntegerProgram {
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  struct Entry {
    std::uint32_t row = 0;
    double amount = 0;
  };
  /// A variable: 0, 1, ... `most`.
  struct Column {
    double cost = 0;
    std::uint32_t most = 1;
    std::vector<Entry> entries;
  };
  struct Row {
    double least = -kUnbounded;
    double most = kUnbounded;
  };

  std::vector<Row> rows;
  std::vector<Column> columns;
  std::vector<std::uint32_t> start;  ///< a solution that is known, a value a column; may be empty
};
/// Of the values, a value a column.
double cost_of(const IntegerProgram& program, const std::vector<std::uint32_t>& values);

/// The values are those of a solution, whatever it costs.
bool solves(const IntegerProgram& program, const std::vector<std::uint32_t>& values);

/// When a solver stops without having proved its best solution. Which of the first two counts is
/// the solver's: nodes where runs have to repeat, seconds where somebody waits.
struct SolveLimits {
  std::uint64_t nodes = 0;
  double seconds = 0;
  double gap_share = 0;  ///< it stops when no solution can be cheaper by more than this share
};

enum class SolverError : std::uint8_t {
  failed,   ///< it could not be started, was killed or gave up
  nonsense  ///< it ended, but what it wrote is no answer
};

/// Finds good whole solutions. Its result is a claim: the caller checks it with solves().
class IntegerSolver {
 public:
  virtual ~IntegerSolver() = default;
  /// A value a column. May be called from several threads.
  virtual Expected<std::vector<std::uint32_t>, SolverError> solve(
      const IntegerProgram& program, const SolveLimits& limits) const = 0;
};

}  // namespace muster
