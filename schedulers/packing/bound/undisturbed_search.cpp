#include "schedulers/packing/bound/undisturbed_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "schedulers/packing/bound/covering_lp.hpp"

namespace muster::bound {
namespace {

using Amounts = std::array<double, kResourceKinds>;

/// Finds of a search, at most: the next prices are likely to want one of those that were nearly as
/// good.
constexpr std::size_t kMostFinds = 4;
/// Deeper than this the search only judges: its depth is the program's stack.
constexpr std::uint32_t kMostDepth = 2000;
/// Least worth of a task, where all those are wanted that fit.
constexpr double kSeat_usd_h = 1e-9;
constexpr double kNothingOpen = -std::numeric_limits<double>::infinity();

/// Prices of the type's resources at which all the room, and the gain of each bounded item beyond
/// its room, is worth least.
Amounts room_prices(const SearchItems& all) {
  std::vector<double> values;
  for (const SearchItem& item : all.items) values.push_back(item.value_usd_h);
  CoveringLp lp(values);
  std::vector<std::size_t> priced;
  std::vector<LpEntry> column;
  for (std::size_t r = 0; r < kResourceKinds; ++r) {
    column.clear();
    for (std::uint32_t row = 0; row < all.items.size(); ++row) {
      if (all.items[row].amount[r] > 0) column.push_back({row, all.items[row].amount[r]});
    }
    if (column.empty()) continue;
    priced.push_back(r);
    lp.add_column(all.capacity[r], column);
  }
  for (std::uint32_t row = 0; row < all.items.size(); ++row) {
    if (all.items[row].most == 0) continue;
    column.assign(1, {row, 1});
    lp.add_column(all.items[row].most, column);
  }
  const LpSolution solution = lp.solve();
  Amounts prices{};
  for (std::size_t i = 0; i < priced.size(); ++i) prices[priced[i]] = solution.activity[i];
  return prices;
}

class Search {
 public:
  Search(const SearchItems& all, std::uint32_t type, double enough_usd_h, std::uint64_t nodes)
      : type_(type), threshold_(enough_usd_h), most_nodes_(nodes), prices_(room_prices(all)) {
    for (const SearchItem& item : all.items) items_.push_back({item, worth(item.amount)});
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return a.of.value_usd_h * b.cost > b.of.value_usd_h * a.cost;
    });
    room_ = all.capacity;
  }

  /// All that is worth more than the threshold, `most` at most, instead of the best alone.
  NearPatterns run_for_all(std::size_t most) {
    all_ = most;
    visit(0, 0, 0);
    NearPatterns near;
    near.complete = open_ == kNothingOpen;
    for (FoundPattern& found : found_) near.patterns.push_back(std::move(found.pattern));
    return near;
  }

  TypeFinds run() {
    TypeFinds finds;
    finds.most_usd_h = threshold_;
    visit(0, 0, 0);
    finds.most_usd_h = std::max({finds.most_usd_h, threshold_, open_});
    finds.complete = open_ == kNothingOpen;
    finds.nodes = nodes_;
    std::reverse(found_.begin(), found_.end());
    finds.patterns = std::move(found_);
    return finds;
  }

 private:
  struct Item {
    SearchItem of;
    double cost = 0;  ///< of its room
  };
  struct Taken {
    std::uint32_t kind = 0;
    std::uint32_t times = 0;
  };

  double worth(const Amounts& amount) const {
    double sum = 0;
    for (std::size_t r = 0; r < kResourceKinds; ++r) sum += prices_[r] * amount[r];
    return sum;
  }

  /// How often the item fits what is left.
  std::uint32_t times_of(const SearchItem& item) const {
    double times = item.most > 0 ? item.most : 1e6;
    for (std::size_t r = 0; r < kResourceKinds; ++r) {
      if (item.amount[r] > 0) times = std::min(times, std::floor(room_[r] / item.amount[r]));
    }
    return times > 0 ? static_cast<std::uint32_t>(times) : 0;
  }

