#include "learning/services/matrix_factorization.hpp"

#include <algorithm>
#include <cmath>

#include "learning/fnv.hpp"
#include "learning/services/factorization_machine.hpp"
#include "learning/services/normal.hpp"
#include "learning/services/service_sizes.hpp"

namespace muster {
namespace {

/// No factor or bias of a value in [0, 1] comes near it.
constexpr double kGreatestFactor = 1e3;

}  // namespace

bool valid_mf_params(const MfParams& params) {
  return params.factors > 0 && params.factors <= kMostFactors && params.rate >= kLeastLearnt &&
         params.rate <= 1 && params.l2 >= 0 && params.l2 <= 1 && params.sigma >= 0 &&
         params.sigma <= 1;
}

void write_mf_params(ModelWriter& out, const MfParams& params) {
  out.line("matrix").whole(params.factors).whole(params.biases ? 1 : 0).number(params.rate);
  out.number(params.l2).number(params.sigma).whole(params.seed);
}

MfParams read_mf_params(ModelReader& in) {
  MfParams params;
  in.line("matrix");
  params.factors = static_cast<std::uint32_t>(in.whole(1, kMostFactors));
  params.biases = in.whole(0, 1) == 1;
  params.rate = in.number(kLeastLearnt, 1);
  params.l2 = in.number(0, 1);
  params.sigma = in.number(0, 1);
  params.seed = in.whole(0, UINT64_MAX);
  return params;
}

MatrixFactorization::MatrixFactorization(std::uint32_t columns, const MfParams& params)
    : params_(params) {
  MUSTER_CHECK(valid_mf_params(params), "the params of a factorization are in their range");
  columns_.resize(columns * width());
  for (std::uint32_t column = 0; column < columns; ++column) draw(columns_, column);
}

void MatrixFactorization::draw(std::vector<double>& into, std::uint32_t which) {
  Rng rng(Fnv().add(params_.seed).add(drawn_++).value());
  double* own = &into[which * width()];
  own[0] = 0;
  for (std::uint32_t f = 1; f <= params_.factors; ++f) {
    own[f] = params_.sigma * standard_normal(rng);
  }
}

void MatrixFactorization::grow() {
  MUSTER_CHECK(rows() < kMostFeatures, "a matrix has a bounded number of rows");
  rows_.resize(rows_.size() + width());
  draw(rows_, rows() - 1);
}

void MatrixFactorization::restart(std::uint32_t row) {
  MUSTER_CHECK(row < rows(), "a known row begins anew");
  draw(rows_, row);
}

double MatrixFactorization::predict(std::uint32_t row, std::uint32_t column) const {
  const double* one = &rows_[row * width()];
  const double* other = &columns_[column * width()];
  double sum = params_.biases ? mean_ + one[0] + other[0] : 0;
  for (std::uint32_t f = 1; f <= params_.factors; ++f) sum += one[f] * other[f];
  return sum;
}

double MatrixFactorization::learn(std::uint32_t row, std::uint32_t column, double target) {
  const double predicted = predict(row, column);
  const double error = (std::isfinite(target) ? std::clamp(target, 0.0, 1.0) : 0) - predicted;
  double* one = &rows_[row * width()];
  double* other = &columns_[column * width()];
  const auto step = [this](double& value, double gradient) {
    value += params_.rate * (gradient - params_.l2 * value);
    value = std::clamp(value, -kGreatestFactor, kGreatestFactor);
  };
  if (params_.biases) {
    mean_ = std::clamp(mean_ + params_.rate * error, -kGreatestFactor, kGreatestFactor);
    step(one[0], error);
    step(other[0], error);
  }
  for (std::uint32_t f = 1; f <= params_.factors; ++f) {
    const double before = one[f];
    step(one[f], error * other[f]);
    step(other[f], error * before);
  }
  return predicted;
}

void MatrixFactorization::write(ModelWriter& out) const {
  write_mf_params(out, params_);
  out.line("mean").whole(drawn_).number(mean_);
  const auto each = [&](std::string_view name, const std::vector<double>& values) {
    out.line(name).whole(values.size() / width());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % width() == 0) out.line("factors");
      out.number(values[i]);
    }
  };
  each("rows", rows_);
  each("columns", columns_);
}

MatrixFactorization MatrixFactorization::read(ModelReader& in) {
  MatrixFactorization matrix(0, read_mf_params(in));
  in.line("mean");
  matrix.drawn_ = in.whole(0, UINT64_MAX);
  matrix.mean_ = in.number(-kGreatestFactor, kGreatestFactor);
  const auto each = [&](std::string_view name, std::uint64_t most, std::vector<double>& values) {
    in.line(name);
    const std::uint64_t count = in.whole(0, most);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
      in.line("factors");
      for (std::size_t f = 0; f < matrix.width(); ++f) {
        values.push_back(in.number(-kGreatestFactor, kGreatestFactor));
      }
    }
  };
  each("rows", kMostFeatures, matrix.rows_);
  each("columns", kMostPoints, matrix.columns_);
  return matrix;
}

}  // namespace muster
