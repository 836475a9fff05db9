#pragma once

#include <cstdint>
#include <span>

#include "learning/batch_choice.hpp"

namespace muster {

/// How long a step of data-parallel training takes (Pollux 3.2), all but `gamma` in seconds:
///   T_grad(a)   = alpha_c + beta_c a
///   T_sync(n,r) = alpha_r + beta_r max(r - 2, 0) on one node, alpha_n + beta_n max(r - 2, 0) on
///                 several, nearly nothing for one worker
///   T_step      = s T_grad + (T_grad^gamma + T_sync^gamma)^(1/gamma)
struct ThroughputParams {
  double alpha_c = 0;
  double beta_c = 0;
  double alpha_n = 0;
  double beta_n = 0;
  double alpha_r = 0;
  double beta_r = 0;
  double gamma = 1;  ///< how far passes and synchronisation overlap: from 1, not at all, to 10

  friend bool operator==(const ThroughputParams&, const ThroughputParams&) = default;
};

/// The workers of a job, as far as the model tells their placements apart.
struct WorkerGroup {
  std::uint32_t replicas = 1;
  bool several_nodes = false;

  friend auto operator<=>(const WorkerGroup&, const WorkerGroup&) = default;
};

/// A pass that ends a step, as it was measured.
struct MeasuredPass {
  WorkerGroup workers;
  std::uint32_t local_batch = 1;
  double step_s = 0;  ///< with the synchronisation
  double sync_s = 0;  ///< the synchronisation in it

  /// Of a pass without its synchronisation, more than nothing: of means of both, which are rounded
  /// apart, the one may come to the other.
  double alone_s() const;
};

/// The least value of a parameter but gamma: it stands for zero.
inline constexpr double kLeastParam_s = 1e-8;
inline constexpr double kGreatestParam_s = 1e18;
inline constexpr double kLargestGamma = 10;

/// Of a pass without synchronisation.
double pass_s(const ThroughputParams& params, std::uint32_t local_batch);
/// Of a step with all its passes.
double step_s(const ThroughputParams& params, const WorkerGroup& workers, const BatchChoice& batch);

/// The parameters that fit the measurements best, by the errors of logarithms. Parameters without
/// measurements are held at values that make untried widths look cheap, which makes jobs try them.
/// There has to be a measurement; of any finite ones the parameters are within kLeastParam_s and
/// kGreatestParam_s, gamma within 1 and kLargestGamma.
ThroughputParams fit_throughput(std::span<const MeasuredPass> measured);

}  // namespace muster
