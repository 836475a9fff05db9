#pragma once

#include <vector>

#include "schedulers/muster/class_times.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// Which jobs are timed, that is placed by when their tasks may end, and which instances are
/// theirs. Both by slot; empty when no job is.
struct TimedJobs {
  std::vector<char> jobs;
  std::vector<char> instances;
  std::vector<char> other_jobs;       ///< the opposite of `jobs`
  std::vector<char> other_instances;  ///< the opposite of `instances`
  bool others = true;                 ///< there is a job or an instance that is not

  bool any() const { return !jobs.empty(); }
};

/// A job is timed when of each of its tasks is known how long it runs, and each is short or small:
/// said to run for less than `short_runs` times what its instance takes to start and a move of it
/// costs (`learnt_runs` where it is known by its class), or said, and such that more of it fit an
/// instance than a repartition shares out. Gangs and elastic
/// jobs are not, nor who wants distinct instances. An instance is a timed one as long as only tasks
/// of timed jobs are meant for it; a job with a task on another one, as after another policy, is
/// not timed. The prices have to know the state. O(tasks x types), and O(tasks) again for each link
/// of a chain of instances that timed jobs share with others; O(jobs) where no run times are
/// known.
TimedJobs find_timed_jobs(const ClusterView& view, const KnownTimes& times,
                          const ReservationPrices& prices);

}  // namespace muster::own
