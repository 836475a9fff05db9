#include "learning/services/factorization_machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "learning/fnv.hpp"
#include "learning/services/normal.hpp"

// Equations are those of LRASched, Section 3.2.1. (7) and (10) are misprinted there: (7) asks for
// |z| of the feature's weight where that of the factor is meant, and the derivative in (10) squares
// x inside the bracket. And with sums that begin at 0, as Algorithm 1 has it, (7) gives factors of
// 0, whose gradients are 0 for ever.

namespace muster {
namespace {

constexpr std::string_view kFmKind = "factorization-machine";
constexpr unsigned kFmVersion = 1;
/// With rates in these bounds no step of a machine in its own bounds leaves the finite numbers.
constexpr double kLeastRate = 1e-6, kGreatestRate = 1e3;

double sign_of(double value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

double divisor(double n, const FtrlRates& rates) {
  return (rates.beta + std::sqrt(n)) / rates.alpha + rates.l2;
}

/// (5), (6) and, as it is meant, (7).
double theta_of(double z, double n, const FtrlRates& rates) {
  if (std::abs(z) <= rates.l1) return 0;
  return -(z - sign_of(z) * rates.l1) / divisor(n, rates);
}

bool valid_rates(const FtrlRates& rates) {
  const auto within = [](double value, double low) {
    return value >= low && value <= kGreatestRate;
  };
  return within(rates.alpha, kLeastRate) && within(rates.beta, kLeastRate) && within(rates.l1, 0) &&
         within(rates.l2, 0);
}

double bounded(double value) {
  return std::isfinite(value) ? std::clamp(value, -kGreatestFeature, kGreatestFeature) : 0;
}

void write_rates(ModelWriter& out, const FtrlRates& rates) {
  out.line("rates").number(rates.alpha).number(rates.beta).number(rates.l1).number(rates.l2);
}

FtrlRates read_rates(ModelReader& in) {
  in.line("rates");
  FtrlRates rates;
  rates.alpha = in.number(kLeastRate, kGreatestRate);
  rates.beta = in.number(kLeastRate, kGreatestRate);
  rates.l1 = in.number(0, kGreatestRate);
  rates.l2 = in.number(0, kGreatestRate);
  return rates;
}

}  // namespace

bool valid_fm_params(const FmParams& params) {
  return params.factors > 0 && params.factors <= kMostFactors && valid_rates(params.weights) &&
         valid_rates(params.vectors) && params.sigma >= 0 && params.sigma <= kGreatestRate;
}

void write_fm_params(ModelWriter& out, const FmParams& params) {
  out.line("machine").whole(params.factors).number(params.sigma).whole(params.seed);
  const FmPrinted& printed = params.printed;
  out.whole(printed.shrinkage ? 1 : 0).whole(printed.gradient ? 1 : 0).whole(printed.start ? 1 : 0);
  write_rates(out, params.weights);
  write_rates(out, params.vectors);
}

FmParams read_fm_params(ModelReader& in) {
  FmParams params;
  in.line("machine");
  params.factors = static_cast<std::uint32_t>(in.whole(1, kMostFactors));
  params.sigma = in.number(0, kGreatestRate);
  params.seed = in.whole(0, UINT64_MAX);
  params.printed.shrinkage = in.whole(0, 1) == 1;
  params.printed.gradient = in.whole(0, 1) == 1;
  params.printed.start = in.whole(0, 1) == 1;
  params.weights = read_rates(in);
  params.vectors = read_rates(in);
  return params;
}

void FactorizationMachine::Parameter::step(double gradient, const FtrlRates& rates) {
  const double squares = n + gradient * gradient;
  const double sigma = (std::sqrt(squares) - std::sqrt(n)) / rates.alpha;
  z = std::clamp(z + gradient - sigma * theta, -kGreatestLearnt, kGreatestLearnt);
  n = std::min(squares, kGreatestLearnt);
}

FactorizationMachine::FactorizationMachine(const FmParams& params) : params_(params) {
  MUSTER_CHECK(valid_fm_params(params), "the params of a factorization machine are in their range");
}

double FactorizationMachine::factor(std::uint32_t feature, std::uint32_t which) const {
  return factors_[std::size_t{feature} * params_.factors + which].theta;
}

void FactorizationMachine::settle_factors(std::uint32_t feature) {
  const bool dead =
      params_.printed.shrinkage && std::abs(weights_[feature].z) <= params_.weights.l1;
  Parameter* own = &factors_[std::size_t{feature} * params_.factors];
  for (std::uint32_t f = 0; f < params_.factors; ++f) {
    own[f].theta = dead ? 0 : theta_of(own[f].z, own[f].n, params_.vectors);
  }
}

/// A feature without a past. Its sums are those that the closed form turns into the factors.
void FactorizationMachine::begin(std::uint32_t feature, std::span<const double> factors) {
  const FtrlRates& rates = params_.vectors;
  weights_[feature] = {};
  Parameter* own = &factors_[std::size_t{feature} * params_.factors];
  for (std::uint32_t f = 0; f < params_.factors; ++f) {
    const double first = bounded(factors[f]);
    own[f] = {};
    if (!params_.printed.start) own[f].z = -(first * divisor(0, rates) + sign_of(first) * rates.l1);
  }
  settle_factors(feature);
}

void FactorizationMachine::draw(std::uint32_t feature) {
  Rng rng(Fnv().add(params_.seed).add(drawn_++).value());
  std::array<double, kMostFactors> factors{};
  for (std::uint32_t f = 0; f < params_.factors; ++f) {
    factors[f] = params_.sigma * standard_normal(rng);
  }
  begin(feature, factors);
}

void FactorizationMachine::grow(std::uint32_t features) {
  MUSTER_CHECK(features <= kMostFeatures, "a machine has a bounded number of features");
  const std::uint32_t known = this->features();
  if (features <= known) return;
  weights_.resize(features);
  factors_.resize(std::size_t{features} * params_.factors);
  for (std::uint32_t feature = known; feature < features; ++feature) draw(feature);
}

void FactorizationMachine::add(std::span<const double> factors) {
  MUSTER_CHECK(factors.size() == params_.factors, "a feature has as many factors as the machine");
  MUSTER_CHECK(features() < kMostFeatures, "a machine has a bounded number of features");
  weights_.emplace_back();
  factors_.resize(factors_.size() + params_.factors);
  begin(features() - 1, factors);
}

void FactorizationMachine::restart(std::uint32_t feature) {
  MUSTER_CHECK(feature < features(), "a known feature begins anew");
  draw(feature);
}

/// (2); leaves in `sums` the sum of v x over the row for each factor.
double FactorizationMachine::predict_with(std::span<const FmFeature> row,
                                          std::span<double> sums) const {
  double linear = constant_.theta, squares = 0;
  const std::uint32_t count = params_.factors;
  for (const FmFeature& x : row) {
    if (x.at >= features()) continue;
    const double value = bounded(x.value);
    linear += weights_[x.at].theta * value;
    const Parameter* own = &factors_[std::size_t{x.at} * count];
    for (std::uint32_t f = 0; f < count; ++f) {
      const double part = own[f].theta * value;
      sums[f] += part;
      squares += part * part;
    }
  }
  double whole = 0;
  for (std::uint32_t f = 0; f < count; ++f) whole += sums[f] * sums[f];
  return linear + (whole - squares) / 2;
}

double FactorizationMachine::predict(std::span<const FmFeature> row) const {
  std::array<double, kMostFactors> sums;
  std::fill_n(sums.begin(), params_.factors, 0.0);
  return predict_with(row, sums);
}

/// Algorithm 2. Every step goes by the parameters from before the row.
double FactorizationMachine::learn(std::span<const FmFeature> row, double target) {
  std::uint32_t known = features();
  for (const FmFeature& x : row) known = std::max(known, x.at + 1);
  grow(known);
  std::array<double, kMostFactors> sums{};
  const double predicted = predict_with(row, sums);
  const double error = 2 * (predicted - bounded(target));
  constant_.step(error, params_.weights);
  constant_.theta = theta_of(constant_.z, constant_.n, params_.weights);
  for (const FmFeature& x : row) {
    const double value = bounded(x.value);
    if (value == 0) continue;
    Parameter& weight = weights_[x.at];
    weight.step(error * value, params_.weights);
    weight.theta = theta_of(weight.z, weight.n, params_.weights);
    Parameter* own = &factors_[std::size_t{x.at} * params_.factors];
    for (std::uint32_t f = 0; f < params_.factors; ++f) {
      const double same = own[f].theta * value * (params_.printed.gradient ? value : 1);
      own[f].step(error * value * (sums[f] - same), params_.vectors);
    }
    settle_factors(x.at);
  }
  return predicted;
}

void FactorizationMachine::write(ModelWriter& out) const {
  write_fm_params(out, params_);
  out.line("features").whole(features()).whole(drawn_).number(constant_.z).number(constant_.n);
  for (std::uint32_t feature = 0; feature < features(); ++feature) {
    out.line("feature").number(weights_[feature].z).number(weights_[feature].n);
    const Parameter* own = &factors_[std::size_t{feature} * params_.factors];
    for (std::uint32_t f = 0; f < params_.factors; ++f) out.number(own[f].z).number(own[f].n);
  }
}

FactorizationMachine FactorizationMachine::read(ModelReader& in) {
  const auto parameter = [&in](Parameter& into) {
    into.z = in.number(-kGreatestLearnt, kGreatestLearnt);
    into.n = in.number(0, kGreatestLearnt);
  };
  const FmParams params = read_fm_params(in);
  FactorizationMachine machine(params);
  in.line("features");
  const std::uint64_t features = in.whole(0, kMostFeatures);
  machine.drawn_ = in.whole(0, UINT64_MAX);
  parameter(machine.constant_);
  machine.constant_.theta = theta_of(machine.constant_.z, machine.constant_.n, params.weights);
  // A count that the text does not hold allocates nothing.
  for (std::uint64_t feature = 0; feature < features && in.ok(); ++feature) {
    in.line("feature");
    Parameter& weight = machine.weights_.emplace_back();
    parameter(weight);
    weight.theta = theta_of(weight.z, weight.n, params.weights);
    for (std::uint32_t f = 0; f < params.factors; ++f) parameter(machine.factors_.emplace_back());
    machine.settle_factors(static_cast<std::uint32_t>(feature));
  }
  return machine;
}

std::string fm_text(const FactorizationMachine& machine) {
  return sealed_text(kFmKind, kFmVersion, machine);
}

Expected<FactorizationMachine, LearnError> parse_fm(std::string_view text) {
  return parse_sealed(kFmKind, kFmVersion, text, FactorizationMachine::read);
}

}  // namespace muster
