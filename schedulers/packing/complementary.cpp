#include "schedulers/packing/complementary.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "schedulers/packing/programs/max_weight_matching.hpp"

// Finding companions is branch and bound over treaps ordered along a Z-curve: boxes bound the
// deviation from above, FitsWith has the last word. pack_plainly() is the definition that the fast
// form has to agree with, task by task.

namespace muster {
namespace {

/// Bits of each kind's coordinate: 1024 steps. All kinds together have to fit into the 64 bits of
/// CurveKey::position.
constexpr int kCurveBits = 10;

/// Every limit costs one bound at every node of a search. Beyond these, one capacity that covers
/// all of them replaces them: a looser bound, but one.
constexpr std::size_t kMaxLimits = 4;

/// The matching adds up whole numbers, so that ties do not depend on rounding: deviations in units
/// of this. One is at most half the number of kinds, and thousands of pairs stay far below 2^63.
constexpr double kDeviationUnit = 1e-12;

/// Orders candidates by score, then by the earlier place in the queue. A score below 0 stands for
/// nothing that fits.
struct Rank {
  double score = -1;
  std::uint64_t order = 0;

  bool loses_to(const Rank& other) const {
    return other.score > score || (other.score == score && other.order < order);
  }
};

Resources mean_of(std::span<const Packable> group) {
  Resources mean;
  for (const Packable& one : group) mean += one.share;
  for (Resource kind : kAllResources) mean[kind] /= static_cast<double>(group.size());
  return mean;
}

bool has_dominant(std::span<const Packable> group, Resource kind) {
  return std::any_of(group.begin(), group.end(),
                     [kind](const Packable& one) { return one.dominant == kind; });
}

}  // namespace

Resources normalised(const Resources& amount, const Resources& reference) {
  Resources share;
  for (Resource kind : kAllResources) {
    if (reference[kind] > kResourceEpsilon) share[kind] = amount[kind] / reference[kind];
  }
  return share;
}

Resources least_of(const Resources& a, const Resources& b) {
  Resources least;
  for (Resource kind : kAllResources) least[kind] = std::min(a[kind], b[kind]);
  return least;
}

Resources most_of(const Resources& a, const Resources& b) {
  Resources most;
  for (Resource kind : kAllResources) most[kind] = std::max(a[kind], b[kind]);
  return most;
}

double distance_squared(const Resources& a, const Resources& b) {
  double sum = 0;
  for (Resource kind : kAllResources) {
    const double apart = a[kind] - b[kind];
    sum += apart * apart;
  }
  return sum;
}

double deviation(const Resources& a, const Resources& b) {
  return distance_squared(a, b) / 2;
}

double deviation(std::span<const Resources> demands) {
  if (demands.empty()) return 0;
  Resources mean;
  for (const Resources& one : demands) mean += one;
  for (Resource kind : kAllResources) mean[kind] /= static_cast<double>(demands.size());
  double sum = 0;
  for (const Resources& one : demands) sum += distance_squared(one, mean);
  return sum;
}

Packable packable(const Resources& demand, const Resources& reference, std::uint64_t order,
                  std::uint32_t handle) {
  return {normalised(demand, reference), demand.dominant(reference), order, handle};
}

ComplementaryIndex::ComplementaryIndex(const PackLimits& limits, const Resources& reference)
    : limits_(limits) {
  for (Resource kind : kAllResources) {
    // The bound must not cut off what FitsWith allows: twice the epsilon of fits_in(), as a share,
    // and 1e-12 for the rounding of the shares.
    const double unit = reference[kind] > kResourceEpsilon ? reference[kind] : 1;
    slack_[kind] = 2 * kResourceEpsilon / unit + 1e-12;
  }
  if (limits_.size() <= kMaxLimits) return;
  Resources cover;
  for (const Resources& limit : limits) cover = most_of(cover, limit);
  limits_ = {cover};
}

void ComplementaryIndex::Box::add(const Box& other) {
  low = least_of(low, other.low);
  high = most_of(high, other.high);
  first_order = std::min(first_order, other.first_order);
}

/// Near shares have near positions: the bits of the kinds' steps in turn. Steps are finer near 0,
/// where most demands are.
ComplementaryIndex::CurveKey ComplementaryIndex::key_of(const Packable& task) {
  constexpr double kSteps = (1 << kCurveBits) - 1;
  std::array<std::uint64_t, kResourceKinds> step{};
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    const double share = std::clamp(task.share.amounts()[i], 0.0, 1.0);
    step[i] = static_cast<std::uint64_t>(std::sqrt(share) * kSteps);
  }
  std::uint64_t position = 0;
  for (int bit = kCurveBits - 1; bit >= 0; --bit) {
    for (const std::uint64_t one : step) position = (position << 1) | ((one >> bit) & 1);
  }
  return {position, task.order};
}

