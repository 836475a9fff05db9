#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedulers/lrasched/period_placement.hpp"
#include "schedulers/packing/programs/integer_program.hpp"

// The integer programs of LRASched, (11) to (19), over how many replicas of a service are on a
// node: all replicas of a service are alike, so that this replaces a variable for each of them.

namespace muster::lrasched {

/// Phase 1, (11) to (17): as many services as possible whole, and of equal choices that with most
/// nodes that keep room for `least` in each dimension. (16) bounds the same sum as (14), and says
/// more where a node is to count: they are one row.
class PlacementProgram {
 public:
  /// `standing`: where replicas of each service stand; empty: nowhere.
  PlacementProgram(const NodeRooms& rooms, std::span<const Service> services, const Amounts& least,
                   std::span<const Spots> standing = {});

  /// Asks the solver, beginning with `start`, which is what place_period or moves found on the
  /// rooms; its answer is looked at before it is used. Takes no room.
  Expected<PeriodPlacement, SolverError> solve(const IntegerSolver& solver,
                                               const SolveLimits& limits,
                                               const PeriodPlacement& start);

  const IntegerProgram& program() const { return program_; }

 private:
  /// Of the columns that count replicas.
  struct Cell {
    std::uint32_t service = 0;
    std::uint32_t node = 0;
  };
  void add_services(std::span<const Service> services);
  void add_cells(const NodeRooms& rooms, std::span<const Service> services);
  void add_open_nodes(const NodeRooms& rooms, const Amounts& least);
  std::vector<std::uint32_t> values_of(const PeriodPlacement& placement) const;

  IntegerProgram program_;
  std::size_t dims_;
  std::size_t services_;
  Amounts least_;
  std::vector<Cell> cells_;              ///< their columns follow those of the services
  std::vector<std::uint32_t> may_open_;  ///< nodes that may keep room; columns follow the cells'
  std::vector<Spots> standing_;
};

/// Phase 2, (18) and (19): the fewest of `new_nodes` that hold all services whole. (18) as printed
/// binds no node to what is on it: here a node holds replicas only if it counts.
class NewNodesProgram {
 public:
  /// `kinds`: of each node; empty: services may be on all.
  NewNodesProgram(std::span<const Amounts> new_nodes, std::span<const Service> services,
                  std::span<const std::uint32_t> kinds = {});

  /// Where each service is among the new nodes, and so which of them are needed. `start`: spots
  /// that are known; may be empty.
  Expected<std::vector<Spots>, SolverError> solve(const IntegerSolver& solver,
                                                  const SolveLimits& limits,
                                                  std::span<const Spots> start);

 private:
  struct Cell {
    std::uint32_t service = 0;
    std::uint32_t node = 0;
  };
  IntegerProgram program_;
  std::size_t nodes_;
  std::size_t services_;
  std::vector<Cell> cells_;  ///< their columns follow those of the nodes
};

}  // namespace muster::lrasched
