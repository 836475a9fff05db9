#include "learning/services/shape_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learning/services/curve_distances.hpp"

namespace muster {
namespace {

/// A size with fewer shapes than this goes by those of all sizes.
constexpr std::size_t kFewShapes = 8;
/// A shape above this is a mistake of measurement.
constexpr double kGreatestShape = 10;
/// Of shapes before there are any.
constexpr double kUnknownShapeVariance = 0.05;

}  // namespace

/// The hypotheses of one group in the light of measurements.
class ShapeHistory::Fit {
 public:
  Fit(const ShapeHistory& history, const Group& group, std::span<const MeasuredPoint> measured);

  void estimate(PerformanceEstimate& out) const;

 private:
  struct Bent {
    double fit = 0;  ///< logarithm of the likelihood at the best level
    double log_weight = 0;
    double level_variance = 0;
    Shape values{};
  };

  void factorize();
  Bent bend(const Shape& shape) const;
  /// Solution x of S x = b for the covariance S of the measurements.
  Shape solve(Shape b) const;

  const ShapeHistory& history_;
  const Group& group_;
  std::span<const MeasuredPoint> measured_;
  double level_ = 1;  ///< by which the spread of shapes is that of values
  Square lower_{};    ///< Cholesky factor of S
};

ShapeHistory::Fit::Fit(const ShapeHistory& history, const Group& group,
                       std::span<const MeasuredPoint> measured)
    : history_(history), group_(group), measured_(measured) {
  MUSTER_CHECK(measured.size() <= history.points_, "each degree is measured once at most");
  double values = 0, shapes = 0;
  for (const MeasuredPoint& one : measured) {
    values += one.value;
    shapes += group.mean[one.at];
  }
  if (shapes > 0) level_ = values / shapes;
  factorize();
}

void ShapeHistory::Fit::factorize() {
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = level_ * level_ * group_.spread[measured_[i].at][measured_[j].at];
      if (i == j) sum += measured_[i].variance + history_.params_.least_variance;
      for (std::size_t k = 0; k < j; ++k) sum -= lower_[i][k] * lower_[j][k];
      lower_[i][j] = i == j ? std::sqrt(std::max(sum, kLeastLearnt)) : sum / lower_[j][j];
    }
  }
}

ShapeHistory::Shape ShapeHistory::Fit::solve(Shape b) const {
  const std::size_t count = measured_.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= lower_[i][k] * b[k];
    b[i] /= lower_[i][i];
  }
  for (std::size_t i = count; i-- > 0;) {
    for (std::size_t k = i + 1; k < count; ++k) b[i] -= lower_[k][i] * b[k];
    b[i] /= lower_[i][i];
  }
  return b;
}

/// The shape at the level that fits best, drawn towards what was measured.
ShapeHistory::Fit::Bent ShapeHistory::Fit::bend(const Shape& shape) const {
  Bent bent;
  const std::size_t count = measured_.size();
  double level = level_;
  Shape off{};
  if (count > 0) {
    Shape seen{};
    for (std::size_t i = 0; i < count; ++i) seen[i] = shape[measured_[i].at];
    const Shape weights = solve(seen);
    double above = 0, below = 0;
    for (std::size_t i = 0; i < count; ++i) {
      above += weights[i] * measured_[i].value;
      below += weights[i] * seen[i];
    }
    if (below > kLeastLearnt) {
      // No service performs better than its best.
      level = std::min(1.0, above / below);
      bent.level_variance = 1 / below;
      // The weight is that of all levels of the shape together.
      bent.log_weight = -std::log(below) / 2;
    }
    for (std::size_t i = 0; i < count; ++i) off[i] = measured_[i].value - level * seen[i];
  }
  const Shape pull = solve(off);
  for (std::size_t i = 0; i < count; ++i) bent.fit -= off[i] * pull[i] / 2;
  bent.log_weight += bent.fit;
  for (std::uint32_t p = 0; p < history_.points_; ++p) {
    bent.values[p] = level * shape[p];
    for (std::size_t i = 0; i < count; ++i) {
      bent.values[p] += level_ * level_ * group_.spread[p][measured_[i].at] * pull[i];
    }
  }
  return bent;
}

void ShapeHistory::Fit::estimate(PerformanceEstimate& out) const {
  const std::uint32_t points = history_.points_;
  Shape sum{}, squares{};
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  double weights = 0, best = kLeast;
  out.fit = kLeast;
  const auto take = [&](const Shape& shape) {
    const Bent bent = bend(shape);
    out.fit = std::max(out.fit, bent.fit);
    if (bent.log_weight > best) {
      // All sums are relative to the best one's weight.
      const double shrink = std::exp(best - bent.log_weight);
      for (std::uint32_t p = 0; p < points; ++p) {
        sum[p] *= shrink;
        squares[p] *= shrink;
      }
      weights *= shrink;
      best = bent.log_weight;
    }
    const double weight = std::exp(bent.log_weight - best);
    weights += weight;
    for (std::uint32_t p = 0; p < points; ++p) {
      const double value = bent.values[p], level = bent.level_variance * shape[p] * shape[p];
      sum[p] += weight * value;
      squares[p] += weight * (value * value + level);
    }
  };
  if (group_.shapes.empty()) take(group_.mean);
  for (const Shape& shape : group_.shapes) take(shape);
  for (std::uint32_t p = 0; p < points; ++p) {
    const double mean = sum[p] / weights;
    Shape with{};
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      with[i] = level_ * level_ * group_.spread[p][measured_[i].at];
    }
    const Shape gain = solve(with);
    double variance = std::max(0.0, squares[p] / weights - mean * mean);
    double around = level_ * level_ * group_.spread[p][p];
    for (std::size_t i = 0; i < measured_.size(); ++i) around -= gain[i] * with[i];
    out.mean[p] = std::clamp(mean, 0.0, 1.0);
    out.deviation[p] = std::sqrt(variance + std::max(0.0, around));
  }
}

