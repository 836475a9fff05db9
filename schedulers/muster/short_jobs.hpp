#pragma once

#include <vector>

#include "schedulers/muster/muster_params.hpp"
#include "schedulers/packing/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Which jobs are short, and which instances are theirs. Both by slot; empty when no job is short.
struct ShortJobs {
  std::vector<char> jobs;
  std::vector<char> instances;
  std::vector<char> other_jobs;       ///< the opposite of `jobs`
  std::vector<char> other_instances;  ///< the opposite of `instances`
  bool others = true;                 ///< there is a job or an instance that is not short

  bool any() const { return !jobs.empty(); }
};

/// A job is short when each of its tasks is said to run for less than `short_runs` times what its
/// instance takes to start and a move of it costs; gangs and elastic jobs are not, nor who wants
/// distinct instances. An instance is a short one as long as only tasks of short jobs are meant for
/// it; a job that has a task on another one, as after a change of what is said, is not short. The
/// prices have to know the state. O(tasks), nothing where no run times are said.
ShortJobs find_short_jobs(const ClusterView& view, const MusterParams& params,
                          const ReservationPrices& prices);

}  // namespace muster::own
