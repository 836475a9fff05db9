#pragma once

#include <deque>
#include <optional>

#include "model/cluster_state.hpp"
#include "replay/metrics/run_result.hpp"
#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/policy_module.hpp"

namespace muster::replay {

/// How far the widths that `boa` plans by what it learns are from those that it would plan by what
/// jobs state: follows a run's log with two of its memories, which make their plans when its own
/// does. No policy sees any of it.
class WidthErrors {
 public:
  /// `params` are those of each master.
  WidthErrors(const boa::BoaParams& params, const Catalog& catalog);

  /// The job of the event has to stay alive until the job's end was seen.
  void see(const Event& event);
  /// Leaves the figures absent where some job does not state its speedups.
  void finish(metrics::RunResult& result) const;

 private:
  struct Cell {
    ClusterState state;
    boa::BoaMemory learns;
    boa::BoaMemory is_told;
    std::optional<double> error{};
  };

  void add_point(Instant at);

  boa::BoaParams params_;
  const Catalog& catalog_;
  std::deque<Cell> cells_;
  metrics::Series points_;
  Instant last_;
  bool all_state_ = true;
};

/// For a policy that plans widths by learnt speedups, of one of `masters` masters; else nothing.
std::optional<WidthErrors> width_errors_of(const PolicySpec& policy, std::uint32_t masters,
                                           const Catalog& catalog);

/// |width / width told - 1|, mean over classes and epochs by the load of the work that is stated,
/// of plans that are made of that work in the same order.
double width_error(const boa::WidthPlan& learnt, const boa::WidthPlan& told,
                   const std::vector<boa::ClassWork>& work);

}  // namespace muster::replay
