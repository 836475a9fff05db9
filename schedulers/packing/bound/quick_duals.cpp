#include "schedulers/packing/bound/quick_duals.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedulers/packing/bound/pattern_cover.hpp"

namespace muster::bound {
namespace {

/// Rounds of new patterns, at most.
constexpr std::uint32_t kMostRounds = 30;
/// Tasks of one pattern, at most.
constexpr std::size_t kMostFilled = 256;

/// A pattern of no more than this share above its type's price is no find.
constexpr double kLeastFind = 1e-3;

/// Order in which tasks join a pattern.
enum class Prefers : std::uint8_t { gain, gain_for_room };

/// An instance of one type that is being filled.
class Filling {
 public:
  Filling(const FluidProblem& problem, const std::vector<double>& prices, std::uint32_t type)
      : problem_(problem),
        prices_(prices),
        pattern_{type, {}},
        worth_(problem.rates.classes(), 0),
        rate_(problem.rates.classes(), 1) {}

  bool has_room(std::uint32_t kind) const {
    const OnType& on = problem_.kinds[kind].on[pattern_.type];
    return on.speed > 0 && (used_ + on.amount).fits_in(problem_.types[pattern_.type].capacity);
  }
  /// Worth of its work there, less what it slows the others by. O(classes).
  double gain_usd_h(std::uint32_t kind) const {
    const FluidKind& of = problem_.kinds[kind];
    double gain = worth_usd_h(kind);
    for (std::uint32_t cls = 0; cls < worth_.size(); ++cls) {
      if (worth_[cls] > 0) gain -= worth_[cls] * (1 - problem_.rates.at(cls, of.cls));
    }
    return gain;
  }
  void add(std::uint32_t kind) {
    const FluidKind& of = problem_.kinds[kind];
    value_usd_h_ += gain_usd_h(kind);
    const double worth = worth_usd_h(kind);
    for (std::uint32_t cls = 0; cls < worth_.size(); ++cls) {
      worth_[cls] *= problem_.rates.at(cls, of.cls);
      rate_[cls] *= problem_.rates.at(cls, of.cls);
    }
    worth_[of.cls] += worth;
    used_ += of.on[pattern_.type].amount;
    pattern_.kinds.push_back(kind);
  }
  double room_for(std::uint32_t kind) const {
    return problem_.kinds[kind].on[pattern_.type].amount.dominant_share(
        problem_.types[pattern_.type].capacity);
  }
  double value_usd_h() const { return value_usd_h_; }
  const Pattern& pattern() const { return pattern_; }

 private:
  double worth_usd_h(std::uint32_t kind) const {
    const FluidKind& of = problem_.kinds[kind];
    return prices_[kind] * of.on[pattern_.type].speed * rate_[of.cls];
  }

  const FluidProblem& problem_;
  const std::vector<double>& prices_;
  Pattern pattern_;
  Resources used_;
  std::vector<double> worth_;  ///< of the tasks there, by class, at their rates
  std::vector<double> rate_;   ///< of one more task of each class
  double value_usd_h_ = 0;
};

class QuickColumns {
 public:
  QuickColumns(const FluidProblem& problem, std::uint64_t looks)
      : problem_(problem), most_looks_(looks), cover_(problem) {}

  QuickDuals run() {
    for (std::uint32_t round = 0; round < kMostRounds && !found_.settled; ++round) {
      LpSolution solution = cover_.solve();
      found_.usd_per_work_h = std::move(solution.duals);
      found_.usd = solution.cost;
      if (found_.looks >= most_looks_) break;
      const std::size_t before = cover_.patterns().size();
      for (std::uint32_t type = 0; type < problem_.types.size(); ++type) look_on(type);
      found_.settled = cover_.patterns().size() == before;
    }
    return std::move(found_);
  }

 private:
  /// Patterns that begin with each of the kinds.
  void look_on(std::uint32_t type) {
    for (std::uint32_t first = 0; first < problem_.kinds.size(); ++first) {
      for (const Prefers order : {Prefers::gain, Prefers::gain_for_room}) {
        if (found_.looks >= most_looks_) return;
        fill(type, first, order);
      }
    }
  }

  void fill(std::uint32_t type, std::uint32_t first, Prefers order) {
    Filling filling(problem_, found_.usd_per_work_h, type);
    if (!filling.has_room(first)) return;
    filling.add(first);
    Pattern best = filling.pattern();
    double most = filling.value_usd_h();
    while (filling.pattern().kinds.size() < kMostFilled) {
      const auto next = best_next(filling, order);
      if (!next) break;
      filling.add(*next);
      if (filling.value_usd_h() > most) {
        most = filling.value_usd_h();
        best = filling.pattern();
      }
    }
    if (most <= problem_.types[type].usd_h * (1 + kLeastFind)) return;
    std::ranges::sort(best.kinds);
    cover_.add(best);
  }

  std::optional<std::uint32_t> best_next(const Filling& filling, Prefers order) {
    std::optional<std::uint32_t> best;
    double most = 0;
    for (std::uint32_t kind = 0; kind < problem_.kinds.size(); ++kind) {
      ++found_.looks;
      if (!filling.has_room(kind)) continue;
      double gain = filling.gain_usd_h(kind);
      if (gain > 0 && order == Prefers::gain_for_room) gain /= filling.room_for(kind);
      if (gain > most) most = gain, best = kind;
    }
    return best;
  }

  const FluidProblem& problem_;
  std::uint64_t most_looks_;
  PatternCover cover_;
  QuickDuals found_;
};

}  // namespace

QuickDuals quick_duals(const FluidProblem& problem, std::uint64_t looks) {
  if (problem.kinds.empty()) return {{}, 0, true, 0};
  return QuickColumns(problem, looks).run();
}

}  // namespace muster::bound
