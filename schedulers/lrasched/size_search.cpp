#include "schedulers/lrasched/size_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "learning/services/service_family.hpp"
#include "model/goal_number.hpp"
#include "model/log_uniform.hpp"

namespace muster::lrasched {
namespace {

/// Another number within that of the one before is no news.
constexpr double kNews = 0.1;
/// A size is tried that costs that much less at least.
constexpr double kLeastSaving = 0.1;
/// A size is not tried that is less probable to meet the goal.
constexpr double kLeastChance = 0.3;
constexpr double kLeastDeviation = 1e-6;
/// Against a division by 0.
constexpr double kLeastUnit = 1e-300;
constexpr Duration kSecond{std::chrono::seconds{1}};
constexpr std::size_t kMostLearners = 16;
/// Past services that a learner begins with, and the seed by which they are drawn.
constexpr std::size_t kPastServices = 200;
constexpr std::uint64_t kPastSeed = 1;
/// Of the largest size of the family, which is enough for most of it.
constexpr double kLeastAsked = 0.25, kMostAsked = 2;

/// Findings on the replicas of a size.
struct SizeShown {
  std::optional<double> number{};  ///< mean over those that have been ready for long enough
  bool some_ended = false;         ///< the program of one, by itself or for want of memory
  bool some_late = false;          ///< one runs for longer than it has to be ready
  bool number_comes = false;       ///< one has a number, and will have been ready for long enough

