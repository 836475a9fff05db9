#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "learning/services/past_services.hpp"
#include "learning/services/performance_learner.hpp"
#include "schedulers/lrasched/size_book.hpp"

namespace muster::lrasched {

/// How sizes are searched for.
struct SizeRules {
  bool learns = true;  ///< no: services have the size that their users ask for
  LearnerKind learner = LearnerKind::history;
  /// Time that a replica is ready before its number counts, and that a size is tried for at least.
  Duration probe_for{std::chrono::seconds{30}};
  std::uint32_t changes_a_day = 3;  ///< of a service's size; kFirstChanges more in its first day
  std::filesystem::path history{};  ///< of past services that were measured; empty: drawn ones
  /// Those of the history; null: drawn ones.
  std::shared_ptr<const std::vector<PastService>> past{};
};
inline constexpr std::uint32_t kFirstChanges = 5;

/// Looks for the cheapest size with which a service meets its goal. It begins with what its user
/// asks for; one replica tries a smaller one at a time, and the others follow when that one meets
/// the goal. A size that does not meet it any more, or at which a replica's program has ended, is
/// left at once, by all replicas. Which size to try is predicted from past services that were
/// measured, or drawn ones of known performance, and from the numbers of sizes that the service has
/// had.
class SizeSearch {
 public:
  explicit SizeSearch(const SizeRules& rules) : rules_(rules) {}

  /// The steps that are due, at most kMostStepsARound and one. O(replicas of the services); a step
  /// costs microseconds, and the first one of a range of sizes some milliseconds.
  std::vector<SizeStep> steps(const SizeBook& book, const ClusterView& view);
  /// Time alone may bring a step, without another event.
  bool may_come(const SizeBook& book, const ClusterView& view) const;

  static constexpr std::size_t kMostStepsARound = 64;

 private:
  std::optional<SizeStep> step(const SizedService& service, const JobRow& job,
                               const ClusterView& view);
  SizeStep correction(const SizedService& service, const JobRow& job, std::optional<double> number,
                      Instant now);
  std::optional<SizeStep> step_of_trial(const SizedService& service, const JobRow& job,
                                        const ClusterView& view);
  SizeStep with_trial(const SizedService& service, SizeStep step, std::uint32_t left);
  std::uint32_t changes_left(const SizedService& service, const JobRow& job, Instant now) const;
  /// By what was measured of a service.
  struct Prediction {
    std::uint32_t enough = 0;  ///< the cheapest larger size that is expected to meet the goal
    /// The smaller one with which most is saved, by its price and its chance to meet the goal.
    std::optional<std::uint32_t> worth_trying{};
  };
  Prediction predict(const SizedService& service);
  const PerformanceLearner& learner_for(const ServiceSizes& sizes);

  SizeRules rules_;
  /// By sizes, a cache; all are forgotten when there are too many.
  std::vector<std::pair<ServiceSizes, std::shared_ptr<const PerformanceLearner>>> learners_;
};

}  // namespace muster::lrasched
