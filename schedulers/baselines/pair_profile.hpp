#pragma once

#include <cstdint>
#include <unordered_map>

#include "learning/colocation_table.hpp"
#include "model/cluster_state.hpp"
#include "schedulers/pair_truth.hpp"

namespace muster {

/// True rates of pairs that have been asked for, by classes, whose numbers are never used again.
using GivenRates = std::unordered_map<std::uint64_t, double>;

/// How fast a task runs beside one other: given in advance, or as far as it has been learnt.
class PairProfile {
 public:
  /// Of what has been learnt.
  explicit PairProfile(const ColocationTable& learnt) : learnt_(&learnt) {}
  /// Of what is given; `known` keeps what has been asked for.
  PairProfile(const PairTruth& truth, const ClassTable& classes, GivenRates& known)
      : truth_(&truth), classes_(&classes), known_(&known) {}

  double rate(ClassId task, ClassId neighbour) const {
    return learnt_ != nullptr ? learnt_->pair_rate(task, neighbour) : given(task, neighbour);
  }

 private:
  double given(ClassId task, ClassId neighbour) const;

  const ColocationTable* learnt_ = nullptr;
  const PairTruth* truth_ = nullptr;
  const ClassTable* classes_ = nullptr;
  GivenRates* known_ = nullptr;
};

}  // namespace muster
