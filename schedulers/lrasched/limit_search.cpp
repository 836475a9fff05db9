#include "schedulers/lrasched/limit_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "learning/services/service_family.hpp"
#include "model/goal_number.hpp"
#include "schedulers/lrasched/size_moves.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::lrasched {
namespace {

/// Another number within that of the one before is no news.
constexpr double kLimitNews = 0.05;
/// By which a number has to be better than the goal's bound for one more to be let.
constexpr double kToSpare = 0.02;
/// Performance of the number by which others are told: there is room above it.
constexpr double kUnitLevel = 0.9;
constexpr double kLeastNumber = 1e-300;
constexpr std::size_t kPastShapes = 200;
constexpr std::uint64_t kShapeSeed = 1;
constexpr double kLeastPastGoal = 0.5, kMostPastGoal = 0.9;

/// Replicas of a service on one instance.
struct Together {
  std::uint32_t count = 0;
  std::uint32_t said = 0;  ///< of which the number counts
  double sum = 0;
  bool waits = false;  ///< one has not been ready for long enough
  const Resources* size = nullptr;
  bool is_mixed = false;  ///< of several sizes
};

std::map<Slot, Together> groups_of(const ClusterView& view, const JobRow& job, Duration ready_for) {
  const ServiceGoal& goal = job.job.service()->goal;
  std::map<Slot, Together> groups;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view.state.task(slot);
    if (task.at == kNoSlot) continue;
    Together& group = groups[task.at];
    ++group.count;
    const Resources& size = task.held.amount;
    group.is_mixed |= group.size != nullptr && *group.size != size;
    group.size = &size;
    const auto number = goal_number(task, goal);
    if (!number) continue;
    group.waits |= view.now - task.ready_since < ready_for;
    ++group.said;
    group.sum += *number;
  }
  return groups;
}

/// Cores and memory, by which numbers are told apart.
Resources size_of_note(const Resources& size) {
  return Resources::of(0, size[Resource::cpu], size[Resource::memory]);
}

/// The mean number of the replicas that are that many together, and their size. Instances count on
/// which all have said theirs.
std::vector<LimitStep> shown_by(const ClusterView& view, const JobRow& job, Duration ready_for) {
  struct Mean {
    double sum = 0;
    std::uint32_t count = 0;
    Resources size{};
    bool is_mixed = false;
  };
  std::map<std::uint32_t, Mean> means;
  for (const auto& [slot, group] : groups_of(view, job, ready_for)) {
    const bool counts = group.said == group.count && !group.waits && !group.is_mixed;
    if (!counts || group.count > kMostTogether) continue;
    Mean& mean = means[group.count];
    const Resources size = size_of_note(*group.size);
    mean.is_mixed |= mean.count > 0 && mean.size != size;
    mean.size = size;
    mean.sum += group.sum;
    mean.count += group.said;
  }
  std::vector<LimitStep> steps;
  for (const auto& [together, mean] : means) {
    if (mean.is_mixed) continue;
    steps.push_back({job.job.id, together, mean.sum / mean.count, mean.size, 0});
  }
  return steps;
}

bool is_met_surely(const ServiceGoal& goal, double number) {
  const double to_spare = kToSpare * std::abs(number);
  return goal.is_met(goal.at_least ? number - to_spare : number + to_spare);
}

bool is_as_before(const ServiceGoal& goal, double before, double now) {
  return goal.is_met(before) == goal.is_met(now) &&
         std::abs(now - before) <= kLimitNews * std::abs(before);
}

