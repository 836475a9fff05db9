#include "learning/services/service_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "learning/fnv.hpp"
#include "model/rng.hpp"

namespace muster {
namespace {

constexpr std::uint32_t kMostRounds = 1000;
/// In a text; far above what services and curves ever need.
constexpr std::uint32_t kMostRows = 1U << 18U;
/// Of predictions before there were any, and the weight that a new one gets.
constexpr double kFirstSquaredError = 0.05, kErrorWeight = 0.01;

}  // namespace

bool valid_rows_params(const RowsParams& params) {
  return params.epochs > 0 && params.epochs <= kMostRounds && params.passes > 0 &&
         params.passes <= kMostRounds;
}

void write_rows_params(ModelWriter& out, const RowsParams& params) {
  out.line("rounds").whole(params.epochs).whole(params.passes);
}

RowsParams read_rows_params(ModelReader& in) {
  RowsParams params;
  in.line("rounds");
  params.epochs = static_cast<std::uint32_t>(in.whole(1, kMostRounds));
  params.passes = static_cast<std::uint32_t>(in.whole(1, kMostRounds));
  return params;
}

/// The row of a service in the model, for each of its points. Features of the machine: the points,
/// the points measured, the services; so that a new service renumbers nothing.
class ServiceRows::Row {
 public:
  Row(std::uint32_t points, std::uint32_t row, std::span<const MeasuredPoint> measured)
      : row_(row), size_(2 + measured.size()) {
    features_[1] = {2 * points + row, 1};
    for (std::size_t i = 0; i < measured.size(); ++i) {
      features_[2 + i] = {points + measured[i].at, 1.0 / static_cast<double>(measured.size())};
    }
  }

  double predict(const Model& model, std::uint32_t point) {
    if (const auto* machine = std::get_if<FactorizationMachine>(&model)) {
      return machine->predict(features(point));
    }
    return std::get_if<MatrixFactorization>(&model)->predict(row_, point);
  }
  double learn(Model& model, std::uint32_t point, double value) {
    if (auto* machine = std::get_if<FactorizationMachine>(&model)) {
      return machine->learn(features(point), value);
    }
    return std::get_if<MatrixFactorization>(&model)->learn(row_, point, value);
  }

 private:
  std::span<const FmFeature> features(std::uint32_t point) {
    features_[0] = {point, 1};
    return std::span(features_).first(size_);
  }

  std::uint32_t row_;
  std::size_t size_;
  std::array<FmFeature, 2 + kMostPoints> features_;
};

ServiceRows::ServiceRows(std::uint32_t points, Model model, const RowsParams& params)
    : points_(points),
      params_(params),
      model_(std::move(model)),
      squared_error_(kFirstSquaredError) {
  MUSTER_CHECK(points > 0 && points <= kMostPoints, "rows have a bounded number of points");
  MUSTER_CHECK(valid_rows_params(params), "the params of rows are in their range");
  if (auto* machine = std::get_if<FactorizationMachine>(&model_)) machine->grow(2 * points);
}

ServiceRows::ServiceRows(std::uint32_t points, const FmParams& fm, const RowsParams& params)
    : ServiceRows(points, Model(FactorizationMachine(fm)), params) {}

ServiceRows::ServiceRows(std::uint32_t points, const MfParams& mf, const RowsParams& params)
    : ServiceRows(points, Model(MatrixFactorization(points, mf)), params) {}

std::uint32_t ServiceRows::take_row() {
  auto* machine = std::get_if<FactorizationMachine>(&model_);
  if (free_.empty()) {
    if (machine != nullptr) {
      machine->grow(2 * points_ + made_ + 1);
    } else {
      std::get_if<MatrixFactorization>(&model_)->grow();
    }
    return made_++;
  }
  const std::uint32_t row = free_.back();
  free_.pop_back();
  if (machine != nullptr) {
    machine->restart(2 * points_ + row);
  } else {
    std::get_if<MatrixFactorization>(&model_)->restart(row);
  }
  return row;
}

void ServiceRows::note_error(double error) {
  squared_error_ += kErrorWeight * (std::min(1.0, error * error) - squared_error_);
}

void ServiceRows::learn_curves(std::span<const PerformanceCurve> curves) {
  for (; curves.size() > kMostCurves; curves = curves.subspan(kMostCurves)) {
    learn_together(curves.first(kMostCurves));
  }
  learn_together(curves);
}

void ServiceRows::learn_together(std::span<const PerformanceCurve> curves) {
  std::vector<Row> rows;
  std::vector<std::uint32_t> taken;
  std::vector<MeasuredPoint> everywhere(points_);
  for (std::uint32_t point = 0; point < points_; ++point) everywhere[point].at = point;
  for (const PerformanceCurve& curve : curves) {
    MUSTER_CHECK(curve.size() == points_, "a curve has a value at each point");
    taken.push_back(take_row());
    rows.emplace_back(points_, taken.back(), everywhere);
  }
  std::vector<std::size_t> order(curves.size() * points_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::uint32_t epoch = 0; epoch < params_.epochs; ++epoch) {
    Rng rng(Fnv().add(++epochs_done_).value());
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[rng.below(left)]);
    }
    for (const std::size_t at : order) {
      const auto point = static_cast<std::uint32_t>(at % points_);
      rows[at / points_].learn(model_, point, std::clamp(curves[at / points_][point], 0.0, 1.0));
    }
  }
  free_.insert(free_.end(), taken.rbegin(), taken.rend());
}

