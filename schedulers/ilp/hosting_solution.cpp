#include "schedulers/ilp/hosting_solution.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "schedulers/ilp/pattern_program.hpp"
#include "schedulers/ilp/slot_program.hpp"
#include "schedulers/packing/bound/undisturbed_search.hpp"

namespace muster::ilp {
namespace {

constexpr const char* kNonsense = "the solver failed: its output is not a solution";
constexpr const char* kTooMany = "too many tasks";

/// Calls of the solver for one question, which share its seconds.
constexpr double kCalls = 2;

/// Patterns of a type that are added so that whole instances can be made up of them.
constexpr std::size_t kNearPatterns = 2000;
/// The share of the searches' sets of tasks that one search for these may look at, as a divisor.
constexpr std::uint64_t kNearShare = 200;
/// How often the gap that they may lie within is halved, where there are more.
constexpr int kSlackTries = 6;

/// No more tasks of a kind share the instance than may; its kinds rise.
bool is_within_most(const bound::FluidProblem& problem, const bound::Pattern& instance) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < instance.kinds.size(); ++i) {
    const std::uint32_t kind = instance.kinds[i];
    count = i > 0 && instance.kinds[i - 1] == kind ? count + 1 : 1;
    const std::uint32_t most = problem.kinds[kind].most;
    if (most > 0 && count > most) return false;
  }
  return true;
}

/// The instances host every task, and each holds what it is to host.
bool hosts_all(const bound::FluidProblem& problem, const std::vector<bound::Pattern>& instances) {
  std::vector<double> seats(problem.kinds.size(), 0.0);
  for (const bound::Pattern& instance : instances) {
    if (!bound::fits(problem, instance)) return false;
    for (const std::uint32_t kind : instance.kinds) seats[kind] += 1;
  }
  for (std::size_t kind = 0; kind < seats.size(); ++kind) {
    if (seats[kind] < problem.kinds[kind].work_h) return false;
  }
  return true;
}

/// Takes away the seats that no task needs, and instances that are empty then, from the cheapest
/// one on.
void drop_surplus(const bound::FluidProblem& problem, std::vector<bound::Pattern>& instances) {
  std::stable_sort(instances.begin(), instances.end(),
                   [&](const bound::Pattern& a, const bound::Pattern& b) {
                     return problem.types[a.type].usd_h > problem.types[b.type].usd_h;
                   });
  std::vector<double> left;
  for (const bound::FluidKind& kind : problem.kinds) left.push_back(kind.work_h);
  for (bound::Pattern& instance : instances) {
    std::erase_if(instance.kinds, [&](std::uint32_t kind) { return left[kind]-- < 1; });
  }
  std::erase_if(instances, [](const bound::Pattern& instance) { return instance.kinds.empty(); });
}

struct Answer {
  std::vector<bound::Pattern> instances;
  std::string trouble;
  bool failed = false;
};

Answer ask(const IntegerProgram& program, const SolveLimits& limits, const IntegerSolver& solver,
           const auto& instances_of) {
  const auto values = solver.solve(program, limits);
  if (!values) {
    return {{}, values.error().code == SolverError::failed ? kSolverFailed : kNonsense, true};
  }
  if (!solves(program, values.value())) return {{}, kNonsense, true};
  return {instances_of(values.value()), {}};
}

double cost_usd_h(const bound::FluidProblem& problem,
                  const std::vector<bound::Pattern>& instances) {
  double cost = 0;
  for (const bound::Pattern& instance : instances) cost += problem.types[instance.type].usd_h;
  return cost;
}

/// The form that counts alike tasks.
class PatternSolver {
 public:
  PatternSolver(const bound::FluidProblem& problem, const bound::FluidBound& divided,
                const HostingSearch& search, const IntegerSolver& solver)
      : problem_(problem), divided_(divided), search_(search), solver_(solver) {
    limits_.seconds /= kCalls;
    for (const bound::Pattern& pattern : divided.columns) add(pattern);
  }

