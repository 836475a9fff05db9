#include "learning/services/performance_learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learning/services/learner_parts.hpp"

namespace muster {
namespace {

constexpr std::string_view kPerformanceKind = "service-performance";
constexpr unsigned kPerformanceVersion = 1;

std::variant<PerformanceHistory, ServiceRows> model_of(std::uint32_t points,
                                                       const LearnerParams& params) {
  if (params.kind == LearnerKind::history) return PerformanceHistory(points, params.history);
  return rows_of(points, params);
}

}  // namespace

SizeChoice choose_size(const ServiceSizes& sizes, const PerformanceEstimate& estimate,
                       std::span<const MeasuredPoint> measured, const SizeGoal& goal) {
  MUSTER_CHECK(estimate.mean.size() == sizes.size(), "the estimate is of these configurations");
  const auto reaches = [&](std::uint32_t at, double deviations) {
    if (const MeasuredPoint* known = measured_at(measured, at)) {
      return known->value - deviations * std::sqrt(known->variance) >= goal.value;
    }
    return estimate.mean[at] - deviations * estimate.deviation[at] >= goal.value;
  };
  const auto order = sizes.by_price();
  std::size_t bold = 0;
  while (bold < order.size() && !reaches(order[bold], 0)) ++bold;
  std::size_t careful = bold;
  while (careful < order.size() && !reaches(order[careful], goal.margin)) ++careful;
  SizeChoice choice;
  choice.settled = bold == careful;
  choice.reached = careful < order.size();
  choice.at = choice.reached ? order[careful] : sizes.largest();
  return choice;
}

PerformanceLearner::PerformanceLearner(ServiceSizes sizes, const LearnerParams& params)
    : sizes_(std::move(sizes)),
      params_(params),
      model_(model_of(sizes_.size(), params)),
      book_(params.most_services) {
  MUSTER_CHECK(valid_learner_params(params), "the params of a learner are in their range");
}

void PerformanceLearner::learn_curves(std::span<const PerformanceCurve> curves) {
  if (auto* history = std::get_if<PerformanceHistory>(&model_)) {
    history->add(curves);
  } else {
    std::get_if<ServiceRows>(&model_)->learn_curves(curves);
  }
}

void PerformanceLearner::observe(std::uint64_t service, const PerformanceSample& sample) {
  if (sample.at >= sizes_.size() || !is_measurable(sample)) return;
  auto& entry = book_.entry(service);
  take_up(entry.measured, sample);
  if (auto* rows = std::get_if<ServiceRows>(&model_)) {
    rows->learn(service, entry.measured, sample.at);
  }
  if (book_.is_over()) forget(book_.first());
}

void PerformanceLearner::forget(std::uint64_t service) {
  book_.erase(service);
  if (auto* rows = std::get_if<ServiceRows>(&model_)) rows->forget(service);
}

void PerformanceLearner::estimate(std::uint64_t service, PerformanceEstimate& out) const {
  if (const auto* history = std::get_if<PerformanceHistory>(&model_)) {
    history->estimate(measured(service), out);
    sizes_.make_monotone(out.mean);
  } else {
    std::get_if<ServiceRows>(&model_)->estimate(service, measured(service), out);
  }
}

std::optional<std::uint32_t> PerformanceLearner::next_probe(std::uint64_t service) const {
  if (const auto* history = std::get_if<PerformanceHistory>(&model_)) {
    return history->next_probe(measured(service));
  }
  return drawn_probe(service, measured(service), sizes_.size());
}

SizeChoice PerformanceLearner::choose(std::uint64_t service, double goal,
                                      PerformanceEstimate& scratch) const {
  estimate(service, scratch);
  return choose_size(sizes_, scratch, measured(service), {goal, params_.margin});
}

void PerformanceLearner::write(ModelWriter& out) const {
  sizes_.write(out);
  write_learner_params(out, params_);
  std::visit([&out](const auto& model) { model.write(out); }, model_);
  book_.write(out);
}

PerformanceLearner PerformanceLearner::read(ModelReader& in) {
  ServiceSizes sizes = ServiceSizes::read(in);
  LearnerParams params = read_learner_params(in);
  PerformanceLearner learner(std::move(sizes), params);
  const std::uint32_t points = learner.sizes_.size();
  if (params.kind == LearnerKind::history) {
    PerformanceHistory history = PerformanceHistory::read(in);
    if (history.points() != points) in.refuse("a history of other configurations");
    if (in.ok()) learner.model_ = std::move(history);
  } else {
    ServiceRows rows = ServiceRows::read(in);
    if (rows.points() != points) in.refuse("rows of other configurations");
    if (in.ok()) learner.model_ = std::move(rows);
  }
  learner.book_.read(in, 1, points);
  if (const auto* rows = std::get_if<ServiceRows>(&learner.model_)) {
    const ServiceRows* all[] = {rows};
    if (in.ok() && !rows_fit(all, learner.book_)) in.refuse("rows of other services");
  }
  return learner;
}

std::string performance_text(const PerformanceLearner& learner) {
  return sealed_text(kPerformanceKind, kPerformanceVersion, learner);
}

Expected<PerformanceLearner, LearnError> parse_performance(std::string_view text) {
  return parse_sealed(kPerformanceKind, kPerformanceVersion, text, PerformanceLearner::read);
}

}  // namespace muster
