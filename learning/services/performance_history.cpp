#include "learning/services/performance_history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "learning/services/curve_distances.hpp"

namespace muster {
namespace {

constexpr std::string_view kHistoryKind = "performance-history";
constexpr unsigned kHistoryVersion = 1;
/// Before there are curves enough to say how services differ, any value is likely, and points of
/// one service mostly go together.
constexpr double kBlindVariance = 0.02, kBlindCovariance = 0.06;
constexpr double kBlindMean = 0.5;

/// Numbers that are worked on together: loops of a length that the compiler knows become vectors.
constexpr std::uint32_t kBlock = 4;
static_assert(kMostPoints % kBlock == 0);

using Row = std::array<double, kMostPoints>;
using Block = std::array<double, kBlock>;

}  // namespace

bool valid_history_params(const HistoryParams& params) {
  const auto within = [](double value, double low) { return value >= low && value <= 100; };
  return within(params.spread, 0) && params.nearest > 0 && params.nearest <= kMostCurves &&
         within(params.ridge, kLeastLearnt) && within(params.least_variance, kLeastLearnt) &&
         within(params.probe_noise, 0) && params.least_weight >= 0 && params.least_weight < 1 &&
         params.most_curves > 0 && params.most_curves <= kMostCurves;
}

void write_history_params(ModelWriter& out, const HistoryParams& params) {
  out.line("history-params").number(params.spread).whole(params.nearest).number(params.ridge);
  out.number(params.least_variance).number(params.probe_noise).number(params.least_weight);
  out.whole(params.most_curves);
}

HistoryParams read_history_params(ModelReader& in) {
  in.line("history-params");
  HistoryParams params;
  params.spread = in.number(0, 100);
  params.nearest = static_cast<std::uint32_t>(in.whole(1, kMostCurves));
  params.ridge = in.number(kLeastLearnt, 100);
  params.least_variance = in.number(kLeastLearnt, 100);
  params.probe_noise = in.number(0, 100);
  params.least_weight = in.number(0, 0.999999);
  params.most_curves = static_cast<std::uint32_t>(in.whole(1, kMostCurves));
  return params;
}

/// The history in the light of measurements. Lives on the stack, with room for any history.
class PerformanceHistory::Posterior {
 public:
  Posterior(const PerformanceHistory& history, std::span<const MeasuredPoint> measured);

  double fit() const { return fit_; }
  /// Mean and variance around it of the weighed hypotheses, without the spread around each.
  void moments(Row& mean, Row& variance) const;
  /// Variance of a new service around a hypothesis.
  double spread(std::uint32_t a, std::uint32_t b) const;
  /// Calls use(weight, curve) with each bent curve that counts, a Row.
  template <class Use>
  void each(const Use& use) const;

 private:
  void factorize(std::span<const MeasuredPoint> measured);
  void weigh(std::span<const MeasuredPoint> measured);
  void bend(std::uint32_t curve, Row& into) const;
  double lower(std::size_t row, std::size_t column) const {
    return lower_[row * kMostPoints + column];
  }

