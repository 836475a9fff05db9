#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/schedulers/catalogs.hpp"

// The world of the Stratus paper.

namespace muster::testing {

/// The instance types of its Figure 3(c), at the prices of 2017.
inline Catalog m4(bool with_spot = false) {
  std::vector<InstanceType> types;
  const auto add = [&](const char* name, double cpu, double gib, double usd_h) {
    types.push_back(type_of(name, "m4", Resources::of(0, cpu, gib), usd_h));
    if (with_spot) types.back().spot = Price::from_usd_h(usd_h / 4);
  };
  add("large", 2, 8, 0.1);
  add("xlarge", 4, 16, 0.2);
  add("2xlarge", 8, 32, 0.4);
  add("4xlarge", 16, 64, 0.8);
  add("10xlarge", 40, 160, 2);
  add("16xlarge", 64, 256, 3.2);
  return Catalog(std::move(types));
}

/// Tasks that are on their own, of which their user says how long each takes.
inline Job job_of(std::uint64_t id, double runs_s, double cpu, double gib, std::size_t tasks = 1) {
  Job job =
      test::JobBuilder(id).tasks(tasks).demand(Resources::of(0, cpu, gib)).gang(false).build();
  job.runtime_hint = from_seconds(runs_s);
  return job;
}

}  // namespace muster::testing
