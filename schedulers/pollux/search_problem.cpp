#include "schedulers/pollux/search_problem.hpp"

#include <limits>
#include <utility>

namespace muster::pollux {
namespace {

/// Keeps a job without workers from making the objective infinite (Pollux's simulator).
constexpr double kLeastShare = 1e-3;

}  // namespace

RowSize size_of(const Row& row) {
  RowSize size;
  for (const std::uint16_t workers : row) {
    size.workers += workers;
    size.nodes += workers > 0;
  }
  return size;
}

double SearchProblem::speedup(std::size_t job, RowSize size) const {
  const SearchJob& of = jobs[job];
  if (size.workers == 0) return 0;
  if (size.nodes > 1) {
    return size.workers - 2 < of.several.size() ? of.several[size.workers - 2] : 0;
  }
  return size.workers <= of.one_node.size() ? of.one_node[size.workers - 1] : 0;
}

double SearchProblem::cost(std::size_t job, RowSize size, bool changed) const {
  const SearchJob& of = jobs[job];
  if (size.workers > 0 && (size.workers < of.least || size.workers > of.most)) {
    return std::numeric_limits<double>::infinity();
  }
  const double share = speedup(job, size) / node_workers;
  return 1 / (share * (changed ? of.kept_by_change : 1) + kLeastShare);
}

double SearchProblem::cost(std::size_t job, const Row& row) const {
  return cost(job, size_of(row), row != jobs[job].current);
}

double SearchProblem::fitness(const Layout& layout) const {
  if (jobs.empty()) return 0;
  double sum = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) sum += cost(j, layout[j]);
  return static_cast<double>(jobs.size()) / sum;
}

double SearchProblem::utility(const Layout& layout) const {
  double sum = 0;
  std::vector<char> used(room.size(), 0);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    sum += speedup(j, size_of(layout[j]));
    for (std::size_t n = 0; n < room.size(); ++n) used[n] |= layout[j][n] > 0;
  }
  double nodes = 0;
  for (const char each : used) nodes += each;
  return nodes > 0 ? sum / (node_workers * nodes) : 0;
}

bool SearchProblem::is_feasible(const Layout& layout) const {
  std::vector<std::uint64_t> taken(room.size(), 0);
  std::vector<char> shared(room.size(), 0);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const SearchJob& job = jobs[j];
    const RowSize size = size_of(layout[j]);
    if (size.workers == 0) continue;
    if (job.stays && layout[j] != job.current) return false;
    if (size.workers < job.least || size.workers > job.most) return false;
    for (std::size_t n = 0; n < room.size(); ++n) {
      if (layout[j][n] == 0) continue;
      if (job.units[n] == 0) return false;
      taken[n] += std::uint64_t{job.units[n]} * layout[j][n];
      if (size.nodes > 1 && std::exchange(shared[n], 1) != 0) return false;
    }
  }
  for (std::size_t n = 0; n < room.size(); ++n) {
    if (taken[n] > room[n]) return false;
  }
  return true;
}

Layout SearchProblem::current() const {
  Layout all;
  for (const SearchJob& job : jobs) all.push_back(job.current);
  return all;
}

}  // namespace muster::pollux
