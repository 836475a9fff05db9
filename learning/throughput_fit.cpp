#include "learning/throughput_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "learning/bounded_minimum.hpp"
#include "learning/model_text.hpp"
#include "model/check.hpp"

namespace muster {
namespace {

/// The parameters as variables, by their positions.
using Param = std::size_t;
constexpr Param kAlphaC = 0;
constexpr Param kBetaC = 1;
constexpr Param kAlphaN = 2;
constexpr Param kBetaN = 3;
constexpr Param kAlphaR = 4;
constexpr Param kBetaR = 5;
constexpr Param kGamma = 6;
constexpr std::size_t kParams = 7;

// Pollux's own numbers: start, weights of the penalties, how much dearer several nodes count than
// one as long as only one was seen.
constexpr double kStartAlpha_s = 0.1;
constexpr double kStartBeta_s = 0.01;
constexpr double kStartGamma = 1.001;
constexpr double kGammaPenalty = 1e-3;
constexpr double kGrowthPenalty = 1e-2;
constexpr double kNetworkPrior = 1.1;

ThroughputParams params_of(std::span<const double> at) {
  return {.alpha_c = at[kAlphaC],
          .beta_c = at[kBetaC],
          .alpha_n = at[kAlphaN],
          .beta_n = at[kBetaN],
          .alpha_r = at[kAlphaR],
          .beta_r = at[kBetaR],
          .gamma = at[kGamma]};
}

double sync_time_s(const ThroughputParams& params, const WorkerGroup& workers) {
  if (workers.replicas <= 1) return kLeastParam_s;
  const double more = std::max(static_cast<double>(workers.replicas) - 2, kLeastParam_s);
  return workers.several_nodes ? params.alpha_n + params.beta_n * more
                               : params.alpha_r + params.beta_r * more;
}

/// A pass and its synchronisation, overlapping.
struct Overlap {
  double log_s = 0;       ///< of the time of both together
  double pass_share = 0;  ///< of the sum of powers
  double mean_log_s = 0;  ///< of the two times' logarithms, by these shares
};

Overlap overlap(double log_pass, double log_sync, double gamma) {
  // By the larger of the two, so that no power overflows.
  const double gap = log_sync - log_pass;
  const double ratio = std::exp(-gamma * std::abs(gap));
  const double larger_share = 1 / (1 + ratio);
  Overlap both;
  both.log_s = std::max(log_pass, log_sync) + std::log1p(ratio) / gamma;
  both.pass_share = gap > 0 ? 1 - larger_share : larger_share;
  both.mean_log_s = log_pass + (1 - both.pass_share) * gap;
  return both;
}

/// Root of the mean of squared errors, and its gradient.
class RootMeanSquare {
 public:
  /// `slope`: of the error by each parameter.
  void add(double error, const std::array<double, kParams>& slope) {
    ++count_;
    squares_ += error * error;
    for (std::size_t p = 0; p < kParams; ++p) products_[p] += error * slope[p];
  }
  /// Adds the gradient; returns the root. At an exact fit, where it does not exist, the gradient is
  /// zero.
  double finish(std::span<double> gradient) const {
    const double root = std::sqrt(squares_ / count_);
    if (root == 0) return 0;
    for (std::size_t p = 0; p < kParams; ++p) gradient[p] += products_[p] / (count_ * root);
    return root;
  }

 private:
  double count_ = 0;
  double squares_ = 0;
  std::array<double, kParams> products_{};
};

/// Objective: errors of passes and of steps, and penalties on a large gamma and on growth with the
/// number of workers.
class FitError {
 public:
  explicit FitError(std::span<const MeasuredPass> measured) : measured_(measured) {
    for (const MeasuredPass& pass : measured) {
      logs_.push_back({std::log(pass.alone_s()), std::log(std::max(pass.step_s, kLeastLearnt))});
    }
  }

  double operator()(std::span<const double> at, std::span<double> gradient) const {
    const ThroughputParams params = params_of(at);
    std::fill(gradient.begin(), gradient.end(), 0.0);
    RootMeanSquare passes;
    RootMeanSquare steps;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const MeasuredPass& measured = measured_[i];
      const double grad_s = pass_s(params, measured.local_batch);
      const double sync_s = sync_time_s(params, measured.workers);
      const double log_pass = std::log(grad_s);
      std::array<double, kParams> slope{};
      slope[kAlphaC] = 1 / grad_s;
      slope[kBetaC] = measured.local_batch / grad_s;
      passes.add(log_pass - logs_[i].pass, slope);

      const Overlap both = overlap(log_pass, std::log(sync_s), params.gamma);
      slope[kAlphaC] *= both.pass_share;
      slope[kBetaC] *= both.pass_share;
      if (measured.workers.replicas > 1) {
        const Param constant = measured.workers.several_nodes ? kAlphaN : kAlphaR;
        const Param growth = measured.workers.several_nodes ? kBetaN : kBetaR;
        const double more = std::max(measured.workers.replicas - 2.0, kLeastParam_s);
        slope[constant] = (1 - both.pass_share) / sync_s;
        slope[growth] = slope[constant] * more;
      }
      slope[kGamma] = (both.mean_log_s - both.log_s) / params.gamma;
      steps.add(both.log_s - logs_[i].step, slope);
    }
    const double errors = passes.finish(gradient) + steps.finish(gradient);
    return errors + penalties(at, gradient);
  }

