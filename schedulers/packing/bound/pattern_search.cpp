#include "schedulers/packing/bound/pattern_search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "schedulers/packing/bound/search_items.hpp"
#include "schedulers/packing/bound/undisturbed_search.hpp"

// Depth first over multisets of tasks, each item at most as often as it fits, later items after
// earlier ones. The potential of a set is judged by prices of the resources: a task that joins it
// takes room, and is worth at most the room's price and the gap of the best item that is left.
// Beside it the tasks lose: a joining task is counted at the rate beside those that are there, and
// each of those loses at least as much as that number of its best neighbours would take from it.

namespace muster::bound {
namespace {

/// Deeper than this the search only judges: its depth is the program's stack.
constexpr std::uint32_t kDeepest = 2000;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// How many tasks the patterns of one search have.
struct TaskRange {
  std::uint32_t least = 1;
  std::uint32_t most = 0;  ///< 0: as many as fit; else equal to `least`
};

/// The search among the patterns of one range.
class RangeSearch {
 public:
  RangeSearch(const SearchItems& all, TaskRange range, double threshold, std::uint64_t nodes);

  void run() {
    levels_.emplace_back();
    levels_[0].rho.assign(classes_, 1.0);
    levels_[0].mass.assign(classes_, 0.0);
    levels_[0].room = all_.capacity;
    visit(0, 0);
  }

  double best() const { return best_; }
  const std::vector<std::uint32_t>& best_items() const { return best_items_; }
  /// Bound of what was not looked at; nothing of what there is exceeds it, the best and the
  /// threshold that the search began with.
  double open() const { return open_; }
  std::uint64_t nodes() const { return nodes_; }

 private:
  /// Facts of the present set of some size.
  struct Level {
    std::vector<double> rho;   ///< rate of one more task of each class beside the set
    std::vector<double> mass;  ///< sum of the values of the set's tasks, by class
    std::array<double, kResourceKinds> room{};
    std::vector<double> gap;  ///< of each item: most that it adds above its room's price
    std::vector<double> top;  ///< the best gap from this item on
    double least_gain = 0;    ///< value of the set and of all its room
    double further = 0;       ///< most tasks that may still join
  };

  bool counted() const { return range_.most > 0; }
  bool fits(const Level& level, std::size_t item) const {
    for (std::size_t i = 0; i < kResourceKinds; ++i) {
      if (all_.items[item].amount[i] > level.room[i]) return false;
    }
    return true;
  }
  double worth(const Level& level) const {
    double value = 0;
    for (std::uint32_t c = 0; c < classes_; ++c) {
      // rho counts each of the set's tasks as a neighbour, the task itself too.
      if (level.mass[c] > 0) value += level.mass[c] * level.rho[c] / all_.rates.at(c, c);
    }
    return value;
  }
  double power(std::uint32_t cls, std::uint32_t times) const {
    return times < powers_[cls].size() ? powers_[cls][times] : std::pow(best_pair_[cls], times);
  }
  void judge(Level& level, std::uint32_t first, std::uint32_t size);
  double bound_from(const Level& level, double gain, double further, double top) const;
  void offer(double value, std::uint32_t size);
  void visit(std::uint32_t first, std::uint32_t size);
  void join(std::uint32_t item, std::uint32_t size);

