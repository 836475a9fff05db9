#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace muster::bound {

/// An entry of a column.
struct LpEntry {
  std::uint32_t row = 0;
  double amount = 0;
};

/// Result of the solver. Both to the precision of floating point and of the solver's tolerances: a
/// caller that relies on them checks them by itself.
struct LpSolution {
  bool optimal = false;
  double cost = 0;
  std::vector<double> activity;  ///< of each column
  std::vector<double> duals;     ///< of each row, all from 0
};

/// The linear program of covering needs at least cost: minimise cost x activity, such that each
/// row comes to at least its need; activities are not negative. Columns may be added at any time.
class CoveringLp {
 public:
  explicit CoveringLp(std::span<const double> needs);
  ~CoveringLp();
  CoveringLp(CoveringLp&&) noexcept;
  CoveringLp& operator=(CoveringLp&&) noexcept;

  void add_column(double cost, std::span<const LpEntry> entries);
  /// Goes on from the last solution.
  LpSolution solve();

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace muster::bound
