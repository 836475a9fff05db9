#include "schedulers/pollux/cluster_sizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "schedulers/pollux/genetic_search.hpp"
#include "schedulers/pollux/local_search.hpp"

namespace muster::pollux {
namespace {

/// Reach of the band, as a share of the target's distance to 0 and to full efficiency (BOA 6.1).
constexpr double kBand = 0.3;

}  // namespace

ClusterSize ClusterSizer::choose(std::uint64_t seed, Budget& budget) {
  const AutoscaleRules& rules = *params_.autoscale;
  const ScaleMemory& scale = memory_.scale();
  ClusterSize size{scale.nodes, efficiency_now(), false};
  size.searched = is_due(size.efficiency);
  if (!size.searched) return size;
  std::map<std::uint32_t, double> tried;
  const auto at = [&](std::uint32_t nodes) {
    const auto known = tried.find(nodes);
    if (known != tried.end()) return known->second;
    return tried[nodes] = try_size(nodes, seed, budget);
  };
  std::uint32_t low = rules.min_nodes;
  std::uint32_t high = std::max(rules.max_nodes, low);
  std::uint32_t probe = std::clamp(scale.nodes, low, high);
  while (high - low > 1) {
    (at(probe) > rules.target ? low : high) = probe;
    probe = (low + high) / 2;
  }
  const auto off = [&](std::uint32_t nodes) { return std::abs(at(nodes) - rules.target); };
  size.nodes = off(high) < off(low) ? high : low;
  return size;
}

/// At first, and when the mean over the window is out of the band.
bool ClusterSizer::is_due(double efficiency) const {
  const AutoscaleRules& rules = *params_.autoscale;
  const ScaleMemory& scale = memory_.scale();
  if (scale.nodes == 0) return true;
  if (scale.window.size() + 1 < rules.window) return false;
  // The oldest one makes room for this round's.
  const std::size_t kept = rules.window - 1;
  const double sum = std::accumulate(scale.window.end() - static_cast<std::ptrdiff_t>(kept),
                                     scale.window.end(), efficiency);
  const double band = kBand * std::min(rules.target, 1 - rules.target);
  return std::abs(sum / rules.window - rules.target) > band;
}

double ClusterSizer::efficiency_of(const RoundProblem& problem, const Layout& layout) const {
  double speedups = 0;
  for (std::size_t j = 0; j < layout.size(); ++j) {
    const double one = problem.search.speedup(j, {1, 1});
    if (one > 0) speedups += problem.search.speedup(j, size_of(layout[j])) / one;
  }
  double room = 0;
  for (const RoundNode* node : problem.nodes) room += input_.workers_of(*node);
  return room > 0 ? speedups / room : 0;
}

/// Nodes that are to come count as well: they are rented.
double ClusterSizer::efficiency_now() const {
  std::vector<const RoundNode*> nodes;
  for (const RoundNode& node : input_.nodes()) {
    if (node.of_cluster) nodes.push_back(&node);
  }
  const RoundProblem problem =
      ProblemMaker(view_, input_, memory_, params_.speedups).make(std::move(nodes));
  return efficiency_of(problem, problem.search.current());
}

/// Result of a search on that number of nodes: present ones, the fullest first, and new ones.
double ClusterSizer::try_size(std::uint32_t count, std::uint64_t seed, Budget& budget) {
  std::vector<const RoundNode*> nodes;
  for (const RoundNode& node : input_.nodes()) {
    if (node.of_cluster) nodes.push_back(&node);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const RoundNode* a, const RoundNode* b) {
    return a->row->planned.size() > b->row->planned.size();
  });
  if (nodes.size() > count) nodes.resize(count);
  InstanceRow blank;
  const OfferingRow* offer = input_.kind()->offer;
  if (offer != nullptr) blank.type = offer->key.type;
  const RoundNode fresh{&blank, {}, true, false};
  while (offer != nullptr && nodes.size() < count) nodes.push_back(&fresh);
  const RoundProblem problem =
      ProblemMaker(view_, input_, memory_, params_.speedups).make(std::move(nodes));
  if (problem.nodes.empty()) return 0;
  Rng rng(seed);
  const Layout layout =
      params_.search == SearchKind::genetic
          ? GeneticSearch(problem.search, params_.effort).run({}, rng, budget).best
          : LocalSearch(problem.search).run(params_.effort.moves, rng, budget);
  return efficiency_of(problem, layout);
}

}  // namespace muster::pollux
