#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <variant>
#include <vector>

#include "learning/services/factorization_machine.hpp"
#include "learning/services/matrix_factorization.hpp"
#include "learning/services/measured.hpp"
#include "learning/services/performance_history.hpp"

namespace muster {

/// How often a learner goes over what was measured.
struct RowsParams {
  std::uint32_t epochs = 5;   ///< over the curves of past services
  std::uint32_t passes = 10;  ///< over the measurements of a service, whenever one is added

  friend bool operator==(const RowsParams&, const RowsParams&) = default;
};

/// Whether every number is within its bounds.
bool valid_rows_params(const RowsParams& params);
/// Writes the parameters, for read_rows_params().
void write_rows_params(ModelWriter& out, const RowsParams& params);
/// The parameters that were written; numbers out of bounds are a fault of the text.
RowsParams read_rows_params(ModelReader& in);

/// Learns performance as LRASched does: each service is a feature (or a row of a matrix) of its
/// own, which measurements of it teach, and each configuration one of all services. To the machine,
/// the configurations that the service was measured at are features, too.
class ServiceRows {
 public:
  ServiceRows(std::uint32_t points, const FmParams& fm, const RowsParams& params);
  ServiceRows(std::uint32_t points, const MfParams& mf, const RowsParams& params);

  /// Learns from curves of past services, whose own rows are forgotten then.
  void learn_curves(std::span<const PerformanceCurve> curves);
  /// Learns from all measurements of a service, of which that at `newest` is new.
  void learn(std::uint64_t service, std::span<const MeasuredPoint> measured, std::uint32_t newest);
  /// Forgets a service; another will get its row.
  void forget(std::uint64_t service);

  /// Means in [0, 1], and for all one deviation: that of predictions from what was measured then.
  void estimate(std::uint64_t service, std::span<const MeasuredPoint> measured,
                PerformanceEstimate& out) const;

  std::uint32_t points() const { return points_; }
  /// Rows for services that there are, in use or not.
  std::uint32_t rows() const { return made_; }
  bool knows(std::uint64_t service) const { return rows_.contains(service); }
  std::size_t services() const { return rows_.size(); }

  void write(ModelWriter& out) const;
  static ServiceRows read(ModelReader& in);
  friend bool operator==(const ServiceRows&, const ServiceRows&) = default;

 private:
  using Model = std::variant<FactorizationMachine, MatrixFactorization>;
  class Row;

  ServiceRows(std::uint32_t points, Model model, const RowsParams& params);
  void learn_together(std::span<const PerformanceCurve> curves);
  std::uint32_t take_row();
  void note_error(double error);

  std::uint32_t points_;
  RowsParams params_;
  Model model_;
  std::map<std::uint64_t, std::uint32_t> rows_;  ///< of services
  std::vector<std::uint32_t> free_;              ///< rows without a service, the last one first
  std::uint32_t made_ = 0;
  std::uint64_t epochs_done_ = 0;
  double squared_error_;  ///< mean over predictions, of which the newest count most
};

}  // namespace muster