  const PerformanceHistory& history_;
  std::span<const MeasuredPoint> measured_;
  std::size_t count_;  ///< of measurements
  double fit_ = 0;
  std::uint32_t kept_ = 0;  ///< curves that count
  std::array<double, std::size_t{kMostPoints} * kMostPoints>
      lower_;                          ///< Cholesky factor of their covariance
  std::array<Row, kMostPoints> gain_;  ///< of each measurement, by point
  std::array<double, kMostCurves> weights_;
  std::array<std::uint32_t, kMostCurves> curves_;
};

PerformanceHistory::Posterior::Posterior(const PerformanceHistory& history,
                                         std::span<const MeasuredPoint> measured)
    : history_(history), measured_(measured), count_(measured.size()) {
  MUSTER_CHECK(measured.size() <= history.points_, "each point is measured once at most");
  factorize(measured);
  weigh(measured);
}

void PerformanceHistory::Posterior::factorize(std::span<const MeasuredPoint> measured) {
  const std::uint32_t points = history_.points_;
  const auto& spread = history_.spread_;
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = spread[std::size_t{measured[i].at} * points + measured[j].at];
      if (i == j) sum += measured[i].variance + history_.params_.least_variance;
      for (std::size_t k = 0; k < j; ++k) sum -= lower(i, k) * lower(j, k);
      // The covariance has the least variance on its diagonal, so that no root is of less.
      lower_[i * kMostPoints + j] =
          i == j ? std::sqrt(std::max(sum, kLeastLearnt)) : sum / lower(j, j);
    }
  }
  for (std::size_t i = 0; i < count_; ++i) gain_[i].fill(0);
  for (std::uint32_t point = 0; point < points; ++point) {
    for (std::size_t i = 0; i < count_; ++i) {
      double sum = spread[std::size_t{point} * points + measured[i].at];
      for (std::size_t k = 0; k < i; ++k) sum -= lower(i, k) * gain_[k][point];
      gain_[i][point] = sum / lower(i, i);
    }
    for (std::size_t i = count_; i-- > 0;) {
      double sum = gain_[i][point];
      for (std::size_t k = i + 1; k < count_; ++k) sum -= lower(k, i) * gain_[k][point];
      gain_[i][point] = sum / lower(i, i);
    }
  }
}

void PerformanceHistory::Posterior::weigh(std::span<const MeasuredPoint> measured) {
  const std::uint32_t curves = history_.curves();
  double best = -std::numeric_limits<double>::infinity();
  for (std::uint32_t curve = 0; curve < curves; ++curve) {
    const double* values = &history_.values_[std::size_t{curve} * history_.stride_];
    Row solved;
    double square = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      double sum = measured[i].value - values[measured[i].at];
      for (std::size_t k = 0; k < i; ++k) sum -= lower(i, k) * solved[k];
      solved[i] = sum / lower(i, i);
      square += solved[i] * solved[i];
    }
    weights_[curve] = -square / 2;
    best = std::max(best, weights_[curve]);
  }
  if (curves == 0) return;
  fit_ = best;
  const double least = std::log(std::max(history_.params_.least_weight, kLeastLearnt));
  double sum = 0;
  for (std::uint32_t curve = 0; curve < curves; ++curve) {
    const double log_share = weights_[curve] - best;
    if (log_share < least) continue;
    curves_[kept_] = curve;
    weights_[kept_] = std::exp(log_share);
    sum += weights_[kept_++];
  }
  for (std::uint32_t kept = 0; kept < kept_; ++kept) weights_[kept] /= sum;
}

/// The hypothesis, drawn towards what was measured.
void PerformanceHistory::Posterior::bend(std::uint32_t curve, Row& into) const {
  const double* values = &history_.values_[std::size_t{curve} * history_.stride_];
  Row off;
  for (std::size_t i = 0; i < count_; ++i) off[i] = measured_[i].value - values[measured_[i].at];
  for (std::uint32_t block = 0; block < history_.stride_; block += kBlock) {
    Block sums;
    for (std::uint32_t k = 0; k < kBlock; ++k) sums[k] = values[block + k];
    for (std::size_t i = 0; i < count_; ++i) {
      const double* gain = &gain_[i][block];
      for (std::uint32_t k = 0; k < kBlock; ++k) sums[k] += gain[k] * off[i];
    }
    std::ranges::copy(sums, into.begin() + block);
  }
}

template <class Use>
void PerformanceHistory::Posterior::each(const Use& use) const {
  Row bent;
  for (std::uint32_t kept = 0; kept < kept_; ++kept) {
    bend(curves_[kept], bent);
    use(weights_[kept], bent);
  }
  if (history_.curves() > 0) return;
  // Without a past there is one hypothesis, that of an ordinary service.
  bent.fill(0);
  for (std::uint32_t point = 0; point < history_.points_; ++point) {
    bent[point] = kBlindMean;
    for (std::size_t i = 0; i < count_; ++i) {
      bent[point] += gain_[i][point] * (measured_[i].value - kBlindMean);
    }
  }
  use(1.0, bent);
}

