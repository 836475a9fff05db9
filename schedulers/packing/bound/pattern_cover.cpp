#include "schedulers/packing/bound/pattern_cover.hpp"

#include "model/check.hpp"

namespace muster::bound {
namespace {

std::vector<double> needs(const FluidProblem& problem) {
  std::vector<double> needs;
  for (const FluidKind& kind : problem.kinds) needs.push_back(kind.work_h);
  return needs;
}

}  // namespace

PatternCover::PatternCover(const FluidProblem& problem) : problem_(problem), lp_(needs(problem)) {
  for (std::uint32_t kind = 0; kind < problem.kinds.size(); ++kind) add_alone(kind);
}

void PatternCover::add_alone(std::uint32_t kind) {
  Pattern best;
  double least = 0;
  for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
    const Pattern pattern{type, {kind}};
    if (!fits(problem_, pattern)) continue;
    const double usd = problem_.types[type].usd_h / problem_.kinds[kind].on[type].speed;
    if (!best.kinds.empty() && usd >= least) continue;
    best = pattern;
    least = usd;
  }
  MUSTER_CHECK(!best.kinds.empty(), "every kind fits a type");
  add(best);
}

bool PatternCover::add(const Pattern& pattern) {
  if (!known_.insert({pattern.type, pattern.kinds}).second) return false;
  std::vector<LpEntry> entries;
  for (const KindWork& work : work_of(problem_, pattern)) {
    entries.push_back({work.kind, work.work_h});
  }
  lp_.add_column(problem_.types[pattern.type].usd_h, entries);
  patterns_.push_back(pattern);
  return true;
}

}  // namespace muster::bound
