#include "learning/goodput_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/check.hpp"

namespace muster {
namespace {

constexpr std::string_view kGoodputKind = "goodput";
constexpr unsigned kGoodputVersion = 1;

/// Of the measurements of a kind; far beyond what a job comes to.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 62U;

/// Means that moved by less are no reason to fit anew.
constexpr double kSameMean = 1e-6;

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds >= 0 && seconds < kGreatestLearnt;
}

bool is_possible(const TrainingSample& sample) {
  const bool counts = sample.nodes >= 1 && sample.replicas >= sample.nodes &&
                      sample.local_batch >= 1 && sample.local_batch <= kLargestBatch;
  const bool times = is_time(sample.step_s) && is_time(sample.sync_s) &&
                     sample.step_s - sample.sync_s >= kLeastLearnt;
  const bool gradient = std::isfinite(sample.grad_sqr) && std::isfinite(sample.grad_var) &&
                        std::abs(sample.grad_sqr) < kGreatestLearnt &&
                        std::abs(sample.grad_var) < kGreatestLearnt;
  return counts && times && gradient;
}

bool differ(double a, double b) {
  return std::abs(a - b) > kSameMean * std::max(a, b);
}

void write_params(ModelWriter& out, const ThroughputParams& params) {
  out.line("params").number(params.alpha_c).number(params.beta_c).number(params.alpha_n);
  out.number(params.beta_n).number(params.alpha_r).number(params.beta_r).number(params.gamma);
}

ThroughputParams read_params(ModelReader& in) {
  ThroughputParams params;
  in.line("params");
  for (double* param : {&params.alpha_c, &params.beta_c, &params.alpha_n, &params.beta_n,
                        &params.alpha_r, &params.beta_r}) {
    *param = std::max(in.number(0, kGreatestLearnt), kLeastParam_s);
  }
  params.gamma = in.number(1, kLargestGamma);
  return params;
}

std::uint32_t read_count(ModelReader& in, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(in.whole(low, high));
}

}  // namespace

GoodputModel::GoodputModel(const BatchLimits& limits) : limits_(limits) {
  MUSTER_CHECK(
      limits.initial >= 1 && limits.initial <= limits.largest && limits.largest <= kLargestBatch,
      "a total batch within its bounds");
  MUSTER_CHECK(limits.local_min >= 1 && limits.local_min <= limits.local_max,
               "a local batch within its bounds");
}

bool GoodputModel::observe(const TrainingSample& sample) {
  if (!is_possible(sample) || !take_up(sample)) return false;
  const GradientNoise noise{.sqr = sample.grad_sqr, .var = sample.grad_var};
  if (noise != noise_) ++version_;
  noise_ = noise;
  return true;
}

bool GoodputModel::take_up(const TrainingSample& sample) {
  const Kind kind{sample.nodes, sample.replicas, sample.local_batch};
  if (measured_.size() >= kMostMeasurements && !measured_.contains(kind)) return false;
  Measured& measured = measured_[kind];
  ++measured.count;
  const auto count = static_cast<double>(measured.count);
  measured.step_s += (sample.step_s - measured.step_s) / count;
  measured.sync_s += (sample.sync_s - measured.sync_s) / count;
  largest_replicas_ = std::max(largest_replicas_, sample.replicas);
  // A mean is worth a fit when there are twice as many measurements in it as there were.
  const bool moved = differ(measured.step_s, measured.fitted_step_s) ||
                     differ(measured.sync_s, measured.fitted_sync_s);
  if (std::has_single_bit(measured.count) && moved) fit();
  return true;
}

void GoodputModel::fit() {
  std::vector<MeasuredPass> passes;
  passes.reserve(measured_.size());
  for (auto& [kind, measured] : measured_) {
    const auto& [nodes, replicas, local_batch] = kind;
    passes.push_back({.workers = {.replicas = replicas, .several_nodes = nodes > 1},
                      .local_batch = local_batch,
                      .step_s = measured.step_s,
                      .sync_s = measured.sync_s});
    measured.fitted_step_s = measured.step_s;
    measured.fitted_sync_s = measured.sync_s;
  }
  params_ = fit_throughput(passes);
  ++version_;
}

std::uint32_t GoodputModel::width_cap() const {
  const std::uint32_t explored = std::max(2 * std::min(largest_replicas_, kMostReplicas), 1U);
  return std::min({explored, kMostReplicas, std::max(limits_.largest / limits_.local_min, 1U)});
}

RatedBatch GoodputModel::best(const WorkerGroup& workers, const GradientNoise& noise) const {
  return best(workers, noise, limits_.local_max);
}

