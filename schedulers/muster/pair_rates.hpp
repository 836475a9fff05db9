#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "schedulers/packing/throughput_intake.hpp"

namespace muster::own {

/// One learnt figure: the logarithm of how fast a task of `task` runs for one neighbour of
/// `neighbour`.
struct PairRate {
  ClassId task;
  ClassId neighbour;
  double log_rate = 0;

  friend bool operator==(const PairRate&, const PairRate&) = default;
};

/// How tasks on one instance slow each other, as a product of pair rates: the rate of a task is
/// exp(sum of L[task][neighbour] over its neighbours). A sum over pairs says something of sets that
/// were never seen together, which a table of whole sets cannot.
class PairRates final : public ThroughputLearner {
 public:
  /// `default_pair` in (0, 1]: the rate of a pair that nothing is known of.
  explicit PairRates(double default_pair = 0.95);

  /// The logarithm of the pair's rate, never above 0.
  double log_rate(ClassId task, ClassId neighbour) const {
    const bool in_table = task.value < width_ && neighbour.value < width_;
    if (in_table) return logs_[task.value * width_ + neighbour.value];
    return others_.empty() ? default_log_ : other(task, neighbour).log;
  }
  /// The pair's rate itself.
  double rate(ClassId task, ClassId neighbour) const {
    const bool in_table = task.value < width_ && neighbour.value < width_;
    if (in_table) return rates_[task.value * width_ + neighbour.value];
    return others_.empty() ? default_rate_ : other(task, neighbour).rate;
  }

  /// The task was seen beside the neighbours, `times` times, at that share of its own pace. Half of
  /// what the prediction missed is spread over the pairs each time, so that one odd measurement
  /// does not overturn what many have said.
  void learn(ClassId task, std::span<const ClassId> neighbours, double throughput,
             std::uint64_t times) override;
  /// No place was slower than the job. If all were expected to be faster than it was, the slowest
  /// one is meant: of equals the one with most neighbours, of which most can be learnt.
  void learn_gang(std::span<const GangPlace> places, double throughput,
                  std::uint64_t times) override;

  /// Rises whenever a rate changes.
  std::uint64_t version() const { return version_; }
  /// How many pairs there are that the table does not hold.
  std::size_t beyond_table() const { return others_.size(); }
  /// Drops those of them with a class that `known`, a function of a class, denies: no task is of it
  /// any more, and no task to come will be.
  template <class Known>
  void keep(const Known& known) {
    std::erase_if(others_, [&](const auto& entry) {
      return !known(ClassId{static_cast<std::uint32_t>(entry.first >> 32U)}) ||
             !known(ClassId{static_cast<std::uint32_t>(entry.first)});
    });
  }
  /// All that differ from the default, by task and neighbour.
  std::vector<PairRate> learnt() const;
  /// Puts back what learnt() gave, in place of what is known.
  void restore(std::span<const PairRate> rates);

 private:
  /// Facts of a pair that the table does not hold.
  struct Other {
    double log = 0;
    double rate = 1;
  };

  static std::uint64_t key_of(ClassId task, ClassId neighbour) {
    return std::uint64_t{task.value} << 32U | neighbour.value;
  }
  Other other(ClassId task, ClassId neighbour) const;
  void set(ClassId task, ClassId neighbour, double log);
  void widen(std::size_t most);
  double log_beside(ClassId task, std::span<const ClassId> neighbours) const;

  double default_rate_;
  double default_log_;
  std::uint64_t version_ = 0;
  std::size_t width_ = 0;
  std::vector<double> logs_;   ///< width_ x width_, the row is the task
  std::vector<double> rates_;  ///< of those
  /// Pairs with a class beyond the table, by key_of(); looked up only.
  std::unordered_map<std::uint64_t, Other> others_;
};

}  // namespace muster::own