  Answer run(std::span<const bound::Pattern> start) {
    Answer best = ask_from(start);
    if (!best.trouble.empty() || !hosts_all(problem_, best.instances)) return best;
    // Those that made up the best parts need not be those that make up the best whole instances.
    const double gap_usd_h = cost_usd_h(problem_, best.instances) - divided_.bound_usd;
    if (gap_usd_h <= search_.limits.gap_share * divided_.bound_usd) return best;
    add_near(gap_usd_h);
    for (const bound::Pattern& pattern : best.instances) add(pattern);
    Answer again = ask_from(best.instances);
    const bool holds = again.trouble.empty() && hosts_all(problem_, again.instances);
    // A search that stops early may end above its start.
    const bool is_better =
        holds && cost_usd_h(problem_, again.instances) < cost_usd_h(problem_, best.instances);
    return is_better ? again : best;
  }

 private:
  void add(const bound::Pattern& pattern) {
    // A search may use a rounding of the capacity that a plan may not.
    if (!bound::fits(problem_, pattern) || !is_within_most(problem_, pattern)) return;
    if (known_.insert({pattern.type, pattern.kinds}).second) patterns_.push_back(pattern);
  }

  /// Nothing that is cheaper than what is known has a pattern that costs more above the worth of
  /// its tasks than the whole gap. Where there are too many of these, the nearest ones.
  void add_near(double gap_usd_h) {
    for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
      double slack_usd_h = gap_usd_h;
      for (int tries = 0; tries < kSlackTries; ++tries, slack_usd_h /= 2) {
        const bound::NearPatterns near =
            bound::find_near(problem_, type, divided_.usd_per_work_h, slack_usd_h, kNearPatterns,
                             search_.pattern_nodes / kNearShare);
        if (!near.complete && tries + 1 < kSlackTries) continue;
        for (const bound::Pattern& pattern : near.patterns) add(pattern);
        break;
      }
    }
  }

  Answer ask_from(std::span<const bound::Pattern> start) const {
    const IntegerProgram program = pattern_program(problem_, patterns_, start);
    return ask(program, limits_, solver_,
               [&](const auto& values) { return instances_of(patterns_, values); });
  }

  const bound::FluidProblem& problem_;
  const bound::FluidBound& divided_;
  const HostingSearch& search_;
  const IntegerSolver& solver_;
  SolveLimits limits_ = search_.limits;  ///< of each call
  std::vector<bound::Pattern> patterns_;
  std::set<std::pair<std::uint32_t, std::vector<std::uint32_t>>> known_;
};

Answer ask_as_printed(const HostingProblem& hosting, const ReservationPrices& prices,
                      std::span<const bound::Pattern> start, const HostingSearch& search,
                      const IntegerSolver& solver) {
  const SlotProgram slots(hosting, prices, start);
  if (slots.is_too_large()) return {{}, kTooMany};
  return ask(slots.program(), search.limits, solver,
             [&](const auto& values) { return slots.instances(values); });
}

}  // namespace

HostingSolution solve_hosting(const HostingProblem& hosting, const ReservationPrices& prices,
                              std::span<const bound::Pattern> start, const HostingSearch& search,
                              const IntegerSolver* solver) {
  const bound::FluidProblem& problem = hosting.fluid;
  HostingSolution solution;
  if (problem.kinds.empty()) return solution;
  bound::FluidLimits limits;
  limits.nodes = search.pattern_nodes;
  limits.start = start;
  const bound::FluidBound divided = bound::solve_fluid(problem, limits);
  solution.bound_usd_h = divided.bound_usd;
  if (solver == nullptr) {
    solution.trouble = "no solver";
    return solution;
  }
  Answer answer = search.form == Form::patterns
                      ? PatternSolver(problem, divided, search, *solver).run(start)
                      : ask_as_printed(hosting, prices, start, search, *solver);
  if (answer.trouble.empty() && !hosts_all(problem, answer.instances)) {
    answer = {{}, kNonsense, true};
  }
  solution.trouble = std::move(answer.trouble);
  solution.failed = answer.failed;
  if (!solution.trouble.empty()) return solution;
  drop_surplus(problem, answer.instances);
  solution.cost_usd_h = cost_usd_h(problem, answer.instances);
  solution.instances = std::move(answer.instances);
  return solution;
}

}  // namespace muster::ilp