void PerformanceHistory::Posterior::moments(Row& mean, Row& variance) const {
  if (kept_ == 0) {
    each([&mean](double, const Row& only) { mean = only; });
    variance.fill(0);
    return;
  }
  // Block by block, so that the sums stay in registers: most of the time of a choice goes by here.
  for (std::uint32_t block = 0; block < history_.stride_; block += kBlock) {
    Block sums{}, squares{};
    for (std::uint32_t kept = 0; kept < kept_; ++kept) {
      const double* values = &history_.values_[std::size_t{curves_[kept]} * history_.stride_];
      Block bent;
      for (std::uint32_t k = 0; k < kBlock; ++k) bent[k] = values[block + k];
      for (std::size_t i = 0; i < count_; ++i) {
        const double off = measured_[i].value - values[measured_[i].at];
        const double* gain = &gain_[i][block];
        for (std::uint32_t k = 0; k < kBlock; ++k) bent[k] += gain[k] * off;
      }
      const double weight = weights_[kept];
      for (std::uint32_t k = 0; k < kBlock; ++k) {
        sums[k] += weight * bent[k];
        squares[k] += weight * bent[k] * bent[k];
      }
    }
    for (std::uint32_t k = 0; k < kBlock; ++k) {
      mean[block + k] = sums[k];
      variance[block + k] = std::max(0.0, squares[k] - sums[k] * sums[k]);
    }
  }
}

double PerformanceHistory::Posterior::spread(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t points = history_.points_;
  double sum = history_.spread_[std::size_t{a} * points + b];
  for (std::size_t i = 0; i < count_; ++i) {
    sum -= gain_[i][a] * history_.spread_[std::size_t{measured_[i].at} * points + b];
  }
  return sum;
}

PerformanceHistory::PerformanceHistory(std::uint32_t points, const HistoryParams& params)
    : points_(points), stride_((points + kBlock - 1) / kBlock * kBlock), params_(params) {
  MUSTER_CHECK(points > 0 && points <= kMostPoints, "curves have a bounded number of points");
  MUSTER_CHECK(valid_history_params(params), "the params of a history are in their range");
  thin_and_relate();
}

std::span<const double> PerformanceHistory::curve(std::uint32_t which) const {
  return std::span(values_).subspan(std::size_t{which} * stride_, points_);
}

void PerformanceHistory::add(std::span<const PerformanceCurve> curves) {
  std::uint32_t more = 0;
  for (const PerformanceCurve& curve : curves) {
    MUSTER_CHECK(curve.size() == points_, "a curve has a value at each point");
    for (const double value : curve) {
      values_.push_back(std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0);
    }
    values_.resize(values_.size() + stride_ - points_);
    // Distances between at most twice as many curves as are kept are known at any time.
    if (++more == params_.most_curves) {
      thin_and_relate();
      more = 0;
    }
  }
  if (more > 0) thin_and_relate();
}

/// Forgets curves above the bound, and learns from the others how services that are near differ.
void PerformanceHistory::thin_and_relate() {
  CurveDistances distances(values_, stride_);
  distances.thin(params_.most_curves);
  spread_.assign(std::size_t{points_} * points_, 0.0);
  double pairs = 0;
  for (const std::uint32_t a : distances.left()) {
    for (const std::uint32_t b : distances.nearest(a, params_.nearest)) {
      ++pairs;
      const auto one = curve(a), other = curve(b);
      for (std::uint32_t p = 0; p < points_; ++p) {
        for (std::uint32_t q = 0; q < points_; ++q) {
          spread_[std::size_t{p} * points_ + q] += (one[p] - other[p]) * (one[q] - other[q]);
        }
      }
    }
  }
  const bool blind = distances.left().size() <= params_.nearest;
  for (double& value : spread_) {
    value = pairs > 0 ? value * params_.spread / pairs : 0;
    if (blind) value += kBlindCovariance;
  }
  for (std::uint32_t p = 0; p < points_; ++p) {
    spread_[std::size_t{p} * points_ + p] += params_.ridge + (blind ? kBlindVariance : 0);
  }
  std::vector<double> kept;
  for (const std::uint32_t which : distances.left()) {
    kept.insert(kept.end(), curve(which).begin(), curve(which).end());
    kept.resize(kept.size() + stride_ - points_);
  }
  values_ = std::move(kept);
}

