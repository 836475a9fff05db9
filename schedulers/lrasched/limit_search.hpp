#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "learning/services/degree_learner.hpp"
#include "schedulers/lrasched/limit_book.hpp"
#include "schedulers/lrasched/size_book.hpp"

namespace muster::lrasched {

/// How the number of replicas that an instance may hold is learnt.
struct LimitRules {
  bool learns = true;       ///< no: it is what the policy is told
  std::uint32_t first = 2;  ///< with which services begin; 0: any number, and nothing is learnt
  std::uint32_t most = 0;   ///< the largest limit; 0: kMostTogether
  LearnerKind learner = LearnerKind::history;
  Duration probe_for{std::chrono::seconds{30}};  ///< that replicas are ready before theirs count
  std::uint32_t changes_a_day = 3;               ///< of a service's limit
};

/// Looks for the largest number of replicas of a service on one instance with which it meets its
/// goal. One more is let where those that have the limit meet the goal with something to spare, and
/// one more is predicted to; fewer as soon as they miss it, where fewer have met it or are
/// predicted to. A number with which it was missed is not tried again until the load has changed.
class LimitSearch {
 public:
  explicit LimitSearch(const LimitRules& rules) : rules_(rules) {}

  /// The steps that are due, at most kMostLimitSteps: where there are more, those of services by
  /// chance. O(replicas of the services).
  std::vector<LimitStep> steps(const LimitBook& book, const SizeBook& sizes,
                               const ClusterView& view);
  /// Time alone may bring a step, without another event.
  bool may_come(const LimitBook& book, const ClusterView& view) const;

  static constexpr std::size_t kMostLimitSteps = 64;

 private:
  std::uint32_t present(const LimitedService& service) const {
    return service.limit > 0 ? service.limit : rules_.first;
  }
  std::uint32_t next_limit(const LimitedService& service, const JobRow& job);
  std::uint32_t lower(const LimitedService& service, std::uint32_t missed);
  /// Performance with each number of replicas together, where `wanted` meets the goal.
  struct Curve {
    PerformanceEstimate estimate{};
    double wanted = 0;
    double margin = 0;

    bool is_met(std::uint32_t together, bool surely) const {
      const double least = surely ? margin * estimate.deviation[together - 1] : 0;
      return estimate.mean[together - 1] - least >= wanted;
    }
  };
  Curve curve_of(const LimitedService& service);

  LimitRules rules_;
  std::shared_ptr<const DegreeLearner> learner_;  ///< made when it is first asked
};

/// A replica that runs and has to leave its instance, as more of its service are there than the
/// limit: nothing where all are within it, or none may leave now. O(replicas).
std::optional<Slot> one_too_many(const ClusterView& view, const JobRow& job, std::uint32_t limit);

}  // namespace muster::lrasched
