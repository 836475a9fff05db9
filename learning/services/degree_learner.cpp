#include "learning/services/degree_learner.hpp"

#include <algorithm>
#include <utility>

#include "learning/services/learner_parts.hpp"

namespace muster {
namespace {

constexpr std::string_view kDegreesKind = "service-degrees";
constexpr unsigned kDegreesVersion = 1;
constexpr std::uint32_t kGreatestDegree = 1024;

std::variant<ShapeHistory, std::vector<ServiceRows>> degree_model(std::uint32_t points,
                                                                  std::uint32_t sizes,
                                                                  const LearnerParams& params) {
  if (params.kind == LearnerKind::history) return ShapeHistory(points, sizes, params.history);
  return std::vector<ServiceRows>(sizes, rows_of(points, params));
}

}  // namespace

bool valid_degrees(std::span<const std::uint32_t> degrees) {
  if (degrees.empty() || degrees.size() > kMostDegrees) return false;
  if (degrees.front() < 1 || degrees.back() > kGreatestDegree) return false;
  return std::ranges::adjacent_find(degrees, std::ranges::greater_equal()) == degrees.end();
}

DegreeLearner::DegreeLearner(std::vector<std::uint32_t> degrees, std::uint32_t sizes,
                             const LearnerParams& params)
    : degrees_(std::move(degrees)),
      sizes_(sizes),
      params_(params),
      model_(degree_model(points(), sizes, params)),
      book_(params.most_services) {
  MUSTER_CHECK(valid_degrees(degrees_), "services are compared at rising degrees");
  MUSTER_CHECK(valid_learner_params(params), "the params of a learner are in their range");
}

void DegreeLearner::learn_curves(std::uint32_t size, std::span<const PerformanceCurve> curves) {
  MUSTER_CHECK(size < sizes_, "curves are of a known size");
  if (auto* shapes = std::get_if<ShapeHistory>(&model_)) {
    shapes->add(size, curves);
  } else {
    (*std::get_if<Rows>(&model_))[size].learn_curves(curves);
  }
}

void DegreeLearner::observe(std::uint64_t service, std::uint32_t size,
                            const PerformanceSample& sample) {
  if (size >= sizes_ || sample.at >= points() || !is_measurable(sample)) return;
  const auto* known = book_.find(service);
  if (known != nullptr && known->size != size) forget(service);
  auto& entry = book_.entry(service);
  entry.size = size;
  take_up(entry.measured, sample);
  if (auto* rows = std::get_if<Rows>(&model_)) {
    (*rows)[size].learn(service, entry.measured, sample.at);
  }
  if (book_.is_over()) forget(book_.first());
}

void DegreeLearner::forget(std::uint64_t service) {
  const auto* known = book_.find(service);
  if (known == nullptr) return;
  if (auto* rows = std::get_if<Rows>(&model_)) (*rows)[known->size].forget(service);
  book_.erase(service);
}

std::span<const MeasuredPoint> DegreeLearner::measured(std::uint64_t service,
                                                       std::uint32_t size) const {
  const auto* known = book_.find(service);
  if (known == nullptr || known->size != size) return {};
  return known->measured;
}

void DegreeLearner::estimate(std::uint64_t service, std::uint32_t size,
                             PerformanceEstimate& out) const {
  MUSTER_CHECK(size < sizes_, "an estimate is of a known size");
  if (const auto* shapes = std::get_if<ShapeHistory>(&model_)) {
    shapes->estimate(size, measured(service, size), out);
  } else {
    (*std::get_if<Rows>(&model_))[size].estimate(service, measured(service, size), out);
  }
}

std::optional<std::uint32_t> DegreeLearner::next_probe(std::uint64_t service,
                                                       std::uint32_t size) const {
  MUSTER_CHECK(size < sizes_, "a probe is at a known size");
  if (const auto* shapes = std::get_if<ShapeHistory>(&model_)) {
    return shapes->next_probe(size, measured(service, size));
  }
  return drawn_probe(service, measured(service, size), points());
}

DegreeChoice DegreeLearner::choose(std::uint64_t service, std::uint32_t size, double goal) const {
  PerformanceEstimate now;
  estimate(service, size, now);
  const auto known = measured(service, size);
  for (std::uint32_t at = points(); at-- > 0;) {
    const MeasuredPoint* value = measured_at(known, at);
    const double expected =
        value != nullptr ? value->value : now.mean[at] - params_.margin * now.deviation[at];
    if (expected >= goal) return {at, degrees_[at], true};
  }
  return {0, degrees_[0], false};
}

void DegreeLearner::write(ModelWriter& out) const {
  out.line("degrees").whole(sizes_).whole(degrees_.size());
  for (const std::uint32_t degree : degrees_) out.whole(degree);
  write_learner_params(out, params_);
  if (const auto* shapes = std::get_if<ShapeHistory>(&model_)) {
    shapes->write(out);
  } else {
    for (const ServiceRows& rows : *std::get_if<Rows>(&model_)) rows.write(out);
  }
  book_.write(out);
}

bool DegreeLearner::models_fit() const {
  if (const auto* shapes = std::get_if<ShapeHistory>(&model_)) {
    return shapes->points() == points() && shapes->sizes() == sizes_;
  }
  std::vector<const ServiceRows*> all;
  for (const ServiceRows& rows : *std::get_if<Rows>(&model_)) {
    if (rows.points() != points()) return false;
    all.push_back(&rows);
  }
  return rows_fit(all, book_);
}

DegreeLearner DegreeLearner::read(ModelReader& in) {
  in.line("degrees");
  const auto sizes = static_cast<std::uint32_t>(in.whole(1, kMostPoints));
  const std::uint64_t count = in.whole(1, kMostDegrees);
  std::vector<std::uint32_t> degrees;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    degrees.push_back(static_cast<std::uint32_t>(in.whole(1, kGreatestDegree)));
  }
  if (!valid_degrees(degrees)) {
    in.refuse("degrees that do not rise");
    degrees = {1};
  }
  const LearnerParams params = read_learner_params(in);
  DegreeLearner learner(std::move(degrees), sizes, params);
  if (auto* shapes = std::get_if<ShapeHistory>(&learner.model_)) {
    *shapes = ShapeHistory::read(in);
  } else {
    for (ServiceRows& rows : *std::get_if<Rows>(&learner.model_)) rows = ServiceRows::read(in);
  }
  learner.book_.read(in, sizes, learner.points());
  if (in.ok() && !learner.models_fit()) in.refuse("models of other services or degrees");
  return learner;
}

std::string degrees_text(const DegreeLearner& learner) {
  return sealed_text(kDegreesKind, kDegreesVersion, learner);
}

Expected<DegreeLearner, LearnError> parse_degrees(std::string_view text) {
  return parse_sealed(kDegreesKind, kDegreesVersion, text, DegreeLearner::read);
}

}  // namespace muster