/// Drawn services of the size with which they just meet a goal.
std::vector<PerformanceCurve> past_shapes() {
  const ServiceSizes sizes = family_sizes();
  Rng rng = Rng::of_round(kShapeSeed, "past shapes", 0);
  std::vector<PerformanceCurve> shapes;
  for (std::size_t i = 0; i < kPastShapes; ++i) {
    const FamilyService service = draw_service(rng);
    const double goal = rng.uniform(kLeastPastGoal, kMostPastGoal);
    const PerformanceCurve alone = performance_curve(service, sizes);
    std::uint32_t right = sizes.largest();
    for (const std::uint32_t at : sizes.by_price()) {
      if (alone[at] < goal) continue;
      right = at;
      break;
    }
    const double unit = performance_unit(service, sizes);
    PerformanceCurve shape;
    for (std::uint32_t together = 1; together <= kMostTogether; ++together) {
      const ReplicaPlace place{sizes[right].cores, sizes[right].memory_gib,
                               static_cast<double>(together)};
      shape.push_back(std::min(1.0, raw_performance(service, place) / unit));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::shared_ptr<const DegreeLearner> learner_of(LearnerKind kind) {
  std::vector<std::uint32_t> degrees(kMostTogether);
  std::iota(degrees.begin(), degrees.end(), 1U);
  LearnerParams params;
  params.kind = kind;
  DegreeLearner learner(std::move(degrees), 1, params);
  learner.learn_curves(0, past_shapes());
  return std::make_shared<const DegreeLearner>(std::move(learner));
}

/// That its user states.
std::uint32_t own_limit(const JobRow& job) {
  return job.job.most_an_instance > 0 ? job.job.most_an_instance : kMostTogether;
}

/// Nothing else changes the service.
bool is_steady(const JobRow& job, const SizedService* sized) {
  if (job.terminal_outcome || job.replicas == 0 || own_limit(job) == 1) return false;
  if (job.wanted != job.replicas || job.leaving > 0) return false;
  return sized == nullptr || (!sized->trial && !sized->failed);
}

/// Where there may be more steps than a round takes, rounds begin with a service by chance: else
/// those of the first ones could be all that is ever taken.
std::map<JobId, LimitedService>::const_iterator first_in_turn(const LimitBook& book, Instant now) {
  const auto& services = book.services();
  if (services.size() * kMostTogether <= LimitSearch::kMostLimitSteps) return services.begin();
  const auto time = static_cast<std::uint64_t>(now.time_since_epoch().count());
  Rng rng = Rng::of_round(kShapeSeed, "limit steps", time);
  return std::next(services.begin(), static_cast<std::ptrdiff_t>(rng.below(services.size())));
}

/// Its replicas have the size that they are to have.
bool has_size(const LimitStep& step, const SizedService* sized) {
  return sized == nullptr || step.size == size_of_note(sized->grant(sized->chosen));
}

}  // namespace

std::vector<LimitStep> LimitSearch::steps(const LimitBook& book, const SizeBook& sizes,
                                          const ClusterView& view) {
  std::vector<LimitStep> steps;
  if (!rules_.learns || rules_.first == 0 || book.services().empty()) return steps;
  auto at = first_in_turn(book, view.now);
  for (std::size_t looked = 0; looked < book.services().size(); ++looked, ++at) {
    if (steps.size() + kMostTogether > kMostLimitSteps) break;
    if (at == book.services().end()) at = book.services().begin();
    const auto& [id, service] = *at;
    const JobRow& job = *view.state.find(id);
    const SizedService* sized = sizes.find(id);
    if (!is_steady(job, sized)) continue;
    LimitedService then = service;
    const std::size_t first = steps.size();
    for (LimitStep& step : shown_by(view, job, rules_.probe_for)) {
      const auto before = then.numbers.find(step.together);
      const bool is_known = before != then.numbers.end() && then.size == step.size;
      if (is_known && is_as_before(then.goal, before->second, step.number)) continue;
      if (!has_size(step, sized)) continue;
      note_number(then, step);
      step.limit = service.limit;
      steps.push_back(step);
    }
    if (steps.size() == first) continue;
    const auto recent = static_cast<std::uint32_t>(
        std::ranges::count_if(service.changes, LimitedService::is_within_day(view.now)));
    if (recent >= rules_.changes_a_day) continue;
    const std::uint32_t next = next_limit(then, job);
    if (next != present(service)) steps.back().limit = next;
  }
  return steps;
}

bool LimitSearch::may_come(const LimitBook& book, const ClusterView& view) const {
  if (!rules_.learns || rules_.first == 0) return false;
  return std::ranges::any_of(book.services(), [&](const auto& each) {
    const JobRow& job = *view.state.find(each.first);
    if (job.terminal_outcome || job.replicas == 0) return false;
    return std::ranges::any_of(groups_of(view, job, rules_.probe_for),
                               [](const auto& group) { return group.second.waits; });
  });
}

std::uint32_t LimitSearch::next_limit(const LimitedService& service, const JobRow& job) {
  const std::uint32_t now = present(service);
  for (const auto& [together, number] : service.numbers) {
    if (together <= now && !service.goal.is_met(number)) {
      return together > 1 ? lower(service, together) : now;
    }
  }
  const auto at_limit = service.numbers.find(now);
  const std::uint32_t most = std::min(
      {rules_.most > 0 ? rules_.most : kMostTogether, kMostTogether, job.replicas, own_limit(job)});
  if (at_limit == service.numbers.end() || now >= most) return now;
  if (!is_met_surely(service.goal, at_limit->second)) return now;
  const auto next = service.numbers.find(now + 1);
  if (next != service.numbers.end()) return service.goal.is_met(next->second) ? now + 1 : now;
  return curve_of(service).is_met(now + 1, true) ? now + 1 : now;
}

/// The largest number below the one that missed the goal with which it was met, or is predicted
/// to be. One replica an instance that misses it, too, needs another size.
std::uint32_t LimitSearch::lower(const LimitedService& service, std::uint32_t missed) {
  const Curve curve = curve_of(service);
  for (std::uint32_t together = missed - 1; together > 0; --together) {
    const auto known = service.numbers.find(together);
    const bool is_met = known != service.numbers.end() ? service.goal.is_met(known->second)
                                                       : curve.is_met(together, false);
    if (is_met) return together;
  }
  return present(service);
}

LimitSearch::Curve LimitSearch::curve_of(const LimitedService& service) {
  if (learner_ == nullptr) learner_ = learner_of(rules_.learner);
  DegreeLearner learner = *learner_;
  const ServiceGoal& goal = service.goal;
  const double unit = std::max(service.numbers.begin()->second, kLeastNumber);
  const auto performance = [&](double number) {
    return kUnitLevel * (goal.at_least ? number / unit : unit / std::max(number, kLeastNumber));
  };
  for (const auto& [together, number] : service.numbers) {
    learner.observe(0, 0,
                    {together - 1, std::clamp(performance(number), 0.0, 1.0), kProductionNoise});
  }
  Curve curve;
  learner.estimate(0, 0, curve.estimate);
  curve.wanted = performance(goal.bound);
  curve.margin = learner.params().margin;
  return curve;
}

std::optional<Slot> one_too_many(const ClusterView& view, const JobRow& job, std::uint32_t limit) {
  const std::uint32_t surge = std::max(1U, job.job.service()->surge);
  if (limit == 0 || job.wanted != job.replicas || job.leaving >= surge || spare_of(job) == 0) {
    return std::nullopt;
  }
  std::map<Slot, std::uint32_t> on;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view.state.task(slot);
    if (task.target == kNoSlot || ++on[task.target] <= limit) continue;
    const bool may_leave = task.wanted && is_endpoint(task) && task.at == task.target;
    if (may_leave && !view.why_pinned(task)) return slot;
  }
  return std::nullopt;
}

}  // namespace muster::lrasched
