#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schedulers/eva/artifact_layouts.hpp"
#include "schedulers/packing/rounds/layout.hpp"

namespace muster::eva {

/// Cost of getting from the present to a layout (the M of Eva's equation 1, which the paper leaves
/// open), $. Declared delays are used: those of the types and those of the tasks.
/// - a job with a task that moves or starts makes no progress for the longest of its tasks' stop,
///   upload (if it runs), fetch and build, and then its init; that time is charged at the job's
/// worth. Tasks of a job that is no gang are charged one by one; - the run time that a moved task
/// would lose, because nothing keeps it, is charged at its reservation price; of a gang the run
/// times of all of its tasks are; - a new instance is charged its price while it is acquired and
/// set up.
class MigrationCost {
 public:
  double of(const Layout& layout, const RoundInput& input, const ClusterView& view,
            const ReservationPrices& prices);

 private:
  std::vector<char> moved_;  ///< of each job
};

/// Migration cost as the artifact computes it: delays as seen in the task's past (0 before), a
/// job's worth is its cost alone, and a new instance is charged 300 s of its price. Lost run time
/// counts as above: in the artifact's world there is no loss.
class ArtifactMigrationCost {
 public:
  double of(const Layout& layout, const RoundInput& input, const ClusterState& state,
            ArtifactLayouts& layouts, const WorthModel& model, TaskKinds& kinds);
  void forget(JobId job) { alone_usd_h_.erase(job); }
  /// Prices have changed.
  void forget_prices() { alone_usd_h_.clear(); }

 private:
  double alone_usd_h(const JobRow& job, const ClusterState& state, ArtifactLayouts& layouts,
                     const WorthModel& model, TaskKinds& kinds);

  std::vector<char> moved_;                        ///< of each job
  std::unordered_map<JobId, double> alone_usd_h_;  ///< looked up only
};

}  // namespace muster::eva
