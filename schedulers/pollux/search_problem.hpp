#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::pollux {

/// A job has workers on no more nodes (Pollux's simulator).
inline constexpr std::size_t kMostNodes = 16;

/// Workers of one job on each node.
using Row = std::vector<std::uint16_t>;
/// The rows of all jobs.
using Layout = std::vector<Row>;

/// A job in a search.
struct SearchJob {
  std::vector<double> one_node;  ///< speedup of 1, 2, ... workers on one node
  std::vector<double> several;   ///< of 2, 3, ... workers on several
  std::uint32_t least = 1;       ///< workers without which it does not run
  std::uint32_t most = 1;
  double kept_by_change = 1;  ///< share of its speedup that a restart leaves (Pollux 4.2.1)
  /// By node: units of the node that each worker takes; 0: it cannot be there.
  std::vector<std::uint32_t> units;
  Row current;         ///< present row; all 0: it does not run
  bool stays = false;  ///< nothing but `current`, or nothing at all, is to be had for it
};

/// Workers of a row, and on how many nodes they are.
struct RowSize {
  std::uint32_t workers = 0;
  std::uint32_t nodes = 0;
};
RowSize size_of(const Row& row);

/// One round's question: which workers of which job are on which node. Jobs that come first have
/// the first right where a layout has to be mended.
struct SearchProblem {
  std::vector<std::uint32_t> room;  ///< units of each node
  std::vector<SearchJob> jobs;
  double node_workers = 4;  ///< of a whole node, by which speedups are divided

  /// 1 / (s + 0.001) of a job with that row, which fitness adds up: s is its speedup over a node's
  /// workers, less what a restart costs when the row is not the present one.
  double cost(std::size_t job, const Row& row) const;
  /// Likewise, without the row: the number of workers, whether on several nodes, and whether that
  /// is a change. Infinite where the job cannot run so.
  double cost(std::size_t job, RowSize size, bool changed) const;
  /// The power mean of exponent -1 of all jobs' s (Pollux's objective): more is better.
  double fitness(const Layout& layout) const;
  /// Pollux's second objective: speedups over the workers that the nodes in use have room for.
  double utility(const Layout& layout) const;
  /// The speedup that a row stands for, without restarts; 0 where the job cannot run so.
  double speedup(std::size_t job, RowSize size) const;

  /// No node is over its room, at most one job of several nodes is on each, and all widths are
  /// within their jobs' bounds.
  bool is_feasible(const Layout& layout) const;
  Layout current() const;
};

/// Number of workers of the job that find room in `free` units of a node.
inline std::uint32_t workers_in_units(const SearchJob& job, std::size_t node, std::uint32_t free) {
  const std::uint32_t units = job.units[node];
  return units <= 1 ? units * free : free / units;  // mostly one, and divisions take long
}

}  // namespace muster::pollux
