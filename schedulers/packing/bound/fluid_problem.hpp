#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/resources.hpp"

// The question that a lower bound answers: what does the work of a workload cost at least, when
// time and tasks can be divided at will and nothing takes time to start?

namespace muster::bound {

/// How a task of a kind runs on a type of instance.
struct OnType {
  Resources amount;
  double speed = 0;  ///< hours of work an hour when it is alone there; 0: it may not run there
};

/// Tasks that differ in nothing that matters here.
struct FluidKind {
  double work_h = 0;      ///< of all its tasks, in hours at speed 1
  std::uint32_t cls = 0;  ///< row of FluidProblem::rates
  std::vector<OnType> on;
  std::string name;         ///< for people
  std::uint64_t tasks = 0;  ///< how many there are
  std::uint32_t most = 0;   ///< of them share an instance; 0: any number
};

/// A type of instance at the least that an hour of it ever costs.
struct FluidType {
  std::string name;
  Resources capacity;
  double usd_h = 0;
};

/// The throughput of a task of one class beside a task of another: 0 < rate <= 1. Beside several
/// neighbours a task runs at the product.
class PairTable {
 public:
  explicit PairTable(std::uint32_t classes = 0, double rate = 1)
      : classes_(classes), rates_(std::size_t{classes} * classes, rate) {}

  std::uint32_t classes() const { return classes_; }
  double at(std::uint32_t task, std::uint32_t neighbour) const {
    return rates_[std::size_t{task} * classes_ + neighbour];
  }
  void set(std::uint32_t task, std::uint32_t neighbour, double rate) {
    rates_[std::size_t{task} * classes_ + neighbour] = rate;
  }

 private:
  std::uint32_t classes_;
  std::vector<double> rates_;
};

/// Work that has to be done, what may be rented for it, and how tasks slow each other.
struct FluidProblem {
  std::vector<FluidKind> kinds;
  std::vector<FluidType> types;
  PairTable rates;
};

/// Tasks that share an instance of a type for some time.
struct Pattern {
  std::uint32_t type = 0;
  std::vector<std::uint32_t> kinds;  ///< one entry a task, rising

  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// The tasks may share the instance: all may run there and fit together, whatever their number.
bool fits(const FluidProblem& problem, const Pattern& pattern);

/// The work of one kind in an hour of a pattern.
struct KindWork {
  std::uint32_t kind = 0;
  double work_h = 0;
};
/// Work of an hour of the pattern, by rising kinds.
std::vector<KindWork> work_of(const FluidProblem& problem, const Pattern& pattern);

/// Worth of an hour of the pattern at a price an hour of work of each kind.
double value_of(const FluidProblem& problem, const Pattern& pattern,
                const std::vector<double>& usd_per_work_h);

}  // namespace muster::bound
