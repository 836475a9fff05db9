#include "schedulers/pollux/genetic_search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

// Two objectives, so that ranks are found by going along one of them: O(n log n) for each rank.

namespace muster::pollux {
namespace {

constexpr double kCross = 0.9;      ///< of two parents, what is not exchanged stays as it was
constexpr double kReset = 0.1;      ///< of rows, back to what there is
constexpr double kSparseRow = 0.1;  ///< of rows, some of whose workers are taken away
constexpr double kSparse = 0.1;     ///< of the entries of such a row
/// Attempts to fill a generation with layouts that differ.
constexpr int kMostAttempts = 101;

}  // namespace

GeneticSearch::GeneticSearch(const SearchProblem& problem, const SearchEffort& effort)
    : problem_(problem), effort_(effort) {}

GeneticResult GeneticSearch::run(const std::vector<Layout>& first, Rng& rng, Budget& budget) {
  population_.clear();
  Layout present = problem_.current();
  mend(present, rng);
  add(std::move(present), population_);
  for (const Layout& each : first) {
    Layout layout = each;
    mend(layout, rng);
    add(std::move(layout), population_);
  }
  keep_best();
  for (std::uint32_t i = 1; i < effort_.generations && !budget.is_spent(); ++i) {
    breed(rng, budget);
    keep_best();
  }
  GeneticResult result;
  double most = -1;
  for (const Candidate& each : population_) {
    if (each.rank > 0) continue;
    result.undominated.push_back(each.layout);
    if (each.fitness <= most) continue;
    most = each.fitness;
    result.best = each.layout;
  }
  return result;
}

GeneticSearch::Candidate GeneticSearch::judged(Layout layout) const {
  const double fitness = problem_.fitness(layout);
  const double utility = problem_.utility(layout);
  return {std::move(layout), fitness, utility, 0, 0};
}

/// False when the like is there already.
bool GeneticSearch::add(Layout layout, std::vector<Candidate>& to) const {
  const auto same = [&](const Candidate& each) { return each.layout == layout; };
  if (std::ranges::any_of(population_, same)) return false;
  if (&to != &population_ && std::ranges::any_of(to, same)) return false;
  to.push_back(judged(std::move(layout)));
  return true;
}

/// In the simulator's order: one job of several nodes on each, widths, rooms.
void GeneticSearch::mend(Layout& layout, Rng& rng) const {
  const std::size_t nodes = problem_.room.size();
  std::vector<char> shared(nodes, 0);
  for (std::size_t j = 0; j < layout.size(); ++j) {
    if (problem_.jobs[j].stays && size_of(layout[j]).workers > 0) {
      layout[j] = problem_.jobs[j].current;
    }
    if (size_of(layout[j]).nodes < 2) continue;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (layout[j][n] > 0 && std::exchange(shared[n], 1) != 0) layout[j][n] = 0;
    }
  }
  mend_widths(layout, rng);
  mend_rooms(layout);
  for (std::size_t j = 0; j < layout.size(); ++j) {
    const SearchJob& job = problem_.jobs[j];
    const bool changed = job.stays && layout[j] != job.current;
    if (changed || size_of(layout[j]).workers < job.least) {
      std::fill(layout[j].begin(), layout[j].end(), std::uint16_t{0});
    }
  }
}

/// Of a job that is too wide nodes lose their workers in an order that chance gives.
void GeneticSearch::mend_widths(Layout& layout, Rng& rng) const {
  std::vector<std::size_t> order(problem_.room.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t j = 0; j < layout.size(); ++j) {
    const SearchJob& job = problem_.jobs[j];
    const RowSize size = size_of(layout[j]);
    // Of several nodes no fewer workers are listed than of one.
    const auto most = std::min<std::size_t>(
        job.most, size.nodes > 1 ? job.several.size() + 1 : job.one_node.size());
    if (size.workers <= most && size.nodes <= kMostNodes) continue;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    std::size_t workers = 0;
    std::size_t nodes = 0;
    for (const std::size_t n : order) {
      if (layout[j][n] == 0) continue;
      const std::size_t left = nodes < kMostNodes ? most - workers : 0;
      layout[j][n] = static_cast<std::uint16_t>(std::min<std::size_t>(layout[j][n], left));
      workers += layout[j][n];
      nodes += layout[j][n] > 0;
    }
  }
}

void GeneticSearch::mend_rooms(Layout& layout) const {
  std::vector<std::uint32_t> left = problem_.room;
  for (std::size_t j = 0; j < layout.size(); ++j) {
    const SearchJob& job = problem_.jobs[j];
    for (std::size_t n = 0; n < left.size(); ++n) {
      if (layout[j][n] == 0) continue;
      const std::uint32_t room = workers_in_units(job, n, left[n]);
      layout[j][n] = static_cast<std::uint16_t>(std::min<std::uint32_t>(layout[j][n], room));
      left[n] -= job.units[n] * layout[j][n];
    }
  }
}

