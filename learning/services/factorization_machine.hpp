#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/model_text.hpp"

namespace muster {

/// Bounds of a FactorizationMachine: factors of a feature, and features.
inline constexpr std::uint32_t kMostFactors = 64;
inline constexpr std::uint32_t kMostFeatures = 1U << 20U;
/// Larger features and targets than this are taken for it.
inline constexpr double kGreatestFeature = 1e6;

/// Settings of FTRL-Proximal for a kind of parameters: their steps and regularisation.
struct FtrlRates {
  double alpha = 0.1;
  double beta = 1;
  double l1 = 0;
  double l2 = 0;

  friend bool operator==(const FtrlRates&, const FtrlRates&) = default;
};

/// Which equations of the paper are taken as they are printed, for comparison.
struct FmPrinted {
  bool shrinkage = false;  ///< (7): a factor is 0 where the feature's weight is
  bool gradient = false;   ///< of (10), which is right for features of 0 and 1 alone
  bool start = false;      ///< Algorithm 1: every sum begins at 0, and with it every factor

  friend bool operator==(const FmPrinted&, const FmPrinted&) = default;
};

/// Sizes and rates of a factorization machine.
struct FmParams {
  std::uint32_t factors = 8;
  FtrlRates weights{};   ///< of the constant and of each feature
  FtrlRates vectors{};   ///< of each feature's factors
  double sigma = 0.05;   ///< deviation of the factors that a feature begins with
  std::uint64_t seed{};  ///< of these
  FmPrinted printed{};

  friend bool operator==(const FmParams&, const FmParams&) = default;
};

/// A coordinate that is not 0.
struct FmFeature {
  std::uint32_t at = 0;
  double value = 0;
};

/// A factorization machine of degree two that learns one row after the other by FTRL-Proximal with
/// a learning rate for each parameter (LRASched 3.2.1). The square of the error is the loss. Equal
/// params and rows give equal machines.
class FactorizationMachine {
 public:
  /// The params have to be valid_fm_params.
  explicit FactorizationMachine(const FmParams& params = {});

  /// Makes the machine know that many features at least: a new one weighs 0 and has random factors.
  void grow(std::uint32_t features);
  /// Adds a feature with these factors.
  void add(std::span<const double> factors);
  /// Lets a feature begin anew, with other random factors.
  void restart(std::uint32_t feature);

  /// Each feature may be in a row once; one that is not known counts for nothing. O(factors *
  /// row.size()), without an allocation.
  double predict(std::span<const FmFeature> row) const;
  /// Learns from a row, whose features are known from then on. The prediction from before it.
  double learn(std::span<const FmFeature> row, double target);

  const FmParams& params() const { return params_; }
  std::uint32_t features() const { return static_cast<std::uint32_t>(weights_.size()); }
  double constant() const { return constant_.theta; }
  double weight(std::uint32_t feature) const { return weights_[feature].theta; }
  double factor(std::uint32_t feature, std::uint32_t which) const;

  void write(ModelWriter& out) const;
  static FactorizationMachine read(ModelReader& in);
  friend bool operator==(const FactorizationMachine&, const FactorizationMachine&) = default;

 private:
  /// A parameter: the sums that it follows from, and itself.
  struct Parameter {
    double z = 0;
    double n = 0;
    double theta = 0;

    void step(double gradient, const FtrlRates& rates);
    friend bool operator==(const Parameter&, const Parameter&) = default;
  };

  void begin(std::uint32_t feature, std::span<const double> factors);
  void draw(std::uint32_t feature);
  void settle_factors(std::uint32_t feature);
  double predict_with(std::span<const FmFeature> row, std::span<double> sums) const;

  FmParams params_;
  std::uint64_t drawn_ = 0;  ///< features that began with random factors so far
  Parameter constant_;
  std::vector<Parameter> weights_;
  std::vector<Parameter> factors_;  ///< of the first feature, of the second ...
};

/// Whether a machine can be made with them.
bool valid_fm_params(const FmParams& params);
void write_fm_params(ModelWriter& out, const FmParams& params);
FmParams read_fm_params(ModelReader& in);

/// The machine as text, and back; any damage to the text is an error that names the line.
std::string fm_text(const FactorizationMachine& machine);
Expected<FactorizationMachine, LearnError> parse_fm(std::string_view text);

}  // namespace muster
