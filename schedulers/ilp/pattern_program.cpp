#include "schedulers/ilp/pattern_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/check.hpp"

namespace muster::ilp {

IntegerProgram pattern_program(const bound::FluidProblem& problem,
                               std::span<const bound::Pattern> patterns,
                               std::span<const bound::Pattern> start) {
  IntegerProgram program;
  for (const bound::FluidKind& kind : problem.kinds) program.rows.push_back({.least = kind.work_h});
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::size_t> known;
  for (const bound::Pattern& pattern : patterns) {
    known.emplace(std::pair{pattern.type, pattern.kinds}, program.columns.size());
    IntegerProgram::Column& column = program.columns.emplace_back();
    column.cost = problem.types[pattern.type].usd_h;
    column.most = 0;
    for (const bound::KindWork& work : bound::work_of(problem, pattern)) {
      column.entries.push_back({work.kind, work.work_h});
      // More of it than cover the needs of each of its kinds are of no use.
      const double enough = std::ceil(problem.kinds[work.kind].work_h / work.work_h - 1e-9);
      column.most = std::max(column.most, static_cast<std::uint32_t>(enough));
    }
  }
  if (start.empty()) return program;
  program.start.assign(program.columns.size(), 0);
  for (const bound::Pattern& pattern : start) {
    const auto column = known.find({pattern.type, pattern.kinds});
    MUSTER_CHECK(column != known.end(), "the start's patterns are among the columns");
    ++program.start[column->second];
  }
  return program;
}

std::vector<bound::Pattern> instances_of(std::span<const bound::Pattern> patterns,
                                         const std::vector<std::uint32_t>& values) {
  std::vector<bound::Pattern> instances;
  for (std::size_t i = 0; i < values.size(); ++i) {
    instances.insert(instances.end(), values[i], patterns[i]);
  }
  return instances;
}

}  // namespace muster::ilp
