#include "schedulers/packing/bound/covering_lp.hpp"

#include <algorithm>
#include <coin/ClpSimplex.hpp>
#include <limits>

// The one file that knows the solver: its headers are large, and its names are not ours.

namespace muster::bound {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

/// Columns wait until the next solution: the solver copies its whole matrix whenever some are
/// added, so that one at a time costs the square of their number.
struct CoveringLp::Model {
  ClpSimplex simplex;
  std::vector<double> costs;
  std::vector<int> starts{0};  ///< into rows and amounts, one more than columns
  std::vector<int> rows;
  std::vector<double> amounts;

  void add_waiting() {
    if (costs.empty()) return;
    const std::vector<double> lower(costs.size(), 0), upper(costs.size(), kInfinity);
    simplex.addColumns(static_cast<int>(costs.size()), lower.data(), upper.data(), costs.data(),
                       starts.data(), rows.data(), amounts.data());
    costs.clear();
    starts.assign(1, 0);
    rows.clear();
    amounts.clear();
  }
};

CoveringLp::CoveringLp(std::span<const double> needs) : model_(std::make_unique<Model>()) {
  ClpSimplex& simplex = model_->simplex;
  simplex.setLogLevel(0);
  simplex.resize(static_cast<int>(needs.size()), 0);
  for (std::size_t row = 0; row < needs.size(); ++row) {
    simplex.setRowBounds(static_cast<int>(row), needs[row], kInfinity);
  }
}

CoveringLp::~CoveringLp() = default;
CoveringLp::CoveringLp(CoveringLp&&) noexcept = default;
CoveringLp& CoveringLp::operator=(CoveringLp&&) noexcept = default;

void CoveringLp::add_column(double cost, std::span<const LpEntry> entries) {
  for (const LpEntry& entry : entries) {
    model_->rows.push_back(static_cast<int>(entry.row));
    model_->amounts.push_back(entry.amount);
  }
  model_->starts.push_back(static_cast<int>(model_->rows.size()));
  model_->costs.push_back(cost);
}

LpSolution CoveringLp::solve() {
  model_->add_waiting();
  ClpSimplex& simplex = model_->simplex;
  // Primal: a solution that was feasible before the last columns came still is.
  simplex.primal(1);
  LpSolution solution;
  solution.optimal = simplex.isProvenOptimal();
  solution.cost = simplex.objectiveValue();
  const auto copy = [](const double* from, int count) {
    std::vector<double> values(from, from + count);
    // Tolerances of the solver leave some a little below.
    for (double& value : values) value = std::max(value, 0.0);
    return values;
  };
  solution.activity = copy(simplex.primalColumnSolution(), simplex.numberColumns());
  solution.duals = copy(simplex.dualRowSolution(), simplex.numberRows());
  return solution;
}

}  // namespace muster::bound