  /// Most worth that the room can hold of the items from `first` on: it is taken as one resource at
  /// its prices, and shared out to those that are worth most for it, the last one in part.
  double bound_from(std::size_t first) const {
    double left = worth(room_);
    double sum = 0;
    for (std::size_t i = first; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const std::uint32_t times = times_of(item.of);
      if (times == 0) continue;
      if (item.cost > 0 && item.cost * times >= left)
        return sum + left * (item.of.value_usd_h / item.cost);
      left -= item.cost * times;
      sum += item.of.value_usd_h * times;
    }
    return sum;
  }

  void take(const Item& item, double times) {
    for (std::size_t r = 0; r < kResourceKinds; ++r) room_[r] -= times * item.of.amount[r];
  }

  void offer(double value) {
    if (value <= threshold_ || taken_.empty()) return;
    if (all_ > 0 && (found_.size() == all_ || takes_more())) return;
    if (all_ == 0) threshold_ = value;
    FoundPattern found{{type_, {}}, value};
    for (const Taken& taken : taken_) {
      found.pattern.kinds.insert(found.pattern.kinds.end(), taken.times, taken.kind);
    }
    std::sort(found.pattern.kinds.begin(), found.pattern.kinds.end());
    if (all_ == 0 && found_.size() == kMostFinds) found_.erase(found_.begin());
    found_.push_back(std::move(found));
  }

  /// Some task fits beside those that are taken.
  bool takes_more() const {
    return std::ranges::any_of(items_, [&](const Item& item) {
      const auto taken = std::ranges::find(taken_, item.of.kind, &Taken::kind);
      const std::uint32_t times = taken == taken_.end() ? 0 : taken->times;
      return (item.of.most == 0 || times < item.of.most) && times_of(item.of) > 0;
    });
  }

  void visit(std::size_t first, double value, std::uint32_t depth) {
    offer(value);
    for (std::size_t i = first; i < items_.size(); ++i) {
      const Item& item = items_[i];
      std::uint32_t times = times_of(item.of);
      if (times == 0) continue;
      ++nodes_;
      const double bound = value + bound_from(i);
      if (bound <= threshold_) return;
      const bool full = all_ > 0 && found_.size() == all_;
      if (nodes_ >= most_nodes_ || depth >= kMostDepth || full) {
        open_ = std::max(open_, bound);
        return;
      }
      // As often as it fits first; sets without it are the next turn of the outer loop.
      for (; times > 0; --times) {
        const Amounts before = room_;
        take(item, times);
        taken_.push_back({item.of.kind, times});
        visit(i + 1, value + times * item.of.value_usd_h, depth + 1);
        taken_.pop_back();
        room_ = before;
      }
    }
  }

  std::uint32_t type_;
  std::size_t all_ = 0;  ///< most sets that are wanted; 0: the best alone
  double threshold_;
  std::uint64_t most_nodes_;
  Amounts prices_;
  std::vector<Item> items_;
  Amounts room_{};
  std::vector<Taken> taken_;
  std::vector<FoundPattern> found_;
  double open_ = kNothingOpen;
  std::uint64_t nodes_ = 0;
};

}  // namespace

TypeFinds find_undisturbed(const SearchItems& all, std::uint32_t type, double enough_usd_h,
                           std::uint64_t nodes) {
  return Search(all, type, enough_usd_h, nodes).run();
}

NearPatterns find_near(const FluidProblem& problem, std::uint32_t type,
                       const std::vector<double>& usd_per_work_h, double slack_usd_h,
                       std::size_t most, std::uint64_t nodes) {
  // A task that is worth nothing takes a seat nevertheless.
  std::vector<double> prices = usd_per_work_h;
  for (double& price : prices) price = std::max(price, kSeat_usd_h);
  const SearchItems all = search_items(problem, type, prices);
  if (all.items.empty()) return {};
  const double least = problem.types[type].usd_h * (1 - kRounding) - slack_usd_h - kSeat_usd_h;
  return Search(all, type, least, nodes).run_for_all(most);
}

}  // namespace muster::bound