void GeneticSearch::mutate(Layout& layout, Rng& rng) const {
  const std::size_t nodes = problem_.room.size();
  for (std::size_t j = 0; j < layout.size(); ++j) {
    if (rng.uniform() < kReset) layout[j] = problem_.jobs[j].current;
    if (rng.uniform() >= kSparseRow) continue;
    for (std::uint16_t& each : layout[j]) {
      if (rng.uniform() < kSparse) each = 0;
    }
  }
  const double by_job = 1.0 / static_cast<double>(layout.size());
  for (std::size_t n = 0; n < nodes; ++n) {
    std::uint64_t taken = 0;
    std::size_t there = 0;
    for (std::size_t j = 0; j < layout.size(); ++j) {
      taken += std::uint64_t{problem_.jobs[j].units[n]} * layout[j][n];
      there += layout[j][n] > 0;
    }
    if (taken >= problem_.room[n]) continue;
    const double by_node = there > 0 ? 1.0 / static_cast<double>(there) : 0;
    for (std::size_t j = 0; j < layout.size(); ++j) {
      const double of_present = layout[j][n] > 0 ? by_node : 0;
      if (rng.uniform() >= by_job + of_present - by_job * of_present) continue;
      const std::uint32_t most = workers_in_units(problem_.jobs[j], n, problem_.room[n]);
      if (most < layout[j][n]) continue;
      layout[j][n] += static_cast<std::uint16_t>(rng.below(most - layout[j][n] + 1));
    }
  }
}

/// Of two drawn at random the one that dominates, else the less crowded one.
const GeneticSearch::Candidate& GeneticSearch::winner(Rng& rng) const {
  const Candidate& a = population_[rng.below(population_.size())];
  const Candidate& b = population_[rng.below(population_.size())];
  const auto dominates = [](const Candidate& one, const Candidate& other) {
    return one.fitness >= other.fitness && one.utility >= other.utility &&
           (one.fitness > other.fitness || one.utility > other.utility);
  };
  if (dominates(a, b)) return a;
  if (dominates(b, a)) return b;
  return a.crowding >= b.crowding ? a : b;
}

void GeneticSearch::breed(Rng& rng, Budget& budget) {
  std::vector<Candidate> children;
  const std::size_t jobs = problem_.jobs.size();
  for (int attempt = 0; attempt < kMostAttempts && children.size() < effort_.population;
       ++attempt) {
    const std::size_t missing = effort_.population - children.size();
    for (std::size_t pair = 0; pair < (missing + 1) / 2; ++pair) {
      Layout one = winner(rng).layout;
      Layout other = winner(rng).layout;
      if (jobs > 1 && rng.uniform() < kCross) {
        // Between two jobs: all rows behind that point change sides.
        for (std::size_t j = 1 + rng.below(jobs - 1); j < jobs; ++j) std::swap(one[j], other[j]);
      }
      for (Layout* each : {&one, &other}) {
        if (children.size() >= effort_.population) break;
        if (!budget.spend()) break;
        mutate(*each, rng);
        mend(*each, rng);
        add(std::move(*each), children);
      }
    }
    if (budget.is_spent()) break;
  }
  std::ranges::move(children, std::back_inserter(population_));
}

/// Ranks all and leaves as many as a population has: the lowest ranks, of the last one the least
/// crowded.
void GeneticSearch::keep_best() {
  std::ranges::stable_sort(population_, [](const Candidate& a, const Candidate& b) {
    return a.fitness > b.fitness || (a.fitness == b.fitness && a.utility > b.utility);
  });
  std::vector<Candidate> kept;
  std::vector<Candidate> rest = std::move(population_);
  for (std::size_t rank = 0; !rest.empty() && kept.size() < effort_.population; ++rank) {
    std::vector<Candidate> front;
    front.reserve(rest.size());  // its last element is pointed at
    std::vector<Candidate> others;
    // By falling fitness: a candidate that has more utility than all before is not dominated.
    const Candidate* last = nullptr;
    for (Candidate& each : rest) {
      const bool equal =
          last != nullptr && each.fitness == last->fitness && each.utility == last->utility;
      if (last == nullptr || each.utility > last->utility || equal) {
        each.rank = rank;
        front.push_back(std::move(each));
        last = &front.back();
      } else {
        others.push_back(std::move(each));
      }
    }
    const double span_fitness = front.front().fitness - front.back().fitness;
    const double span_utility = front.back().utility - front.front().utility;
    for (std::size_t i = 0; i < front.size(); ++i) {
      if (i == 0 || i + 1 == front.size()) {
        front[i].crowding = std::numeric_limits<double>::infinity();
        continue;
      }
      const double fitness = front[i - 1].fitness - front[i + 1].fitness;
      const double utility = front[i + 1].utility - front[i - 1].utility;
      front[i].crowding = (span_fitness > 0 ? fitness / span_fitness : 0) +
                          (span_utility > 0 ? utility / span_utility : 0);
    }
    if (kept.size() + front.size() > effort_.population) {
      std::ranges::stable_sort(
          front, [](const Candidate& a, const Candidate& b) { return a.crowding > b.crowding; });
      front.resize(effort_.population - kept.size());
    }
    std::ranges::move(front, std::back_inserter(kept));
    rest = std::move(others);
  }
  population_ = std::move(kept);
}

}  // namespace muster::pollux