  bool fails() const { return some_ended || some_late; }
};

SizeShown shown_by(const ClusterView& view, const JobRow& job, const Resources& grant,
                   Duration ready_for) {
  const ServiceSpec& spec = *job.job.service();
  SizeShown shown;
  double sum = 0;
  std::uint32_t count = 0;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = view.state.task(slot);
    if (!task.wanted || task.phase != TaskPhase::running || task.held.amount != grant) continue;
    shown.some_ended |= task.replica != nullptr && task.replica->restarts > 0;
    shown.some_late |= !is_endpoint(task) && task.started_at + spec.update_within <= view.now;
    const auto number = goal_number(task, spec.goal);
    if (!number) continue;
    if (view.now - task.ready_since < ready_for) {
      shown.number_comes = true;
      continue;
    }
    sum += *number;
    ++count;
  }
  if (count > 0) shown.number = sum / count;
  return shown;
}

/// In [0, 1], where 1 is that of the unit's number.
double performance_of(double number, double unit, bool at_least) {
  const double ratio = at_least ? (unit > 0 ? number / unit : 1) : (number > 0 ? unit / number : 1);
  return std::clamp(ratio, 0.0, 1.0);
}

/// That the performance at that size reaches the value, by the estimate.
double chance_above(double value, const PerformanceEstimate& estimate, std::uint32_t size) {
  const double deviation = std::max(estimate.deviation[size], kLeastDeviation);
  return 0.5 * std::erfc((value - estimate.mean[size]) / (deviation * std::numbers::sqrt2));
}

/// How services do at these sizes whose users ask for the largest one, and for anything between
/// enough and far too much of cores and of memory. Only shares of the largest size count, as
/// services of any size there may be are like the drawn ones.
std::vector<PerformanceCurve> drawn_services(const ServiceSizes& sizes) {
  const ServiceSizes family = family_sizes();
  const ServiceSize &most = sizes[sizes.largest()], &most_of_family = family[family.largest()];
  Rng rng = Rng::of_round(kPastSeed, "past services", 0);
  std::vector<PerformanceCurve> curves;
  for (std::size_t i = 0; i < kPastServices; ++i) {
    const FamilyService service = draw_service(rng);
    const double cores = most_of_family.cores * log_uniform(kLeastAsked, kMostAsked, rng);
    const double gib = most_of_family.memory_gib * log_uniform(kLeastAsked, kMostAsked, rng);
    PerformanceCurve curve;
    for (std::uint32_t at = 0; at < sizes.size(); ++at) {
      curve.push_back(raw_performance(service, {cores * sizes[at].cores / most.cores,
                                                gib * sizes[at].memory_gib / most.memory_gib, 1}));
    }
    const double best = *std::ranges::max_element(curve);
    for (double& each : curve) each /= best;
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<PerformanceCurve> past_services(const SizeRules& rules, const ServiceSizes& sizes) {
  if (rules.past == nullptr) return drawn_services(sizes);
  std::vector<PerformanceCurve> curves;
  for (const PastService& past : *rules.past) curves.push_back(curve_of(past, sizes));
  return curves;
}

/// It has no more of either than a size that has failed.
bool is_below_failed(const SizedService& service, std::uint32_t size) {
  const ServiceSizes& sizes = *service.sizes;
  return std::ranges::any_of(service.numbers, [&](const auto& one) {
    const ServiceSize& other = sizes[one.first];
    return !service.goal.is_met(one.second) && sizes[size].cores <= other.cores &&
           sizes[size].memory_gib <= other.memory_gib;
  });
}

}  // namespace

/// Begins with another service each second: those of one user, however often their numbers change,
/// do not keep the others waiting.
std::vector<SizeStep> SizeSearch::steps(const SizeBook& book, const ClusterView& view) {
  std::vector<SizeStep> steps;
  const auto& all = book.services();
  if (!rules_.learns || all.empty()) return steps;
  const auto second = static_cast<std::uint64_t>(view.now.time_since_epoch() / kSecond);
  const auto first = std::next(all.begin(), static_cast<std::ptrdiff_t>(second % all.size()));
  const auto look = [&](auto from, auto until) {
    for (auto each = from; each != until && steps.size() < kMostStepsARound; ++each) {
      const JobRow& job = *view.state.find(each->first);
      if (job.terminal_outcome || job.replicas == 0) continue;
      const SizedService& service = each->second;
      // It changes nothing more: the book knows it by its event.
      if (service.failed) {
        steps.push_back({each->first, *service.failed, SizeFinding::failed, 1, service.chosen,
                         service.trial, service.goes_on});
      }
      if (auto found = step(service, job, view)) steps.push_back(*found);
    }
  };
  look(first, all.end());
  look(all.begin(), first);
  return steps;
}

bool SizeSearch::may_come(const SizeBook& book, const ClusterView& view) const {
  if (!rules_.learns) return false;
  return std::ranges::any_of(book.services(), [&](const auto& each) {
    const auto& [id, service] = each;
    const JobRow& job = *view.state.find(id);
    if (job.terminal_outcome || job.replicas == 0) return false;
    if (service.trial || service.goes_on) return true;
    return shown_by(view, job, service.grant(service.chosen), rules_.probe_for).number_comes;
  });
}

/// The size that most replicas have counts before the one that is tried.
std::optional<SizeStep> SizeSearch::step(const SizedService& service, const JobRow& job,
                                         const ClusterView& view) {
  const SizeShown chosen = shown_by(view, job, service.grant(service.chosen), rules_.probe_for);
  const bool is_largest = service.chosen == service.sizes->largest();
  if (!is_largest && chosen.fails()) return correction(service, job, std::nullopt, view.now);
  if (!is_largest && chosen.number && !service.goal.is_met(*chosen.number)) {
    return correction(service, job, chosen.number, view.now);
  }
  // A trial begins, and counts, while nothing else changes the service.
  if (job.wanted != job.replicas) return std::nullopt;
  if (service.trial) return step_of_trial(service, job, view);
  if (!chosen.number) return std::nullopt;
  const auto before = service.numbers.find(service.chosen);
  const bool is_news = before == service.numbers.end() ||
                       std::abs(*chosen.number - before->second) > kNews * std::abs(before->second);
  const std::uint32_t left = changes_left(service, job, view.now);
  if (!is_news && (!service.goes_on || left == 0)) return std::nullopt;
  SizeStep step{job.job.id, service.chosen, SizeFinding::number, *chosen.number, service.chosen,
                {},         false};
  return with_trial(service, step, left);
}

/// All replicas do badly: they go where the goal is expected to be met, without a trial.
SizeStep SizeSearch::correction(const SizedService& service, const JobRow& job,
                                std::optional<double> number, Instant now) {
  SizeStep step{job.job.id,
                service.chosen,
                number ? SizeFinding::number : SizeFinding::failed,
                number.value_or(1),
                service.sizes->largest(),
                {},
                true};
  SizedService then = service;
  note_finding(then, step);
  if (changes_left(service, job, now) > 0) step.chosen = predict(then).enough;
  return step;
}

std::optional<SizeStep> SizeSearch::step_of_trial(const SizedService& service, const JobRow& job,
                                                  const ClusterView& view) {
  const std::uint32_t size = *service.trial;
  const SizeShown shown = shown_by(view, job, service.grant(size), rules_.probe_for);
  const std::uint32_t left = changes_left(service, job, view.now);
  SizeStep step{job.job.id, size, SizeFinding::number, 1, service.chosen, {}, false};
  if (shown.fails()) {
    step.found = SizeFinding::failed;
  } else if (shown.number) {
    step.number = *shown.number;
    if (service.goal.is_met(step.number)) step.chosen = size;
  } else if (service.changes.empty() ||
             service.changes.back() + 2 * job.job.service()->update_within < view.now) {
    // No replica could have it, or none says a number: the others stay as they are.
    step.found = SizeFinding::absent;
    step.goes_on = true;
    return step;
  } else {
    return std::nullopt;
  }
  return with_trial(service, step, left);
}

/// The next trial, if there is one to make.
SizeStep SizeSearch::with_trial(const SizedService& service, SizeStep step, std::uint32_t left) {
  SizedService then = service;
  note_finding(then, step);
  then.chosen = step.chosen;
  const std::optional<std::uint32_t> next = predict(then).worth_trying;
  if (left > 0) step.trial = next;
  step.goes_on = next && left == 0;
  return step;
}

std::uint32_t SizeSearch::changes_left(const SizedService& service, const JobRow& job,
                                       Instant now) const {
  const std::uint32_t allowed =
      rules_.changes_a_day + (now - job.accepted_at < SizedService::kDay ? kFirstChanges : 0);
  const auto recent = static_cast<std::uint32_t>(
      std::ranges::count_if(service.changes, SizedService::is_within_day(now)));
  return allowed > recent ? allowed - recent : 0;
}

SizeSearch::Prediction SizeSearch::predict(const SizedService& service) {
  const auto& numbers = service.numbers;
  const ServiceSizes& sizes = *service.sizes;
  const ServiceGoal& goal = service.goal;
  const auto of_largest = numbers.find(sizes.largest());
  const double unit = of_largest != numbers.end() ? of_largest->second : numbers.begin()->second;
  const double wanted = goal.at_least ? goal.bound / std::max(unit, kLeastUnit) : unit / goal.bound;
  PerformanceLearner learner = learner_for(sizes);
  for (const auto& [size, number] : numbers) {
    learner.observe(0, {size, performance_of(number, unit, goal.at_least)});
  }
  PerformanceEstimate estimate;
  const SizeChoice careful = learner.choose(0, wanted, estimate);
  Prediction predicted{sizes.largest(), {}};
  const double price_usd_h = sizes[service.chosen].price_usd_h;
  if (sizes[careful.at].price_usd_h > price_usd_h) predicted.enough = careful.at;
  double best_usd_h = 0;
  for (std::uint32_t size = 0; size < sizes.size(); ++size) {
    const double saved_usd_h = price_usd_h - sizes[size].price_usd_h;
    const auto known = numbers.find(size);
    const double chance = known != numbers.end() ? (goal.is_met(known->second) ? 1.0 : 0.0)
                                                 : chance_above(wanted, estimate, size);
    if (saved_usd_h < kLeastSaving * price_usd_h || chance < kLeastChance) continue;
    if (is_below_failed(service, size)) continue;
    if (chance * saved_usd_h <= best_usd_h) continue;
    best_usd_h = chance * saved_usd_h;
    predicted.worth_trying = size;
  }
  return predicted;
}

const PerformanceLearner& SizeSearch::learner_for(const ServiceSizes& sizes) {
  const auto known = std::ranges::find(
      learners_, sizes, [](const auto& each) -> const auto& { return each.first; });
  if (known != learners_.end()) return *known->second;
  if (learners_.size() == kMostLearners) learners_.clear();
  LearnerParams params;
  params.kind = rules_.learner;
  static_assert(HistoryParams{}.most_curves >= kMostPastServices, "it keeps all of a file");
  PerformanceLearner learner(sizes, params);
  learner.learn_curves(past_services(rules_, sizes));
  return *learners_
              .emplace_back(sizes, std::make_shared<const PerformanceLearner>(std::move(learner)))
              .second;
}

}  // namespace muster::lrasched
