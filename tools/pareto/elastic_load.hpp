#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "replay/workload/workload.hpp"
#include "schedulers/boa/boa_params.hpp"
#include "schedulers/boa/gpu_types.hpp"
#include "schedulers/boa/width_plan.hpp"

namespace muster::pareto {

/// Why nothing can be said of a workload.
enum class NoFrontier : std::uint8_t {
  no_elastic_jobs,
  no_rates,    ///< by the rates that are stated no jobs come
  not_stated,  ///< jobs of a class do not say how fast they are at which width
  no_price     ///< no instance type on offer holds a worker
};

/// A class of elastic jobs of a workload.
struct LoadClass {
  boa::ClassWork work;
  std::uint64_t jobs = 0;
  double worker_usd_h = 0;       ///< of the type at which a worker costs least, on demand
  std::uint32_t node_holds = 1;  ///< workers of one instance of that type
  double acquire_h = 0;          ///< of one, until it is billed
  double setup_h = 0;            ///< from then on, until workers may start

  /// GPUs that its jobs would have on average, were each on one and started for nothing.
  double load_gpus() const;
};

/// Load of a workload's elastic jobs on a cluster, as `boa` would be told of it.
struct ElasticLoad {
  std::vector<LoadClass> classes;  ///< by name
  double hours = 0;                ///< over which jobs come, whole ones
  std::uint64_t others = 0;        ///< jobs that are not elastic: left out
  /// That workers of all classes may have, the cheapest first; empty where classes differ in that.
  std::vector<boa::GpuType> types;

  std::vector<boa::ClassWork> work() const;
  double load_gpus() const;
  double jobs_per_h() const;
};

/// The classes of the workload: as their newest jobs state them, at the prices of the catalog, with
/// the rates and weights that `params` states. Rates that it does not state are the jobs of the
/// class over the hours from the first submission to the last one, rounded up to whole hours.
Expected<ElasticLoad, NoFrontier> elastic_load(const replay::JobSource& jobs,
                                               const Catalog& catalog,
                                               const boa::BoaParams& params);

/// Where the classes that the rates and weights of `params` name are not those of the elastic jobs,
/// a sentence each. Weights may leave classes out, rates that are stated may not.
std::vector<std::string> misnamed_classes(const replay::JobSource& jobs,
                                          const boa::BoaParams& params);

}  // namespace muster::pareto
