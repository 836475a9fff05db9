#include "masters/services/autoscaler.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "model/goal_number.hpp"

namespace muster {
namespace {

/// Numbers this near to the bound are as good as it.
constexpr double kTolerance = 0.1;
/// The error that rounding leaves in a quotient that is whole.
constexpr double kRounding = 1e-9;

/// No faster than to twice as many at once: one number may be an outlier.
constexpr double kMostGrowth = 2;

/// Replicas that were asked for and do not run yet.
bool some_are_coming(const ClusterState& state, const JobRow& job) {
  return std::ranges::any_of(job.tasks, [&](Slot slot) {
    const TaskRow& task = state.task(slot);
    return task.wanted && (task.phase == TaskPhase::pending || task.phase == TaskPhase::assigned ||
                           task.phase == TaskPhase::starting);
  });
}

/// Over the replicas of which `number_of` gives one.
template <class NumberOf>
std::optional<GoalFigure> mean_of(const ClusterState& state, const JobRow& job,
                                  const NumberOf& number_of) {
  const ServiceGoal& goal = job.job.service()->goal;
  GoalFigure figure;
  double sum = 0;
  for (const Slot slot : job.tasks) {
    const auto number = number_of(state.task(slot), goal);
    if (!number) continue;
    sum += *number;
    ++figure.replicas;
  }
  if (figure.replicas == 0) return std::nullopt;
  figure.mean = sum / figure.replicas;
  return figure;
}

}  // namespace

std::optional<GoalFigure> goal_figure(const ClusterState& state, const JobRow& job) {
  return mean_of(state, job, goal_number);
}

std::optional<GoalFigure> served_figure(const ClusterState& state, const JobRow& job) {
  return mean_of(state, job, served_number);
}

std::uint32_t wished_replicas(const JobRow& job, const GoalFigure& measured) {
  const ServiceSpec& service = *job.job.service();
  const ServiceGoal& goal = service.goal;
  // A throughput of nothing at all asks for as many more as there may be at once.
  const double ratio = !goal.at_least      ? measured.mean / goal.bound
                       : measured.mean > 0 ? goal.bound / measured.mean
                                           : kMostGrowth;
  // Replicas without a number are at the bound where that asks for fewer, and do nothing where it
  // asks for more: the number of some never takes the others away.
  const double replicas = job.replicas;
  const double said = std::min<double>(measured.replicas, replicas);
  double wish = replicas;
  if (std::abs(ratio - 1) > kTolerance) {
    wish = std::ceil(said * std::clamp(ratio, 0.0, kMostGrowth) - kRounding);
    wish = ratio < 1 ? wish + (replicas - said) : std::max(wish, replicas);
  }
  return static_cast<std::uint32_t>(std::clamp<double>(wish, service.least, service.most));
}

std::vector<ServiceScaled> Autoscaler::take_due(Instant now) {
  std::vector<ServiceScaled> due;
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const JobId id = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    const auto known = services_.find(id);
    const JobRow* job = recorder_.facts().state.find(id);
    if (known == services_.end() || job == nullptr) continue;
    by_time_.emplace(now + kScaleEvery, id);
    if (const auto scaled = look_at(*job, known->second, now)) due.push_back(*scaled);
  }
  return due;
}

std::optional<ServiceScaled> Autoscaler::look_at(const JobRow& job, Wishes& wishes,
                                                 Instant now) const {
  // Numbers measured while replicas come and go say little of how many there should be.
  const bool changes = !job.settled || job.wanted != job.replicas || job.leaving > 0;
  const bool scales = job.replicas > 0 && !job.terminal_outcome && !job.held_by_user;
  const auto measured =
      changes || !scales ? std::nullopt : goal_figure(recorder_.facts().state, job);
  if (!measured) {
    wishes.clear();
    return std::nullopt;
  }
  const std::uint32_t wish = wished_replicas(job, *measured);
  wishes.emplace_back(now, wish);
  const bool long_enough = now - wishes.front().first >= kShrinkAfter;
  std::uint32_t most = 0;
  for (const auto& [at, replicas] : wishes) most = std::max(most, replicas);
  while (now - wishes.front().first >= kShrinkAfter) wishes.pop_front();
  const bool grows = wish > job.replicas && !some_are_coming(recorder_.facts().state, job);
  const bool shrinks = most < job.replicas && long_enough;
  if (!grows && !shrinks) return std::nullopt;
  wishes.clear();
  return ServiceScaled{job.job.id, grows ? wish : most, measured->mean};
}

std::optional<Instant> Autoscaler::next() const {
  return by_time_.empty() ? std::nullopt : std::optional(by_time_.begin()->first);
}

void Autoscaler::begin(const Job& job, Instant at) {
  if (job.service() == nullptr || !job.service()->scales()) return;
  services_[job.id];
  by_time_.emplace(at + kScaleEvery, job.id);
}

void Autoscaler::after(const Event& event, const MasterFacts&) {
  if (const auto* accepted = std::get_if<JobAccepted>(&event.body)) {
    begin(accepted->job, event.at);
  } else if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    services_.erase(over->job);
  }
}

void Autoscaler::restored(const MasterFacts& facts) {
  for (const JobId id : facts.services) begin(facts.state.find(id)->job, facts.newest);
}

}  // namespace muster