 private:
  struct Logs {
    double pass = 0;
    double step = 0;
  };

  static double penalties(std::span<const double> at, std::span<double> gradient) {
    double sum = kGammaPenalty * (at[kGamma] - 1) * (at[kGamma] - 1);
    gradient[kGamma] += 2 * kGammaPenalty * (at[kGamma] - 1);
    for (const auto& [alpha, beta] : {std::pair{kAlphaN, kBetaN}, std::pair{kAlphaR, kBetaR}}) {
      const double ratio = at[beta] / at[alpha];
      sum += kGrowthPenalty * ratio * ratio;
      gradient[beta] += 2 * kGrowthPenalty * ratio / at[alpha];
      gradient[alpha] -= 2 * kGrowthPenalty * ratio * ratio / at[alpha];
    }
    return sum;
  }

  std::span<const MeasuredPass> measured_;
  std::vector<Logs> logs_;
};

/// Parameters that the measurements tell of.
struct Seen {
  explicit Seen(std::span<const MeasuredPass> measured) {
    for (const MeasuredPass& pass : measured) {
      several_nodes |= pass.workers.several_nodes;
      several_workers_of_a_node |= !pass.workers.several_nodes && pass.workers.replicas > 1;
      more_than_two |= pass.workers.replicas > 2;
      several_batches |= pass.local_batch != measured.front().local_batch;
      mean_pass_s += pass.alone_s() / static_cast<double>(measured.size());
    }
  }

  bool several_nodes = false;
  bool several_workers_of_a_node = false;
  bool more_than_two = false;
  bool several_batches = false;
  double mean_pass_s = 0;
};

/// Extreme measurements may take a search anywhere.
ThroughputParams within_bounds(ThroughputParams params) {
  for (double* each : {&params.alpha_c, &params.beta_c, &params.alpha_n, &params.beta_n,
                       &params.alpha_r, &params.beta_r}) {
    // Also where it is no number.
    *each = *each >= kLeastParam_s ? std::min(*each, kGreatestParam_s) : kLeastParam_s;
  }
  params.gamma = params.gamma >= 1 ? std::min(params.gamma, kLargestGamma) : 1;
  return params;
}

using Variables = std::array<BoundedVariable, kParams>;

Variables variables_for(const Seen& seen) {
  Variables variables{};
  const auto hold = [&](Param param, double value) { variables[param] = {value, value, value}; };
  for (const Param param : {kAlphaC, kAlphaN, kAlphaR}) {
    variables[param] = {.start = kStartAlpha_s, .low = kLeastParam_s};
  }
  for (const Param param : {kBetaC, kBetaN, kBetaR}) {
    variables[param] = {.start = kStartBeta_s, .low = kLeastParam_s};
  }
  variables[kGamma] = {.start = kStartGamma, .low = 1, .high = kLargestGamma};
  // With one local batch constant and growth cannot be told apart: half each.
  if (!seen.several_batches) hold(kAlphaC, seen.mean_pass_s / 2);
  if (!seen.several_nodes) hold(kAlphaN, kLeastParam_s);
  if (!seen.several_workers_of_a_node) hold(kAlphaR, kLeastParam_s);
  if (!seen.several_nodes || !seen.more_than_two) hold(kBetaN, kLeastParam_s);
  if (!seen.several_workers_of_a_node || !seen.more_than_two) hold(kBetaR, kLeastParam_s);
  return variables;
}

}  // namespace

double MeasuredPass::alone_s() const {
  return std::max(step_s - sync_s, kLeastLearnt);
}

double pass_s(const ThroughputParams& params, std::uint32_t local_batch) {
  return params.alpha_c + params.beta_c * local_batch;
}

double step_s(const ThroughputParams& params, const WorkerGroup& workers,
              const BatchChoice& batch) {
  const double grad_s = pass_s(params, batch.local_batch);
  const double log_sync = std::log(sync_time_s(params, workers));
  const double last_s = std::exp(overlap(std::log(grad_s), log_sync, params.gamma).log_s);
  return batch.accumulation * grad_s + last_s;
}

ThroughputParams fit_throughput(std::span<const MeasuredPass> measured) {
  MUSTER_CHECK(!measured.empty(), "parameters of no measurement");
  const Seen seen(measured);
  const Variables variables = variables_for(seen);
  ThroughputParams params = params_of(bounded_minimum(FitError(measured), variables));
  if (!seen.several_nodes) {
    params.alpha_n = std::max(params.alpha_n, kNetworkPrior * params.alpha_r);
    params.beta_n = std::max(params.beta_n, kNetworkPrior * params.beta_r);
  }
  return within_bounds(params);
}

}  // namespace muster