  const SearchItems& all_;
  std::uint32_t classes_;
  TaskRange range_;
  double threshold_;
  std::uint64_t most_nodes_;
  std::vector<double> best_pair_;            ///< of each class, beside its best neighbour
  std::vector<double> worst_pair_;           ///< and beside its worst one
  std::vector<std::vector<double>> powers_;  ///< of best_pair_
  std::vector<double> cost_;                 ///< of each item's room
  std::array<double, kResourceKinds> prices_{};
  std::deque<Level> levels_;  ///< by size of the set; references stay as it grows
  std::vector<std::uint32_t> chosen_;
  std::vector<double> gain_, loss_;  ///< of judge(), by class
  double best_ = kNone;
  std::vector<std::uint32_t> best_items_;
  double open_ = kNone;
  std::uint64_t nodes_ = 0;
};

RangeSearch::RangeSearch(const SearchItems& all, TaskRange range, double threshold,
                         std::uint64_t nodes)
    : all_(all),
      classes_(all.rates.classes()),
      range_(range),
      threshold_(threshold),
      most_nodes_(nodes),
      gain_(classes_),
      loss_(classes_) {
  std::vector<double> factor;
  for (std::uint32_t c = 0; c < classes_; ++c) {
    double best = 0;
    double worst = 1;
    for (std::uint32_t other = 0; other < classes_; ++other) {
      best = std::max(best, all.rates.at(c, other));
      worst = std::min(worst, all.rates.at(c, other));
    }
    best_pair_.push_back(best);
    worst_pair_.push_back(worst);
    powers_.emplace_back();
    for (std::uint32_t times = 0; times <= range.least; ++times) {
      powers_.back().push_back(std::pow(best, times));
    }
    factor.push_back(power(c, range.least - 1));
  }
  prices_ = resource_prices(all, factor, range.most);
  for (const SearchItem& item : all.items) {
    double cost = 0;
    for (std::size_t i = 0; i < kResourceKinds; ++i) cost += prices_[i] * item.amount[i];
    cost_.push_back(cost);
  }
}

/// Fills in what may become of the set.
void RangeSearch::judge(Level& level, std::uint32_t first, std::uint32_t size) {
  // Number of tasks that will join it at least.
  const std::uint32_t joining = range_.least > size ? range_.least - size : 0;
  level.least_gain = 0;
  std::fill(loss_.begin(), loss_.end(), 0.0);
  for (std::uint32_t c = 0; c < classes_; ++c) {
    gain_[c] = level.rho[c] * power(c, joining > 0 ? joining - 1 : 0);
    if (level.mass[c] <= 0) continue;
    const double value = level.mass[c] * level.rho[c] / all_.rates.at(c, c);
    if (!counted()) {
      level.least_gain += value * power(c, joining);
      continue;
    }
    level.least_gain += value;
    // The product of n rates is at most that of n times their mean, and 1 - (1 - x)^n is concave
    // in x: a chord below it, from 0 to the worst neighbour, is linear in what each neighbour
    // takes.
    const double most_loss = 1 - worst_pair_[c];
    if (most_loss <= 0) continue;
    const double chord = (1 - std::pow(worst_pair_[c], joining)) / most_loss / joining;
    for (std::uint32_t other = 0; other < classes_; ++other) {
      loss_[other] += value * chord * (1 - all_.rates.at(c, other));
    }
  }
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    level.least_gain += prices_[i] * level.room[i];
  }
  level.gap.resize(all_.items.size());
  level.top.resize(all_.items.size() + 1);
  level.top.back() = kNone;
  for (std::size_t i = all_.items.size(); i-- > first;) {
    const SearchItem& item = all_.items[i];
    level.gap[i] =
        fits(level, i) ? gain_[item.cls] * item.value_usd_h - loss_[item.cls] - cost_[i] : kNone;
    level.top[i] = std::max(level.top[i + 1], level.gap[i]);
  }
  level.further = counted() ? range_.most - size : std::max(0.0, double(all_.most_tasks) - size);
}

/// Upper bound of a set when `further` tasks of at most the gap `top` join it.
double RangeSearch::bound_from(const Level& level, double gain, double further, double top) const {
  double bound = level.least_gain + gain;
  if (counted()) return further > 0 ? bound + further * top : bound;
  return top > 0 ? bound + further * top : bound;
}

void RangeSearch::offer(double value, std::uint32_t size) {
  if (size < std::max(1u, range_.least) || value <= threshold_) return;
  threshold_ = best_ = value;
  best_items_ = chosen_;
}

void RangeSearch::join(std::uint32_t item, std::uint32_t size) {
  if (levels_.size() == size + 1) levels_.emplace_back();
  const Level& from = levels_[size];
  Level& to = levels_[size + 1];
  const SearchItem& joined = all_.items[item];
  to.rho = from.rho;
  to.mass = from.mass;
  to.room = from.room;
  for (std::uint32_t c = 0; c < classes_; ++c) to.rho[c] *= all_.rates.at(c, joined.cls);
  to.mass[joined.cls] += joined.value_usd_h;
  for (std::size_t i = 0; i < kResourceKinds; ++i) to.room[i] -= joined.amount[i];
}

void RangeSearch::visit(std::uint32_t first, std::uint32_t size) {
  Level& level = levels_[size];
  ++nodes_;
  offer(worth(level), size);
  if (counted() && size == range_.most) return;
  judge(level, first, size);
  const double bound = bound_from(level, 0, level.further, level.top[first]);
  if (bound <= threshold_) return;
  if (nodes_ >= most_nodes_ || size >= kDeepest) {
    open_ = std::max(open_, bound);
    return;
  }
  for (std::uint32_t i = first; i < all_.items.size(); ++i) {
    if (level.gap[i] == kNone) continue;
    if (bound_from(level, level.gap[i], level.further - 1, level.top[i]) <= threshold_) continue;
    chosen_.push_back(i);
    join(i, size);
    visit(i, size + 1);
    chosen_.pop_back();
  }
}

std::vector<TaskRange> ranges_of(const SearchItems& all) {
  std::vector<TaskRange> ranges;
  for (std::uint32_t n = 1; n <= std::min(kMostCounted, all.most_tasks); ++n) {
    ranges.push_back({n, n});
  }
  if (all.most_tasks > kMostCounted) ranges.push_back({kMostCounted + 1, 0});
  return ranges;
}

}  // namespace

TypeFinds find_patterns(const FluidProblem& problem, std::uint32_t type,
                        const std::vector<double>& usd_per_work_h, std::uint64_t nodes,
                        bool spread) {
  TypeFinds finds;
  const double enough = problem.types[type].usd_h * (1 + kGain);
  finds.most_usd_h = enough;
  const SearchItems all = search_items(problem, type, usd_per_work_h);
  if (all.items.empty()) return finds;
  // Where no task slows another the number of tasks tells nothing, and a quicker search does.
  if (!all.slows()) return find_undisturbed(all, type, enough, nodes);
  double threshold = enough;
  for (const TaskRange& range : ranges_of(all)) {
    RangeSearch search(all, range, spread ? enough : threshold,
                       nodes > finds.nodes ? nodes - finds.nodes : 0);
    search.run();
    finds.nodes += search.nodes();
    finds.complete &= search.open() == kNone;
    finds.most_usd_h = std::max({finds.most_usd_h, search.best(), search.open()});
    if (search.best_items().empty()) continue;
    threshold = std::max(threshold, search.best());
    FoundPattern found{{type, {}}, search.best()};
    for (const std::uint32_t item : search.best_items()) {
      found.pattern.kinds.push_back(all.items[item].kind);
    }
    std::sort(found.pattern.kinds.begin(), found.pattern.kinds.end());
    finds.patterns.push_back(std::move(found));
  }
  return finds;
}

}  // namespace muster::bound