void ComplementaryIndex::insert(const Packable& task) {
  trees_[static_cast<std::size_t>(task.dominant)].insert(key_of(task), task);
}

void ComplementaryIndex::erase(const Packable& task) {
  trees_[static_cast<std::size_t>(task.dominant)].erase(key_of(task));
}

std::size_t ComplementaryIndex::size() const {
  std::size_t sum = 0;
  for (const Tree& tree : trees_) sum += tree.size();
  return sum;
}

/// One search for the task that is farthest from the group's mean: adding a task at a distance d to
/// n others adds d^2 n/(n+1) to their deviation.
struct ComplementaryIndex::Search {
  Search(const ComplementaryIndex& where, std::span<const Packable> beginning,
         const FitsWith& condition)
      : index(where), group(beginning), fits(condition), mean(mean_of(beginning)) {
    Resources used;
    for (const Packable& one : group) used += one.share;
    for (const Resources& limit : index.limits_) room.push_back(limit - used + index.slack_);
  }

  /// An upper bound of the squared distance from the mean that an item of the box has and still
  /// fits one of the limits; below 0: all items are too large.
  double bound(const Box& box) const {
    double highest = -1;
    for (const Resources& most : room) highest = std::max(highest, bound_within(box, most));
    return highest;
  }

  // The farther end of the box counts, but not beyond what the limit leaves: such items do not fit.
  double bound_within(const Box& box, const Resources& most) const {
    double sum = 0;
    for (Resource kind : kAllResources) {
      if (box.low[kind] > most[kind]) return -1;
      const double down = mean[kind] - box.low[kind];
      const double up = mean[kind] - std::min(box.high[kind], most[kind]);
      sum += std::max(down * down, up * up);
    }
    return sum;
  }

  // Takes the half with the higher bound first, after which the other is often cut off. The depth
  // is that of the treap, logarithmic in expectation.
  void look_below(const Tree& tree, Tree::Index at) {
    const Tree::Node& node = tree.node(at);
    consider(node.item);
    Tree::Index near = node.left, far = node.right;
    Rank first = rank_of(tree, near), second = rank_of(tree, far);
    if (first.loses_to(second)) {
      std::swap(near, far);
      std::swap(first, second);
    }
    if (first.score >= 0 && best.loses_to(first)) look_below(tree, near);
    if (second.score >= 0 && best.loses_to(second)) look_below(tree, far);
  }

  Rank rank_of(const Tree& tree, Tree::Index at) const {
    if (at == Tree::kNone) return {};
    const Box& box = tree.node(at).all;
    return {bound(box), box.first_order};
  }

  void consider(const Packable& one) {
    const Rank rank{distance_squared(mean, one.share), one.order};
    // FitsWith comes last: it looks through instance types, the rank is a handful of subtractions.
    if (!best.loses_to(rank) || !fits(group, one)) return;
    best = rank;
    found = one;
  }

  const ComplementaryIndex& index;
  std::span<const Packable> group;
  const FitsWith& fits;
  Resources mean;
  std::vector<Resources> room;
  Rank best;
  std::optional<Packable> found;
};

