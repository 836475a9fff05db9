#pragma once

#include <cstddef>
#include <vector>

#include "schedulers/muster/pair_rates.hpp"

namespace muster::own {

/// Tasks that share an instance, by class, with the work that each has left. It tells how they slow
/// each other. Every answer is O(classes there), `done` O(its square).
class Company {
 public:
  /// That number of tasks of the class come, each with that work left.
  void add(ClassId cls, std::size_t tasks, double work);
  /// Work that those there and a newcomer, who has that work left, lose by each other.
  double lost_by(ClassId cls, double work, const PairRates& rates) const;
  /// Work that all do in the time that each would take alone.
  double done(const PairRates& rates) const;

 private:
  struct OfClass {
    ClassId cls;
    double tasks = 0;
    double work = 0;
  };
  /// Logarithm of the rate at which a newcomer of the class works.
  double log_of(ClassId cls, const PairRates& rates) const;

  std::vector<OfClass> classes_;
};

}  // namespace muster::own
