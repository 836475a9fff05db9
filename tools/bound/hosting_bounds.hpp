#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedulers/packing/bound/column_generation.hpp"
#include "tools/bound/hosted_tasks.hpp"

namespace muster::bound {

/// A set of tasks to be hosted at one moment: an hour of work is a task (see HostingProblem).
struct HostingNow {
  FluidProblem problem;
  std::vector<std::uint32_t> kinds;  ///< of each of the problem's: its number among HostedTasks'
  std::uint64_t left_out = 0;  ///< tasks that no type holds, or that take nothing of one that does
  double alone_usd_h = 0;      ///< of all others, each alone
};
HostingNow hosting_now(const Catalog& catalog, const HostedTasks& hosted);

/// The bounds of one moment after the other; the results of a search help the next one.
class HostingBounds {
 public:
  explicit HostingBounds(const Catalog& catalog) : catalog_(catalog) {}

  /// Lower bound in $/h of the cost of any choice of instances for the tasks.
  double of(const HostedTasks& hosted);

 private:
  /// A set of tasks, by their numbers among all kinds.
  struct Known {
    std::uint32_t type = 0;
    std::vector<std::uint32_t> kinds;
  };

  const Catalog& catalog_;
  std::vector<Known> known_;  ///< instances of the last bound
};

/// How far what is rented lies above what it would have to be, over a run.
class RentedGap {
 public:
  explicit RentedGap(const Catalog& catalog) : hosted_(catalog), bounds_(catalog) {}

  /// Takes in the next event of a log.
  void see(const Event& event);
  /// The mean over time of what is rented, over that of the bound of the tasks that hold resources,
  /// less 1; nothing where no task ever did. Of up to kMoments moments, equally far apart.
  std::optional<double> above() const;

 private:
  struct Moment {
    double rented_usd_h = 0;
    double bound_usd_h = 0;
  };
  static constexpr std::size_t kMoments = 1000;

  void sample_until(Instant now);
  void halve();

  HostedTasks hosted_;
  HostingBounds bounds_;
  std::optional<Instant> next_;  ///< the moment after those that are known
  Duration apart_{std::chrono::minutes{1}};
  Moment last_;
  std::vector<Moment> moments_;
};

}  // namespace muster::bound
