#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound::test {

/// Few tasks to be hosted at once: an hour of work is a task, and each kind runs on some type.
/// Amounts differ by type.
inline FluidProblem arbitrary_hosting() {
  FluidProblem problem;
  problem.rates = PairTable(1);
  const int types = *rc::gen::inRange(1, 4);
  for (int i = 0; i < types; ++i) {
    problem.types.push_back({"type" + std::to_string(i),
                             Resources::of(0, *rc::gen::inRange(2, 12), *rc::gen::inRange(2, 12)),
                             *rc::gen::inRange(10, 500) / 100.0});
  }
  const int kinds = *rc::gen::inRange(1, 4);
  for (int i = 0; i < kinds || problem.kinds.empty(); ++i) {
    FluidKind kind;
    kind.tasks = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
    kind.work_h = static_cast<double>(kind.tasks);
    kind.most = static_cast<std::uint32_t>(kind.tasks);
    for (const FluidType& type : problem.types) {
      OnType on{Resources::of(0, *rc::gen::inRange(1, 6), *rc::gen::inRange(0, 6)), 1};
      if (i >= kinds) on = {Resources::of(0, 1, 1), 1};
      if (!on.amount.fits_in(type.capacity)) on.speed = 0;
      kind.on.push_back(on);
    }
    const bool runs = std::ranges::any_of(kind.on, [](const OnType& on) { return on.speed > 0; });
    if (runs) problem.kinds.push_back(std::move(kind));
  }
  return problem;
}

/// The least cost of whole instances, by trying every set of what is left.
class HostingByTrying {
 public:
  explicit HostingByTrying(const FluidProblem& problem) : problem_(problem) {}

  double least_usd_h() {
    std::vector<std::uint32_t> left;
    for (const FluidKind& kind : problem_.kinds) {
      left.push_back(static_cast<std::uint32_t>(kind.tasks));
    }
    return least(left);
  }

 private:
  double least(const std::vector<std::uint32_t>& left) {
    const auto first = std::ranges::find_if(left, [](std::uint32_t count) { return count > 0; });
    if (first == left.end()) return 0;
    if (const auto known = known_.find(left); known != known_.end()) return known->second;
    double best = std::numeric_limits<double>::infinity();
    for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
      std::vector<std::uint32_t> rest = left;
      const auto kind = static_cast<std::uint32_t>(first - left.begin());
      --rest[kind];
      Pattern pattern{type, {kind}};
      if (fits(problem_, pattern)) try_more(pattern, kind, rest, best);
    }
    return known_[left] = best;
  }

  void try_more(Pattern& pattern, std::uint32_t from, std::vector<std::uint32_t>& rest,
                double& best) {
    best = std::min(best, problem_.types[pattern.type].usd_h + least(rest));
    for (std::uint32_t kind = from; kind < rest.size(); ++kind) {
      if (rest[kind] == 0) continue;
      pattern.kinds.push_back(kind);
      --rest[kind];
      if (fits(problem_, pattern)) try_more(pattern, kind, rest, best);
      ++rest[kind];
      pattern.kinds.pop_back();
    }
  }

  const FluidProblem& problem_;
  std::map<std::vector<std::uint32_t>, double> known_;
};

}  // namespace muster::bound::test