void PerformanceHistory::estimate(std::span<const MeasuredPoint> measured,
                                  PerformanceEstimate& out) const {
  const Posterior posterior(*this, measured);
  Row mean, variance;
  posterior.moments(mean, variance);
  out.mean.resize(points_);
  out.deviation.resize(points_);
  out.fit = posterior.fit();
  for (std::uint32_t point = 0; point < points_; ++point) {
    out.mean[point] = mean[point];
    out.deviation[point] =
        std::sqrt(std::max(0.0, variance[point] + posterior.spread(point, point)));
  }
}

std::optional<std::uint32_t> PerformanceHistory::next_probe(
    std::span<const MeasuredPoint> measured) const {
  const Posterior posterior(*this, measured);
  Row mean, variance;
  posterior.moments(mean, variance);
  // Of each point with those behind it, which says all.
  std::array<Row, kMostPoints> covariance{};
  posterior.each([&](double weight, const Row& curve) {
    Row off;
    for (std::uint32_t p = 0; p < stride_; ++p) off[p] = curve[p] - mean[p];
    for (std::uint32_t p = 0; p < points_; ++p) {
      const double share = weight * off[p];
      for (std::uint32_t block = p - p % kBlock; block < stride_; block += kBlock) {
        Block sums;
        for (std::uint32_t k = 0; k < kBlock; ++k) {
          sums[k] = covariance[p][block + k] + share * off[block + k];
        }
        std::ranges::copy(sums, covariance[p].begin() + block);
      }
    }
  });
  std::optional<std::uint32_t> best;
  double best_gain = 0;
  for (std::uint32_t p = 0; p < points_; ++p) {
    if (measured_at(measured, p) != nullptr) continue;
    double gain = 0;
    for (std::uint32_t q = 0; q < points_; ++q) {
      const double both = covariance[std::min(p, q)][std::max(p, q)] + posterior.spread(p, q);
      gain += both * both;
    }
    const double noise = params_.probe_noise * mean[p];
    gain /= covariance[p][p] + posterior.spread(p, p) + noise * noise + params_.least_variance;
    if (!best || gain > best_gain) {
      best = p;
      best_gain = gain;
    }
  }
  return best;
}

void PerformanceHistory::write(ModelWriter& out) const {
  write_history_params(out, params_);
  out.line("curves").whole(points_).whole(curves());
  for (std::uint32_t which = 0; which < curves(); ++which) {
    out.line("curve");
    for (const double value : curve(which)) out.number(value);
  }
}

PerformanceHistory PerformanceHistory::read(ModelReader& in) {
  const HistoryParams params = read_history_params(in);
  in.line("curves");
  const auto points = static_cast<std::uint32_t>(in.whole(1, kMostPoints));
  PerformanceHistory history(points, params);
  const std::uint64_t count = in.whole(0, params.most_curves);
  for (std::uint64_t which = 0; which < count && in.ok(); ++which) {
    in.line("curve");
    for (std::uint32_t p = 0; p < points; ++p) history.values_.push_back(in.number(0, 1));
    history.values_.resize(history.values_.size() + history.stride_ - points);
  }
  if (in.ok()) history.thin_and_relate();
  return history;
}

std::string history_text(const PerformanceHistory& history) {
  return sealed_text(kHistoryKind, kHistoryVersion, history);
}

Expected<PerformanceHistory, LearnError> parse_history(std::string_view text) {
  return parse_sealed(kHistoryKind, kHistoryVersion, text, PerformanceHistory::read);
}

}  // namespace muster
