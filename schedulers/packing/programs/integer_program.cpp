#include "schedulers/packing/programs/integer_program.hpp"

#include <cmath>

namespace muster {
namespace {

/// Rows may be missed by as much, as sums of amounts are rounded.
constexpr double kRowEpsilon = 1e-9;

}  // namespace

double cost_of(const IntegerProgram& program, const std::vector<std::uint32_t>& values) {
  double cost = 0;
  for (std::size_t i = 0; i < values.size(); ++i) cost += values[i] * program.columns[i].cost;
  return cost;
}

bool solves(const IntegerProgram& program, const std::vector<std::uint32_t>& values) {
  if (values.size() != program.columns.size()) return false;
  std::vector<double> sums(program.rows.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const IntegerProgram::Column& column = program.columns[i];
    if (values[i] > column.most) return false;
    for (const IntegerProgram::Entry& entry : column.entries) {
      sums[entry.row] += values[i] * entry.amount;
    }
  }
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const IntegerProgram::Row& of = program.rows[row];
    if (sums[row] < of.least - kRowEpsilon || sums[row] > of.most + kRowEpsilon) return false;
  }
  return true;
}

}  // namespace muster