std::optional<Packable> ComplementaryIndex::companion(std::span<const Packable> group,
                                                      const FitsWith& fits) const {
  Search search(*this, group, fits);
  for (Resource kind : kAllResources) {
    const Tree& tree = trees_[static_cast<std::size_t>(kind)];
    // Tasks with the same dominant resource never share a group (HCoop III-D). The task that begins
    // a group is not found either, though it is in the index: its own tree is left out.
    if (tree.empty() || has_dominant(group, kind)) continue;
    const Rank rank = search.rank_of(tree, tree.root());
    if (rank.score >= 0 && search.best.loses_to(rank)) search.look_below(tree, tree.root());
  }
  return search.found;
}

std::vector<Packable> ComplementaryIndex::group_of(const Packable& task, std::size_t most,
                                                   const FitsWith& fits) const {
  std::vector<Packable> group{task};
  while (group.size() < most) {
    const std::optional<Packable> next = companion(group, fits);
    if (!next) break;
    group.push_back(*next);
  }
  return group;
}

std::vector<std::vector<std::uint32_t>> pack_plainly(std::span<const Packable> queue,
                                                     std::size_t most, const FitsWith& fits) {
  std::vector<bool> taken(queue.size(), false);
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (taken[i]) continue;
    std::vector<Packable> group{queue[i]};
    while (group.size() < most) {
      const Resources mean = mean_of(group);
      Rank best;
      std::size_t which = queue.size();
      for (std::size_t j = 0; j < queue.size(); ++j) {
        if (taken[j] || has_dominant(group, queue[j].dominant)) continue;
        const Rank rank{distance_squared(mean, queue[j].share), queue[j].order};
        if (!best.loses_to(rank) || !fits(group, queue[j])) continue;
        best = rank;
        which = j;
      }
      if (which == queue.size()) break;
      taken[which] = true;
      group.push_back(queue[which]);
    }
    taken[i] = true;
    groups.emplace_back();
    for (const Packable& one : group) groups.back().push_back(one.handle);
  }
  return groups;
}

std::vector<std::vector<Packable>> pack_greedily(std::span<const Packable> queue, std::size_t most,
                                                 const FitsWith& fits, ComplementaryIndex& index) {
  std::unordered_set<std::uint64_t> taken;  // asked only, never gone through
  std::vector<std::vector<Packable>> groups;
  for (const Packable& task : queue) {
    if (taken.contains(task.order)) continue;
    groups.push_back(index.group_of(task, most, fits));
    // A task without a companion stays in the index for those of later rounds. No task of this
    // queue takes it: a group that holds it would hold one that it could have begun with.
    if (groups.back().size() == 1) continue;
    for (const Packable& one : groups.back()) {
      taken.insert(one.order);
      index.erase(one);
    }
  }
  return groups;
}

std::vector<std::vector<Packable>> pack_exactly(std::span<const Packable> queue,
                                                const FitsWith& fits) {
  std::vector<WeightedEdge> edges;
  for (std::uint32_t i = 0; i < queue.size(); ++i) {
    // Pairs that may not share a group get no edge, rather than one of weight 0.
    for (std::uint32_t j = i + 1; j < queue.size(); ++j) {
      if (queue[i].dominant == queue[j].dominant) continue;
      if (!fits(queue.subspan(i, 1), queue[j])) continue;
      const double worth = deviation(queue[i].share, queue[j].share);
      edges.push_back({i, j, static_cast<std::int64_t>(std::llround(worth / kDeviationUnit))});
    }
  }
  const std::vector<std::uint32_t> mates =
      max_weight_matching(static_cast<std::uint32_t>(queue.size()), edges);
  std::vector<std::vector<Packable>> groups;
  for (std::uint32_t i = 0; i < queue.size(); ++i) {
    // A pair is listed at the earlier of its tasks.
    if (mates[i] != kNoMate && mates[i] < i) continue;
    groups.push_back({queue[i]});
    if (mates[i] != kNoMate) groups.back().push_back(queue[mates[i]]);
  }
  return groups;
}

}  // namespace muster