void ServiceRows::learn(std::uint64_t service, std::span<const MeasuredPoint> measured,
                        std::uint32_t newest) {
  const auto [at, is_new] = rows_.try_emplace(service, 0);
  if (is_new) at->second = take_row();
  Row row(points_, at->second, measured);
  const MeasuredPoint* sample = measured_at(measured, newest);
  // The first measurement of a service is foreseen by what all services have in common; how well
  // the model does is shown by those after it.
  if (sample != nullptr && measured.size() > 1) {
    note_error(row.predict(model_, newest) - sample->value);
  }
  for (std::uint32_t pass = 0; pass < params_.passes; ++pass) {
    for (const MeasuredPoint& one : measured) row.learn(model_, one.at, one.value);
  }
}

void ServiceRows::forget(std::uint64_t service) {
  const auto known = rows_.find(service);
  if (known == rows_.end()) return;
  free_.push_back(known->second);
  rows_.erase(known);
}

void ServiceRows::estimate(std::uint64_t service, std::span<const MeasuredPoint> measured,
                           PerformanceEstimate& out) const {
  out.mean.resize(points_);
  out.deviation.assign(points_, std::sqrt(squared_error_));
  out.fit = 0;
  const auto known = rows_.find(service);
  if (known == rows_.end()) {
    // Nothing is known of it: the machine has what all services have in common, a matrix nothing.
    const auto* machine = std::get_if<FactorizationMachine>(&model_);
    for (std::uint32_t point = 0; point < points_; ++point) {
      const std::array<FmFeature, 1> alone = {{{point, 1}}};
      out.mean[point] = machine == nullptr ? 0 : std::clamp(machine->predict(alone), 0.0, 1.0);
    }
    return;
  }
  Row row(points_, known->second, measured);
  for (std::uint32_t point = 0; point < points_; ++point) {
    out.mean[point] = std::clamp(row.predict(model_, point), 0.0, 1.0);
  }
}

void ServiceRows::write(ModelWriter& out) const {
  const auto* machine = std::get_if<FactorizationMachine>(&model_);
  write_rows_params(out, params_);
  out.line("service-rows").whole(points_).whole(machine != nullptr ? 1 : 0);
  out.whole(epochs_done_).number(squared_error_);
  std::visit([&out](const auto& model) { model.write(out); }, model_);
  out.line("owners").whole(rows_.size());
  for (const auto& [service, row] : rows_) out.line("owner").whole(service).whole(row);
  out.line("free").whole(free_.size());
  for (const std::uint32_t row : free_) out.whole(row);
}

ServiceRows ServiceRows::read(ModelReader& in) {
  const RowsParams params = read_rows_params(in);
  in.line("service-rows");
  const auto points = static_cast<std::uint32_t>(in.whole(1, kMostPoints));
  const bool is_machine = in.whole(0, 1) == 1;
  const std::uint64_t epochs_done = in.whole(0, UINT64_MAX);
  const double squared_error = in.number(0, 1);
  Model model =
      is_machine ? Model(FactorizationMachine::read(in)) : Model(MatrixFactorization::read(in));
  std::uint32_t made = 0;
  if (const auto* machine = std::get_if<FactorizationMachine>(&model)) {
    if (machine->features() < 2 * points) in.refuse("configurations without a feature");
    if (in.ok()) made = machine->features() - 2 * points;
  } else {
    const auto* matrix = std::get_if<MatrixFactorization>(&model);
    if (matrix->columns() != points) in.refuse("a matrix of other configurations");
    if (in.ok()) made = matrix->rows();
  }
  if (made > kMostRows) in.refuse("more rows than there should be");
  if (!in.ok()) return {1, MfParams{}, RowsParams{}};
  ServiceRows rows(points, std::move(model), params);
  rows.epochs_done_ = epochs_done;
  rows.squared_error_ = squared_error;
  rows.made_ = made;
  // Each row has one owner, or is free.
  std::vector<bool> seen(made);
  const auto read_row = [&in, &seen] {
    if (seen.empty()) return std::uint32_t{0};
    const auto row = static_cast<std::uint32_t>(in.whole(0, seen.size() - 1));
    if (seen[row]) in.refuse("a row comes twice");
    seen[row] = true;
    return row;
  };
  in.line("owners");
  const std::uint64_t owners = in.whole(0, made);
  for (std::uint64_t i = 0; i < owners && in.ok(); ++i) {
    in.line("owner");
    const std::uint64_t service = in.whole(0, UINT64_MAX);
    if (!rows.rows_.try_emplace(service, read_row()).second) in.refuse("a service comes twice");
  }
  in.line("free");
  const std::uint64_t free = in.whole(made - owners, made - owners);
  for (std::uint64_t i = 0; i < free && in.ok(); ++i) rows.free_.push_back(read_row());
  return rows;
}

}  // namespace muster
