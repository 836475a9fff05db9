#include "replay/workload/stated_truth.hpp"

#include <cmath>

namespace muster::replay {

bool states_truth(const JobSource& workload) {
  // Most change by rounding to nanoseconds and to the texts of files.
  constexpr double kRounding = 1e-6;
  bool stated = false;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const WorkloadJob job = workload.job(i);
    if (!job.job.runtime_hint) continue;
    stated = true;
    const double true_s = job.truth.mean_task_s();
    const double stated_s = to_seconds(*job.job.runtime_hint);
    if (std::abs(stated_s - true_s) > kRounding * (1 + true_s)) return false;
  }
  return stated;
}

}  // namespace muster::replay
