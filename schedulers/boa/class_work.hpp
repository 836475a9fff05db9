#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/constraint.hpp"
#include "model/elastic.hpp"
#include "model/job.hpp"
#include "schedulers/boa/boa_params.hpp"
#include "schedulers/boa/gpu_types.hpp"
#include "schedulers/boa/width_plan.hpp"

// Inputs of the width calculator about a class of jobs, by the jobs' statements: used by the
// policy, which decides by it, and by the tools that predict for a budget.

namespace muster::boa {

/// A rate that is counted over less is taken for that of an hour.
inline constexpr Duration kLeastCounted = std::chrono::hours{1};

/// The epochs with their sizes in GPU-hours, and as many widths in each. Jobs without stated epochs
/// have one of an hour with the `speedup` that they state; an unknown epoch counts as an hour
/// without any speedup.
std::vector<EpochWork> epochs_of(const ElasticEpochs& epochs, const std::vector<double>& speedup);

/// All work of a job at one worker, GPU-hours.
double gpu_h_of(const std::vector<EpochWork>& epochs);

/// Jobs state how fast they are at some width.
bool states_speedups(const ElasticSpec& spec);

/// How long the GPUs of a job are held without progress whenever it starts at a width.
Duration rescale_of(const Job& job);

/// Where a worker costs least.
struct WorkerHost {
  std::uint32_t node_holds = 1;  ///< workers of one instance
  double worker_usd_h = 0;       ///< its part of the instance, on demand; 0 where no type holds it
  Duration acquire{};            ///< of that instance, until it is billed
  Duration setup{};              ///< of it from then on, until tasks may start
};
WorkerHost cheapest_host(const Shape& worker, const Catalog& catalog);

/// The types of GPU that workers may have: of each family that holds one, what it costs where it
/// costs least, and how fast it is there. In the order of the catalog.
std::vector<GpuType> gpu_types_of(const Shape& worker, const Catalog& catalog);

/// Numbers by class, of texts "class:number".
std::map<std::string, double> by_class(const std::vector<std::string>& entries);

/// The widths that the parameters' calculator has for a budget.
Expected<WidthPlan, WidthError> plan_by(PlanKind kind, const std::vector<ClassWork>& classes,
                                        double budget_gpus);

/// The job is of the share of its class's jobs: that share of many jobs is, as evenly over the
/// order of arrival as may be, and a job that is of a share is of all greater ones, too.
bool takes_share(JobId job, double share);

}  // namespace muster::boa
