#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound {

bool fits(const FluidProblem& problem, const Pattern& pattern) {
  Resources sum;
  for (const std::uint32_t kind : pattern.kinds) {
    const OnType& on = problem.kinds[kind].on[pattern.type];
    if (on.speed <= 0) return false;
    sum += on.amount;
  }
  return sum.fits_in(problem.types[pattern.type].capacity);
}

std::vector<KindWork> work_of(const FluidProblem& problem, const Pattern& pattern) {
  std::vector<KindWork> work;
  for (std::size_t i = 0; i < pattern.kinds.size(); ++i) {
    const std::uint32_t kind = pattern.kinds[i];
    double rate = problem.kinds[kind].on[pattern.type].speed;
    for (std::size_t j = 0; j < pattern.kinds.size(); ++j) {
      if (j != i) {
        rate *= problem.rates.at(problem.kinds[kind].cls, problem.kinds[pattern.kinds[j]].cls);
      }
    }
    if (work.empty() || work.back().kind != kind) work.push_back({kind, 0});
    work.back().work_h += rate;
  }
  return work;
}

double value_of(const FluidProblem& problem, const Pattern& pattern,
                const std::vector<double>& usd_per_work_h) {
  double value = 0;
  for (const KindWork& work : work_of(problem, pattern)) {
    value += work.work_h * usd_per_work_h[work.kind];
  }
  return value;
}

}  // namespace muster::bound
