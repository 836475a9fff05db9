#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "schedulers/policy.hpp"

namespace muster {

/// Pairs of kinds of tasks, the best first, without a list of all of them: each kind keeps some of
/// its best partners, and looks for others when those are used up.
class BestPairs {
 public:
  struct Rules {
    /// Of two kinds, the first of which is not the later one; nothing: they do not go together.
    std::function<std::optional<double>(std::uint32_t one, std::uint32_t other)> ratio;
    /// Tasks of a kind that may be paired still; it never rises.
    std::function<std::size_t(std::uint32_t kind)> left;
    /// Partners that are kept for all kinds together, at 16 bytes each; but at least
    /// kLeastOfKind for each of them.
    std::size_t most_kept = std::size_t{1} << 19U;
  };
  static constexpr std::size_t kLeastOfKind = 16;
  struct Pair {
    std::uint32_t one = 0, other = 0;  ///< kinds; of one kind two tasks are left
    double ratio = 0;
  };

  /// Kinds are numbered from 0 on. Each look at a pair is a step of the budget.
  BestPairs(std::uint32_t kinds, Rules rules, Budget& budget);

  /// The pair with the greatest ratio of which tasks are left; of equal ones that of the first
  /// kinds.
  std::optional<Pair> next();
  /// The budget was spent before all pairs had been looked at.
  bool cut_off() const { return cut_off_; }
  std::size_t kept() const { return kept_; }

 private:
  struct Partner {
    double ratio = 0;
    std::uint32_t kind = 0;
  };
  struct Partners {
    std::vector<Partner> best{};  ///< the best first
    std::size_t at = 0;
    bool has_more = false;  ///< some are left out of the list
  };
  struct IsLater {
    bool operator()(const Pair& a, const Pair& b) const;
  };

  bool is_left(std::uint32_t one, std::uint32_t other) const;
  void find_partners(std::uint32_t kind);
  void drop(std::uint32_t kind);
  void queue_next_of(std::uint32_t kind);

  Rules rules_;
  Budget& budget_;
  std::size_t most_of_kind_;
  std::vector<Partners> partners_;
  std::priority_queue<Pair, std::vector<Pair>, IsLater> queue_;  ///< the next one of each kind
  std::size_t kept_ = 0;
  bool cut_off_ = false;
};

}  // namespace muster
