#include "schedulers/packing/rounds/assignment.hpp"

#include "model/check.hpp"

namespace muster {
namespace {

/// The Hungarian method with potentials: rows enter one after the other, and each entry re-assigns
/// rows along one cheapest path, O(rows x columns) an entry.
/// Between entries cost - row potential - column potential is 0 for assigned pairs and never
/// negative, which is what keeps the sum the least one for the rows let in so far.
/// Needs rows <= columns, or an entry could find no free column. Row and column 0 stand for "none":
/// indices in here are one higher than the caller's.
class HungarianMethod {
 public:
  HungarianMethod(std::size_t rows, std::size_t columns)
      : row_potential_(rows + 1),
        potential_(columns + 1),
        row_of_(columns + 1),
        way_(columns + 1) {}

  template <class Cost>
  void let_in(std::size_t row, const Cost& cost) {
    std::vector<double> least(potential_.size(), std::numeric_limits<double>::infinity());
    std::vector<char> seen(potential_.size(), 0);
    row_of_[0] = row;
    std::size_t at = 0;
    // Dijkstra over the columns by reduced costs. Ends at a column without a row, of which there is
    // one as long as fewer rows than columns are in.
    do {
      seen[at] = 1;
      const std::size_t next = relax(row_of_[at], at, cost, {least, seen});
      at = next;
    } while (row_of_[at] != 0);
    // Walks the path back: every column on it takes the row of its predecessor, the first one the
    // row that enters by way of column 0.
    for (; at != 0; at = way_[at]) row_of_[at] = row_of_[way_[at]];
  }

  std::size_t row_of(std::size_t column) const { return row_of_[column]; }

 private:
  struct Search {
    std::vector<double>& least;
    std::vector<char>& seen;
  };

  /// Extends the search by one column, the nearest one not seen yet.
  template <class Cost>
  std::size_t relax(std::size_t row, std::size_t from, const Cost& cost, Search search) {
    double delta = std::numeric_limits<double>::infinity();
    std::size_t nearest = 0;
    for (std::size_t column = 1; column < potential_.size(); ++column) {
      if (search.seen[column]) continue;
      const double reduced = cost(row - 1, column - 1) - row_potential_[row] - potential_[column];
      if (reduced < search.least[column]) search.least[column] = reduced, way_[column] = from;
      if (search.least[column] < delta) delta = search.least[column], nearest = column;
    }
    for (std::size_t column = 0; column < potential_.size(); ++column) {
      if (search.seen[column]) {
        row_potential_[row_of_[column]] += delta;
        potential_[column] -= delta;
      } else {
        search.least[column] -= delta;
      }
    }
    return nearest;
  }

  std::vector<double> row_potential_, potential_;
  std::vector<std::size_t> row_of_, way_;
};

}  // namespace

std::vector<std::uint32_t> best_assignment(std::span<const double> weights, std::size_t rows,
                                           std::size_t columns) {
  MUSTER_CHECK(weights.size() == rows * columns, "one weight a pair of row and column");
  std::vector<std::uint32_t> column_of(rows, kUnassigned);
  // The longer side becomes the columns, and weights become negative costs: the method minimises.
  const bool turned = rows > columns;
  HungarianMethod method(turned ? columns : rows, turned ? rows : columns);
  for (std::size_t i = 1; i <= (turned ? columns : rows); ++i) {
    if (turned) {
      method.let_in(i, [&](auto column, auto row) { return -weights[row * columns + column]; });
    } else {
      method.let_in(i, [&](auto row, auto column) { return -weights[row * columns + column]; });
    }
  }
  for (std::size_t i = 1; i <= (turned ? rows : columns); ++i) {
    const std::size_t other = method.row_of(i);
    if (other == 0) continue;
    const std::size_t row = turned ? i - 1 : other - 1;
    column_of[row] = static_cast<std::uint32_t>(turned ? other - 1 : i - 1);
  }
  return column_of;
}

}  // namespace muster