RatedBatch GoodputModel::best(const WorkerGroup& workers, const GradientNoise& noise,
                              std::uint32_t local_max) const {
  MUSTER_CHECK(params_.has_value(), "a prediction before the first sample");
  BatchLimits limits = limits_;
  limits.local_max = std::min(limits.local_max, local_max);
  RatedBatch best;
  for (const BatchChoice& batch : batch_candidates(limits, workers.replicas)) {
    const double scale = static_cast<double>(batch.total(workers.replicas)) / limits.initial;
    const double rate = step_gain(noise, scale) / step_s(*params_, workers, batch);
    if (rate > best.rate_per_s) best = {batch, rate};
  }
  return best;
}

BatchChoice GoodputModel::choose(const WorkerGroup& workers, std::uint32_t local_max) const {
  BatchLimits limits = limits_;
  limits.local_max = std::min(limits.local_max, local_max);
  if (!params_) return first_batch(limits, workers.replicas);
  const RatedBatch best = this->best(workers, noise_, local_max);
  if (best.rate_per_s == 0) return first_batch(limits, workers.replicas);
  return capped_batch(limits, workers.replicas, best.batch);
}

GoodputTable GoodputModel::table(const GradientNoise& noise, std::uint32_t of_node,
                                 std::uint32_t largest) const {
  GoodputTable table;
  for (std::uint32_t replicas = 1; replicas <= std::min(of_node, largest); ++replicas) {
    table.one_node.push_back(best({replicas, false}, noise).rate_per_s);
  }
  for (std::uint32_t replicas = 2; replicas <= largest; ++replicas) {
    table.several_nodes.push_back(best({replicas, true}, noise).rate_per_s);
  }
  return table;
}

void GoodputModel::write(ModelWriter& out) const {
  out.line("limits").whole(limits_.initial).whole(limits_.largest);
  out.whole(limits_.local_min).whole(limits_.local_max);
  out.line("noise").number(noise_.sqr).number(noise_.var);
  out.line("model").whole(version_).whole(largest_replicas_).whole(params_ ? 1 : 0);
  out.whole(measured_.size());
  if (params_) write_params(out, *params_);
  for (const auto& [kind, measured] : measured_) {
    const auto& [nodes, replicas, local_batch] = kind;
    out.line("measured").whole(nodes).whole(replicas).whole(local_batch).whole(measured.count);
    out.number(measured.step_s).number(measured.sync_s);
    out.number(measured.fitted_step_s).number(measured.fitted_sync_s);
  }
}

GoodputModel GoodputModel::read(ModelReader& in) {
  BatchLimits limits;
  in.line("limits");
  limits.initial = read_count(in, 1, kLargestBatch);
  limits.largest = std::max(read_count(in, limits.initial, kLargestBatch), limits.initial);
  limits.local_min = read_count(in, 1, kLargestBatch);
  limits.local_max = std::max(read_count(in, limits.local_min, kLargestBatch), limits.local_min);
  GoodputModel model(limits);
  in.line("noise");
  model.noise_.sqr = in.number(-kGreatestLearnt, kGreatestLearnt);
  model.noise_.var = in.number(-kGreatestLearnt, kGreatestLearnt);
  in.line("model");
  model.version_ = in.whole(0, UINT64_MAX);
  model.largest_replicas_ = read_count(in, 0, UINT32_MAX);
  const bool fitted = in.whole(0, 1) == 1;
  const std::uint64_t count = in.whole(0, kMostMeasurements);
  if (fitted) model.params_ = read_params(in);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    in.line("measured");
    const std::uint32_t nodes = read_count(in, 1, UINT32_MAX);
    const std::uint32_t replicas = read_count(in, nodes, UINT32_MAX);
    Measured& measured = model.measured_[{nodes, replicas, read_count(in, 1, kLargestBatch)}];
    measured.count = in.whole(1, kMostCounted);
    // Earlier versions took up times of any length: their models are read with any of these.
    measured.step_s = std::max(in.number(0, kGreatestLearnt), kLeastLearnt);
    measured.sync_s = std::min(in.number(0, kGreatestLearnt), measured.step_s);
    measured.fitted_step_s = in.number(0, kGreatestLearnt);
    measured.fitted_sync_s = in.number(0, kGreatestLearnt);
  }
  return model;
}

std::string goodput_text(const GoodputModel& model) {
  return sealed_text(kGoodputKind, kGoodputVersion, model);
}

Expected<GoodputModel, LearnError> parse_goodput(std::string_view text) {
  return parse_sealed(kGoodputKind, kGoodputVersion, text, GoodputModel::read);
}

}  // namespace muster
