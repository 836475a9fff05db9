#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "schedulers/packing/programs/integer_program.hpp"

// Solvers for tests, inside the process.

namespace muster::testing {

/// Says that of each column there are so many; nothing: that it has failed.
class SolverThatSays final : public IntegerSolver {
 public:
  explicit SolverThatSays(std::optional<std::uint32_t> value) : value_(value) {}
  Expected<std::vector<std::uint32_t>, SolverError> solve(const IntegerProgram& program,
                                                          const SolveLimits&) const override {
    if (!value_) return Failure<SolverError>{SolverError::failed, "it is to fail"};
    return std::vector<std::uint32_t>(program.columns.size(), *value_);
  }

 private:
  std::optional<std::uint32_t> value_;
};

/// Tries everything, for programs that ask for enough of a few rows at least cost: always of the
/// first row that lacks something.
class SolverByTrying final : public IntegerSolver {
 public:
  Expected<std::vector<std::uint32_t>, SolverError> solve(const IntegerProgram& program,
                                                          const SolveLimits&) const override {
    Search search{program, {}, {}, std::vector<std::uint32_t>(program.columns.size(), 0)};
    for (const IntegerProgram::Row& row : program.rows) search.lacks.push_back(row.least);
    search.visit(0);
    if (search.best.empty()) return Failure<SolverError>{SolverError::failed, "no solution"};
    return std::move(search.best);
  }

 private:
  struct Search {
    const IntegerProgram& program;
    std::vector<double> lacks;
    std::vector<std::uint32_t> best;
    std::vector<std::uint32_t> values;
    double best_cost = 1e300;

    void visit(double cost) {
      if (cost >= best_cost - 1e-12) return;
      std::uint32_t row = 0;
      while (row < lacks.size() && lacks[row] <= 1e-9) ++row;
      if (row == lacks.size()) {
        best = values;
        best_cost = cost;
        return;
      }
      for (std::size_t i = 0; i < program.columns.size(); ++i) {
        const IntegerProgram::Column& column = program.columns[i];
        bool helps = false;
        for (const auto& entry : column.entries) helps |= entry.row == row && entry.amount > 0;
        if (!helps || values[i] == column.most) continue;
        ++values[i];
        for (const auto& entry : column.entries) lacks[entry.row] -= entry.amount;
        visit(cost + column.cost);
        for (const auto& entry : column.entries) lacks[entry.row] += entry.amount;
        --values[i];
      }
    }
  };
};

}  // namespace muster::testing
