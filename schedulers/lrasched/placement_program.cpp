#include "schedulers/lrasched/placement_program.hpp"

#include <algorithm>
#include <utility>

namespace muster::lrasched {
namespace {

/// The answer, if it is one.
Expected<std::vector<std::uint32_t>, SolverError> checked_answer(const IntegerProgram& program,
                                                                 const IntegerSolver& solver,
                                                                 const SolveLimits& limits) {
  auto answer = solver.solve(program, limits);
  if (!answer) return answer.error();
  if (!solves(program, answer.value())) {
    return Failure<SolverError>{SolverError::nonsense,
                                "the solver's answer does not hold: rooms or services are broken"};
  }
  return answer;
}

void put_many(Spots& spots, std::uint32_t node, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) put_at(spots, node);
}

}  // namespace

PlacementProgram::PlacementProgram(const NodeRooms& rooms, std::span<const Service> services,
                                   const Amounts& least, std::span<const Spots> standing)
    : dims_(rooms.dims()),
      services_(services.size()),
      least_(least),
      standing_(standing.begin(), standing.end()) {
  standing_.resize(services_);
  for (std::uint32_t node = 0; node < rooms.count(); ++node) {
    for (std::size_t k = 0; k < dims_; ++k) {
      // Room that is a rounding error below nothing is nothing.
      const double room = std::max(rooms.of_dim(k)[node], 0.0);
      program_.rows.push_back({-IntegerProgram::kUnbounded, room});
    }
  }
  add_services(services);
  add_cells(rooms, services);
  add_open_nodes(rooms, least);
}

/// (15): all replicas or nothing.
void PlacementProgram::add_services(std::span<const Service> services) {
  for (const Service& service : services) {
    const auto row = static_cast<std::uint32_t>(program_.rows.size());
    program_.rows.push_back({0, 0});
    program_.columns.push_back({-1, 1, {{row, -static_cast<double>(service.replicas)}}});
  }
}

/// (12) to (14).
void PlacementProgram::add_cells(const NodeRooms& rooms, std::span<const Service> services) {
  const std::size_t first_row = rooms.count() * dims_;
  for (std::uint32_t i = 0; i < services.size(); ++i) {
    const Service& service = services[i];
    for (std::uint32_t node = 0; node < rooms.count(); ++node) {
      if (!service.may_be_on(rooms.kind(node))) continue;
      const std::uint32_t stand = count_at(standing_[i], node);
      if (stand >= service.most_a_node) continue;
      const std::uint32_t most = how_many_fit(
          service.size, rooms.free(node), std::min(service.most_a_node - stand, service.replicas));
      if (most == 0) continue;
      IntegerProgram::Column column{0, most, {{static_cast<std::uint32_t>(first_row + i), 1}}};
      for (std::size_t k = 0; k < dims_; ++k) {
        if (service.size[k] <= 0) continue;
        column.entries.push_back({static_cast<std::uint32_t>(node * dims_ + k), service.size[k]});
      }
      cells_.push_back({i, node});
      program_.columns.push_back(std::move(column));
    }
  }
}

/// (16), (17): all nodes that keep room together are worth less than a service.
void PlacementProgram::add_open_nodes(const NodeRooms& rooms, const Amounts& least) {
  for (std::uint32_t node = 0; node < rooms.count(); ++node) {
    if (!fits(least, rooms.free(node))) continue;
    IntegerProgram::Column column{-1.0 / (rooms.count() + 1), 1, {}};
    for (std::size_t k = 0; k < dims_; ++k) {
      column.entries.push_back({static_cast<std::uint32_t>(node * dims_ + k), least[k]});
    }
    may_open_.push_back(node);
    program_.columns.push_back(std::move(column));
  }
}

