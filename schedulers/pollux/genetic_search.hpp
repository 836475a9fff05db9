#pragma once

#include <cstddef>
#include <vector>

#include "model/rng.hpp"
#include "schedulers/policy.hpp"
#include "schedulers/pollux/pollux_params.hpp"
#include "schedulers/pollux/search_problem.hpp"

namespace muster::pollux {

/// Result of a genetic search.
struct GeneticResult {
  Layout best;                      ///< of the greatest fitness
  std::vector<Layout> undominated;  ///< no other is better in one objective and no worse in both
};

/// Pollux's search as published with its simulator: NSGA-II over fitness and utility, on matrices
/// of workers by job and node that are mended until they are feasible.
class GeneticSearch {
 public:
  GeneticSearch(const SearchProblem& problem, const SearchEffort& effort);

  /// Begins with these layouts and the present one. The budget counts layouts that are looked at.
  GeneticResult run(const std::vector<Layout>& first, Rng& rng, Budget& budget);

 private:
  struct Candidate {
    Layout layout;
    double fitness = 0;
    double utility = 0;
    std::size_t rank = 0;  ///< 0: no other dominates it
    double crowding = 0;   ///< how far its neighbours of that rank are; more is better
  };

  Candidate judged(Layout layout) const;
  void mend(Layout& layout, Rng& rng) const;
  void mend_widths(Layout& layout, Rng& rng) const;
  void mend_rooms(Layout& layout) const;
  void mutate(Layout& layout, Rng& rng) const;
  const Candidate& winner(Rng& rng) const;
  void breed(Rng& rng, Budget& budget);
  bool add(Layout layout, std::vector<Candidate>& to) const;
  void keep_best();

  const SearchProblem& problem_;
  SearchEffort effort_;
  std::vector<Candidate> population_;
};

}  // namespace muster::pollux
