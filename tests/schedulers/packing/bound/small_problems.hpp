#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "schedulers/packing/bound/covering_lp.hpp"
#include "schedulers/packing/bound/fluid_problem.hpp"

namespace muster::bound::test {

/// A problem of one type with CPUs and memory, to which tasks are added.
class Small {
 public:
  explicit Small(double cpu = 4, double usd_h = 1, std::uint32_t classes = 1, double rate = 1) {
    problem_.rates = PairTable(classes, rate);
    type(cpu, usd_h);
  }

  Small& type(double cpu, double usd_h, double memory_gib = 1000) {
    const auto number = std::to_string(problem_.types.size());
    problem_.types.push_back({"type" + number, Resources::of(0, cpu, memory_gib), usd_h});
    return *this;
  }
  /// The same on all types.
  Small& kind(double cpu, double work_h, std::uint32_t cls = 0, double speed = 1) {
    FluidKind kind;
    kind.work_h = work_h;
    kind.cls = cls;
    kind.name = "kind" + std::to_string(problem_.kinds.size());
    kind.tasks = 1;
    for (const FluidType& type : problem_.types) {
      const Resources amount = Resources::of(0, cpu, 0);
      kind.on.push_back(amount.fits_in(type.capacity) ? OnType{amount, speed} : OnType{});
    }
    problem_.kinds.push_back(std::move(kind));
    return *this;
  }
  Small& pair(std::uint32_t task, std::uint32_t neighbour, double rate) {
    problem_.rates.set(task, neighbour, rate);
    return *this;
  }
  const FluidProblem& problem() const { return problem_; }

 private:
  FluidProblem problem_;
};

/// Any problem with few kinds, of which each fits a type: some with interference of pairs, some
/// uniform, some without; with speeds by type; with types on which not all may run.
inline FluidProblem arbitrary_problem() {
  FluidProblem problem;
  const auto classes = static_cast<std::uint32_t>(*rc::gen::inRange(1, 4));
  const double same = *rc::gen::element(0.0, 0.0, 0.95, 1.0);
  problem.rates = PairTable(classes);
  for (std::uint32_t a = 0; a < classes; ++a) {
    for (std::uint32_t b = 0; b < classes; ++b) {
      problem.rates.set(a, b, same > 0 ? same : *rc::gen::inRange(50, 101) / 100.0);
    }
  }
  const int types = *rc::gen::inRange(1, 4);
  for (int i = 0; i < types; ++i) {
    problem.types.push_back({"type" + std::to_string(i),
                             Resources::of(0, *rc::gen::inRange(2, 17), *rc::gen::inRange(2, 17)),
                             *rc::gen::inRange(10, 500) / 100.0});
  }
  const int kinds = *rc::gen::inRange(1, 4);
  // None may be left after those that run nowhere: then one more, which runs everywhere.
  for (int i = 0; i < kinds || problem.kinds.empty(); ++i) {
    FluidKind kind;
    kind.work_h = *rc::gen::inRange(1, 2000) / 100.0;
    kind.cls = static_cast<std::uint32_t>(*rc::gen::inRange(0, static_cast<int>(classes)));
    kind.name = "kind" + std::to_string(i);
    const int cpu = *rc::gen::inRange(1, 5);
    for (const FluidType& type : problem.types) {
      OnType on{Resources::of(0, cpu, *rc::gen::inRange(0, 4)), *rc::gen::inRange(0, 4) / 2.0};
      if (i >= kinds) on = {Resources::of(0, 1, 1), 1};
      if (!on.amount.fits_in(type.capacity)) on.speed = 0;
      kind.on.push_back(on);
    }
    const bool runs =
        std::any_of(kind.on.begin(), kind.on.end(), [](const OnType& on) { return on.speed > 0; });
    if (runs) problem.kinds.push_back(std::move(kind));
  }
  return problem;
}

/// Prices of an hour of work such that patterns may be worth their price and may not.
inline std::vector<double> arbitrary_prices(const FluidProblem& problem) {
  std::vector<double> prices;
  for (std::size_t i = 0; i < problem.kinds.size(); ++i) {
    prices.push_back(*rc::gen::inRange(0, 200) / 100.0);
  }
  return prices;
}

/// Every pattern that fits the type, but for the empty one.
inline std::vector<Pattern> all_patterns(const FluidProblem& problem, std::uint32_t type) {
  std::vector<Pattern> all;
  std::vector<Pattern> open{{type, {}}};
  while (!open.empty()) {
    const Pattern from = std::move(open.back());
    open.pop_back();
    // Kinds join in rising order: each set comes up once.
    const std::uint32_t first = from.kinds.empty() ? 0 : from.kinds.back();
    for (std::uint32_t kind = first; kind < problem.kinds.size(); ++kind) {
      Pattern next = from;
      next.kinds.push_back(kind);
      if (!fits(problem, next)) continue;
      all.push_back(next);
      open.push_back(std::move(next));
    }
  }
  return all;
}

/// The most that a pattern on the type is worth; 0 when none fits.
inline double best_by_trying(const FluidProblem& problem, std::uint32_t type,
                             const std::vector<double>& prices) {
  double best = 0;
  for (const Pattern& pattern : all_patterns(problem, type)) {
    best = std::max(best, value_of(problem, pattern, prices));
  }
  return best;
}

/// The least cost, by a program with all patterns at once.
inline double cost_by_trying(const FluidProblem& problem) {
  std::vector<double> needs;
  for (const FluidKind& kind : problem.kinds) needs.push_back(kind.work_h);
  CoveringLp lp(needs);
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    for (const Pattern& pattern : all_patterns(problem, type)) {
      std::vector<LpEntry> entries;
      for (const KindWork& work : work_of(problem, pattern)) {
        entries.push_back({work.kind, work.work_h});
      }
      lp.add_column(problem.types[type].usd_h, entries);
    }
  }
  return lp.solve().cost;
}

}  // namespace muster::bound::test
