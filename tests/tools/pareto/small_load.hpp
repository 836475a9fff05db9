#pragma once

#include <string>

#include "schedulers/boa/boa_params.hpp"
#include "tests/support/builders.hpp"
#include "tools/pareto/elastic_load.hpp"

namespace muster::pareto::test {

using muster::test::at_s;
using muster::test::JobBuilder;

/// Three hours of one GPU, in epochs of one and of two.
inline ElasticEpochs two_epochs() {
  return ElasticEpochs({{3600, 1, {1, 1.8, 2.4}, {}}, {10800, 1, {1, 1.9, 2.7}, {}}});
}

/// A job whose workers have a GPU each, and which takes so long to start.
inline Job training(std::uint64_t id, const std::string& name = "net", double start_s = 0) {
  Delays delays;
  delays.init = from_seconds(start_s);
  return JobBuilder(id)
      .workload_class(name)
      .demand(Resources::of(1, 4, 16))
      .delays(delays)
      .elastic(1, 3, two_epochs())
      .build();
}

inline void add(replay::Workload& workload, Job job, double submit_s) {
  workload.jobs.push_back({std::move(job), at_s(submit_s), {}});
}

/// Two jobs an hour for two hours: a load of 6 GPUs at $3 an hour each.
inline replay::Workload four_jobs() {
  replay::Workload workload;
  workload.description = "four jobs";
  for (std::uint64_t id = 1; id <= 4; ++id) {
    add(workload, training(id), 2000 * static_cast<double>(id));
  }
  return workload;
}

inline ElasticLoad small_load(const boa::BoaParams& params = {}) {
  return elastic_load(four_jobs(), muster::test::table3_catalog(), params).value();
}

}  // namespace muster::pareto::test
