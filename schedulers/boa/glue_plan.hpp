#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedulers/boa/run_options.hpp"
#include "schedulers/boa/width_search.hpp"

namespace muster::boa {

/// How Algorithm 1 searches.
struct GlueRules {
  std::uint32_t configurations = 50;  ///< that are drawn
  /// Halvings between the budget for running that was too much and the one a hundredth below it
  /// that was not; 0: no halvings, as the paper has it.
  std::uint32_t refinements = 10;
  std::uint64_t seed = 1;
};

/// The efficient ways to run epochs [begin, end) of a job at one width, in hours and GPU-hours,
/// starts not counted: one width for all of them is the size-weighted harmonic mean of their
/// speedups.
std::vector<RunOption> glued_options(const RunFigures& figures, std::size_t begin, std::size_t end);

/// The width calculator of the paper (Algorithm 1): for each configuration of glued epochs problem
/// (1) at a budget that shrinks until starts fit as well. It knows the hulls of all gluings by
/// powers of two, so that several budgets can be planned for. The classes have to outlive it.
class GluePlanner {
 public:
  explicit GluePlanner(const std::vector<ClassWork>& classes);

  /// The best of the configurations that are drawn. A budget that no candidate keeps is refused.
  /// O(configurations x epochs x vertices of a hull), and as much for each shrinking.
  Expected<WidthPlan, WidthError> plan(double budget_gpus, const GlueRules& rules = {}) const;

  /// With that number of epochs of each class glued, which has to be a power of two that the class
  /// has epochs for.
  Expected<WidthPlan, WidthError> plan_as(const std::vector<std::uint32_t>& glue,
                                          double budget_gpus, const GlueRules& rules = {}) const;

 private:
  /// A class, and the hulls of its groups of epochs by exponent of the glue.
  struct GluedClass {
    RunFigures figures;
    std::vector<std::vector<std::vector<RunOption>>> groups{};
  };
  /// Widths of the groups of the first class, then of the second, ..., and what comes of them.
  struct Candidate {
    std::vector<std::size_t> exponents;  ///< by class
    std::vector<std::uint32_t> widths{};
    double hours = 0;  ///< sum of rate x weight x hours
    double gpus = 0;
  };

  std::optional<Candidate> best_of(const std::vector<std::size_t>& exponents, double budget_gpus,
                                   const GlueRules& rules) const;
  void evaluate(Candidate& candidate) const;
  WidthPath path_of(const Candidate& candidate, std::size_t c, std::size_t& group) const;
  Expected<WidthPlan, WidthError> plan_of(const std::optional<Candidate>& candidate,
                                          double budget_gpus) const;
  std::vector<PairLoad> pairs_of(const std::vector<std::size_t>& exponents) const;

  const std::vector<ClassWork>& work_;
  std::vector<GluedClass> classes_;
};

}  // namespace muster::boa
