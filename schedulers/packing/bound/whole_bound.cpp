#include "schedulers/packing/bound/whole_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace muster::bound {
namespace {

/// Costs that differ by less do not differ.
constexpr double kMoneyEpsilon_usd_h = 1e-9;

using Counts = std::vector<std::uint32_t>;

class Branching {
 public:
  Branching(const FluidProblem& problem, const FluidBound& divided, std::uint64_t nodes)
      : problem_(problem), usd_h_(divided.usd_per_work_h), most_nodes_(nodes) {
    for (const FluidKind& kind : problem.kinds) {
      left_.push_back(static_cast<std::uint32_t>(std::llround(kind.work_h)));
    }
    for (std::uint32_t kind = 0; kind < left_.size(); ++kind) by_worth_.push_back(kind);
    std::stable_sort(by_worth_.begin(), by_worth_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return usd_h_[a] > usd_h_[b]; });
    result_.bound_usd_h = divided.bound_usd;
    result_.reached_usd_h = std::numeric_limits<double>::infinity();
  }

  WholeBound run() {
    host_rest(0);
    result_.exact = !cut_off_;
    if (result_.exact) result_.bound_usd_h = result_.reached_usd_h;
    result_.nodes = nodes_;
    return std::move(result_);
  }

 private:
  /// An instance that may come next.
  struct Choice {
    Pattern pattern;
    double loss_usd_h = 0;  ///< its cost above its tasks' worth
  };

  bool may_go_on() {
    if (nodes_++ < most_nodes_) return true;
    cut_off_ = true;
    return false;
  }

  double worth_of_rest() const {
    double sum = 0;
    for (std::size_t kind = 0; kind < left_.size(); ++kind) sum += left_[kind] * usd_h_[kind];
    return sum;
  }

  void host_rest(double cost) {
    if (!may_go_on()) return;
    const auto next = std::find_if(by_worth_.begin(), by_worth_.end(),
                                   [&](std::uint32_t kind) { return left_[kind] > 0; });
    if (next == by_worth_.end()) {
      if (cost >= result_.reached_usd_h - kMoneyEpsilon_usd_h) return;
      result_.reached_usd_h = cost;
      result_.instances = chosen_;
      return;
    }
    if (!may_win(cost)) return;
    // Reached before at no higher cost: nothing new can come of it.
    const auto [seen, is_new] = seen_.try_emplace(left_, cost);
    if (!is_new && seen->second <= cost + kMoneyEpsilon_usd_h) return;
    seen->second = cost;
    for (Choice& choice : choices_for(*next)) {
      const double usd_h = problem_.types[choice.pattern.type].usd_h;
      for (const std::uint32_t kind : choice.pattern.kinds) --left_[kind];
      chosen_.push_back(choice.pattern);
      host_rest(cost + usd_h);
      chosen_.pop_back();
      for (const std::uint32_t kind : choice.pattern.kinds) ++left_[kind];
    }
  }

  bool may_win(double cost) const {
    return cost + worth_of_rest() * (1 - 1e-11) < result_.reached_usd_h - kMoneyEpsilon_usd_h;
  }

  /// All instances with a task of that kind on which nothing more of what is left fits, those that
  /// lose least first.
  std::vector<Choice> choices_for(std::uint32_t first) {
    std::vector<Choice> choices;
    for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
      if (problem_.kinds[first].on[type].speed <= 0) continue;
      Pattern pattern{type, {first}};
      --left_[first];
      fill(pattern, 0, problem_.kinds[first].on[type].amount, choices);
      ++left_[first];
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.loss_usd_h < b.loss_usd_h; });
    return choices;
  }

  bool joins(std::uint32_t kind, std::uint32_t type, const Resources& used) const {
    const OnType& on = problem_.kinds[kind].on[type];
    return left_[kind] > 0 && on.speed > 0 &&
           (used + on.amount).fits_in(problem_.types[type].capacity);
  }

  /// Adds tasks of the kinds from `from` on in every way.
  void fill(Pattern& pattern, std::uint32_t from, const Resources& used,
            std::vector<Choice>& choices) {
    if (cut_off_ || !may_go_on()) return;
    while (from < left_.size() && !joins(from, pattern.type, used)) ++from;
    if (from == left_.size()) {
      for (std::uint32_t kind = 0; kind < left_.size(); ++kind) {
        if (joins(kind, pattern.type, used)) return;
      }
      choices.push_back(choice_of(pattern));
      return;
    }
    pattern.kinds.push_back(from);
    --left_[from];
    fill(pattern, from, used + problem_.kinds[from].on[pattern.type].amount, choices);
    ++left_[from];
    pattern.kinds.pop_back();
    fill(pattern, from + 1, used, choices);
  }

  Choice choice_of(const Pattern& pattern) const {
    Choice choice{pattern, problem_.types[pattern.type].usd_h};
    std::sort(choice.pattern.kinds.begin(), choice.pattern.kinds.end());
    for (const std::uint32_t kind : pattern.kinds) choice.loss_usd_h -= usd_h_[kind];
    return choice;
  }

  const FluidProblem& problem_;
  const std::vector<double>& usd_h_;
  std::uint64_t most_nodes_;
  std::uint64_t nodes_ = 0;
  bool cut_off_ = false;
  Counts left_;
  std::vector<std::uint32_t> by_worth_;  ///< kinds
  std::map<Counts, double> seen_;        ///< cost of coming to these counts
  std::vector<Pattern> chosen_;
  WholeBound result_;
};

}  // namespace

WholeBound solve_whole(const FluidProblem& problem, const FluidBound& divided,
                       std::uint64_t nodes) {
  if (problem.kinds.empty()) return {.exact = true};
  return Branching(problem, divided, nodes).run();
}

}  // namespace muster::bound