ShapeHistory::ShapeHistory(std::uint32_t points, std::uint32_t sizes, const HistoryParams& params)
    : points_(points), params_(params), groups_(std::size_t{sizes} + 1) {
  MUSTER_CHECK(points > 0 && points <= kMostDegrees, "there are a few degrees");
  MUSTER_CHECK(sizes > 0 && sizes <= kMostPoints, "there is a bounded number of sizes");
  MUSTER_CHECK(valid_history_params(params), "the params of a history are in their range");
  for (Group& group : groups_) relate(group);
}

std::uint32_t ShapeHistory::shapes(std::uint32_t size) const {
  return static_cast<std::uint32_t>(groups_[size].shapes.size());
}

const ShapeHistory::Group& ShapeHistory::group_of(std::uint32_t size) const {
  return groups_[size].shapes.size() < kFewShapes ? groups_.back() : groups_[size];
}

void ShapeHistory::append(Group& group, const Shape& shape) const {
  if (group.shapes.size() == params_.most_curves) group.shapes.erase(group.shapes.begin());
  group.shapes.push_back(shape);
}

void ShapeHistory::add(std::uint32_t size, std::span<const PerformanceCurve> curves) {
  MUSTER_CHECK(size < sizes(), "curves are of a known size");
  for (const PerformanceCurve& curve : curves) {
    MUSTER_CHECK(curve.size() == points_, "a curve has a value at each degree");
    if (!(curve.front() > kLeastLearnt)) continue;
    Shape shape{};
    for (std::uint32_t p = 0; p < points_; ++p) {
      const double value = curve[p] / curve.front();
      shape[p] = std::isfinite(value) ? std::clamp(value, 0.0, kGreatestShape) : 0;
    }
    append(groups_[size], shape);
    append(groups_.back(), shape);
  }
  relate(groups_[size]);
  relate(groups_.back());
}

/// Learns from the shapes how near ones differ.
void ShapeHistory::relate(Group& group) const {
  group.mean.fill(0);
  group.spread = {};
  std::vector<double> values;
  for (const Shape& shape : group.shapes) {
    values.insert(values.end(), shape.begin(), shape.begin() + points_);
    for (std::uint32_t p = 0; p < points_; ++p) {
      group.mean[p] += shape[p] / static_cast<double>(group.shapes.size());
    }
  }
  if (group.shapes.empty()) std::fill_n(group.mean.begin(), points_, 1.0);
  const CurveDistances distances(values, points_);
  double pairs = 0;
  for (const std::uint32_t a : distances.left()) {
    for (const std::uint32_t b : distances.nearest(a, params_.nearest)) {
      ++pairs;
      for (std::uint32_t p = 0; p < points_; ++p) {
        for (std::uint32_t q = 0; q < points_; ++q) {
          group.spread[p][q] +=
              (group.shapes[a][p] - group.shapes[b][p]) * (group.shapes[a][q] - group.shapes[b][q]);
        }
      }
    }
  }
  const double unknown = group.shapes.size() <= params_.nearest ? kUnknownShapeVariance : 0;
  for (std::uint32_t p = 0; p < points_; ++p) {
    for (std::uint32_t q = 0; q < points_; ++q) {
      if (pairs > 0) group.spread[p][q] *= params_.spread / pairs;
    }
    group.spread[p][p] += params_.ridge + unknown;
  }
}

void ShapeHistory::estimate(std::uint32_t size, std::span<const MeasuredPoint> measured,
                            PerformanceEstimate& out) const {
  out.mean.resize(points_);
  out.deviation.resize(points_);
  Fit(*this, group_of(size), measured).estimate(out);
}

std::optional<std::uint32_t> ShapeHistory::next_probe(
    std::uint32_t size, std::span<const MeasuredPoint> measured) const {
  PerformanceEstimate now;
  estimate(size, measured, now);
  std::optional<std::uint32_t> best;
  for (std::uint32_t p = 0; p < points_; ++p) {
    if (measured_at(measured, p) != nullptr) continue;
    if (!best || now.deviation[p] > now.deviation[*best]) best = p;
  }
  return best;
}

void ShapeHistory::write(ModelWriter& out) const {
  write_history_params(out, params_);
  out.line("shapes").whole(points_).whole(sizes());
  for (const Group& group : groups_) {
    out.line("group").whole(group.shapes.size());
    for (const Shape& shape : group.shapes) {
      out.line("shape");
      for (std::uint32_t p = 0; p < points_; ++p) out.number(shape[p]);
    }
  }
}

ShapeHistory ShapeHistory::read(ModelReader& in) {
  const HistoryParams params = read_history_params(in);
  in.line("shapes");
  const auto points = static_cast<std::uint32_t>(in.whole(1, kMostDegrees));
  const auto sizes = static_cast<std::uint32_t>(in.whole(1, kMostPoints));
  ShapeHistory history(points, sizes, params);
  for (Group& group : history.groups_) {
    in.line("group");
    const std::uint64_t count = in.whole(0, params.most_curves);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
      in.line("shape");
      Shape& shape = group.shapes.emplace_back();
      for (std::uint32_t p = 0; p < points; ++p) shape[p] = in.number(0, kGreatestShape);
    }
    if (in.ok()) history.relate(group);
  }
  return history;
}

}  // namespace muster
