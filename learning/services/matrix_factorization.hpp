#pragma once

#include <cstdint>
#include <vector>

#include "learning/model_text.hpp"

namespace muster {

/// Sizes and rates of a matrix factorization.
struct MfParams {
  std::uint32_t factors = 8;
  bool biases = false;  ///< a mean, and what each row and column adds to it, are learnt too
  double rate = 0.05;   ///< of a step of the descent
  double l2 = 0.02;
  double sigma = 0.1;  ///< deviation of the factors that a row or column begins with
  std::uint64_t seed{};

  friend bool operator==(const MfParams&, const MfParams&) = default;
};

/// Whether a matrix can be factorized with them.
bool valid_mf_params(const MfParams& params);
void write_mf_params(ModelWriter& out, const MfParams& params);
MfParams read_mf_params(ModelReader& in);

/// Matrix factorization by stochastic gradient descent, one value after the other: the model with
/// which LRASched compares its own. Rows are services, columns configurations.
class MatrixFactorization {
 public:
  /// The params have to be valid_mf_params.
  explicit MatrixFactorization(std::uint32_t columns, const MfParams& params = {});

  /// Adds a row.
  void grow();
  /// Lets a row begin anew, with other random factors.
  void restart(std::uint32_t row);

  double predict(std::uint32_t row, std::uint32_t column) const;
  /// The prediction from before the step.
  double learn(std::uint32_t row, std::uint32_t column, double target);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(rows_.size() / width()); }
  std::uint32_t columns() const { return static_cast<std::uint32_t>(columns_.size() / width()); }

  void write(ModelWriter& out) const;
  static MatrixFactorization read(ModelReader& in);
  friend bool operator==(const MatrixFactorization&, const MatrixFactorization&) = default;

 private:
  /// Numbers of a row or column: its bias, then its factors.
  std::size_t width() const { return std::size_t{params_.factors} + 1; }
  void draw(std::vector<double>& into, std::uint32_t which);

  MfParams params_;
  std::uint64_t drawn_ = 0;
  double mean_ = 0;
  std::vector<double> rows_;
  std::vector<double> columns_;
};

}  // namespace muster