std::vector<std::uint32_t> PlacementProgram::values_of(const PeriodPlacement& placement) const {
  std::vector<std::uint32_t> values(program_.columns.size(), 0);
  for (std::size_t i = 0; i < services_; ++i) values[i] = placement.whole[i] != 0 ? 1 : 0;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    const Cell& cell = cells_[c];
    if (placement.whole[cell.service] == 0) continue;
    values[services_ + c] = count_at(placement.spots[cell.service], cell.node) -
                            count_at(standing_[cell.service], cell.node);
  }
  std::vector<double> used(program_.rows.size(), 0);
  for (std::size_t column = 0; column < services_ + cells_.size(); ++column) {
    for (const auto& entry : program_.columns[column].entries) {
      used[entry.row] += values[column] * entry.amount;
    }
  }
  for (std::size_t i = 0; i < may_open_.size(); ++i) {
    bool is_open = true;
    for (std::size_t k = 0; k < dims_; ++k) {
      const std::size_t row = may_open_[i] * dims_ + k;
      is_open &= used[row] + least_[k] <= program_.rows[row].most;
    }
    values[services_ + cells_.size() + i] = is_open ? 1 : 0;
  }
  return values;
}

Expected<PeriodPlacement, SolverError> PlacementProgram::solve(const IntegerSolver& solver,
                                                               const SolveLimits& limits,
                                                               const PeriodPlacement& start) {
  program_.start = values_of(start);
  // A start that is wrong by a rounding error is no start.
  if (!solves(program_, program_.start)) program_.start.clear();
  const auto answer = checked_answer(program_, solver, limits);
  if (!answer) return answer.error();
  const std::vector<std::uint32_t>& values = answer.value();
  PeriodPlacement placement{standing_, std::vector<char>(services_, 0)};
  for (std::size_t i = 0; i < services_; ++i) placement.whole[i] = values[i] != 0 ? 1 : 0;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    put_many(placement.spots[cells_[c].service], cells_[c].node, values[services_ + c]);
  }
  return placement;
}

NewNodesProgram::NewNodesProgram(std::span<const Amounts> new_nodes,
                                 std::span<const Service> services,
                                 std::span<const std::uint32_t> kinds)
    : nodes_(new_nodes.size()), services_(services.size()) {
  const auto new_row = [this](double least, double most) {
    program_.rows.push_back({least, most});
    return static_cast<std::uint32_t>(program_.rows.size() - 1);
  };
  for (const Amounts& node : new_nodes) {
    IntegerProgram::Column column{1, 1, {}};
    for (const double amount : node) {
      column.entries.push_back({new_row(-IntegerProgram::kUnbounded, 0), -amount});
    }
    program_.columns.push_back(std::move(column));
  }
  for (std::uint32_t i = 0; i < services.size(); ++i) {
    const Service& service = services[i];
    const std::uint32_t all = new_row(service.replicas, service.replicas);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      if (!kinds.empty() && !service.may_be_on(kinds[node])) continue;
      const std::uint32_t most = how_many_fit(service.size, new_nodes[node],
                                              std::min(service.most_a_node, service.replicas));
      if (most == 0) continue;
      const std::uint32_t link = new_row(-IntegerProgram::kUnbounded, 0);
      program_.columns[node].entries.push_back({link, -static_cast<double>(most)});
      IntegerProgram::Column column{0, most, {{all, 1}, {link, 1}}};
      for (std::size_t k = 0; k < kMostDims; ++k) {
        if (service.size[k] <= 0) continue;
        column.entries.push_back(
            {static_cast<std::uint32_t>(node * kMostDims + k), service.size[k]});
      }
      cells_.push_back({i, node});
      program_.columns.push_back(std::move(column));
    }
  }
}

Expected<std::vector<Spots>, SolverError> NewNodesProgram::solve(const IntegerSolver& solver,
                                                                 const SolveLimits& limits,
                                                                 std::span<const Spots> start) {
  program_.start.clear();
  if (!start.empty()) {
    program_.start.assign(program_.columns.size(), 0);
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const std::uint32_t count = count_at(start[cells_[c].service], cells_[c].node);
      program_.start[nodes_ + c] = count;
      if (count > 0) program_.start[cells_[c].node] = 1;
    }
    if (!solves(program_, program_.start)) program_.start.clear();
  }
  const auto answer = checked_answer(program_, solver, limits);
  if (!answer) return answer.error();
  std::vector<Spots> spots(services_);
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    put_many(spots[cells_[c].service], cells_[c].node, answer.value()[nodes_ + c]);
  }
  return spots;
}

}  // namespace muster::lrasched
