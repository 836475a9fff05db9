#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "schedulers/sampling/scheduler.hpp"
#include "tests/support/builders.hpp"

namespace muster::sampling::test {

/// Workers of `cpus` processors each, all of one type.
inline Catalog slots(double cpus = 1) {
  InstanceType type;
  type.name = "slot";
  type.family = "slot";
  type.capacity = Resources::of(0, cpus, 4 * cpus);
  type.on_demand = Price::from_usd_h(0.1);
  return Catalog({type});
}

inline Roster roster_of(const Catalog& catalog, std::size_t workers) {
  return {&catalog, std::vector<TypeId>(workers, TypeId{0})};
}

/// A job whose tasks take one processor, or as many as are said.
inline SharedJob job(std::uint64_t id, std::uint32_t tasks, double estimate_s, bool is_long = false,
                     double cpus = 1) {
  auto made = std::make_shared<SampledJob>();
  made->id = JobId{id};
  made->tasks = made->unlaunched = tasks;
  made->estimate_s = estimate_s;
  made->is_long = is_long;
  made->demand = {Resources::of(0, cpus, 0)};
  return made;
}

inline TaskBatch batch_of(const SharedJob& job) {
  TaskBatch batch{job, {}};
  for (std::uint32_t i = 0; i < job->tasks; ++i) batch.tasks.push_back(i);
  return batch;
}

inline Reservation probe(const SharedJob& job) {
  return {job, std::nullopt, 0, false, nullptr};
}

/// The actions of one kind, in their order; the others are left out.
template <class Kind>
std::vector<Kind> only(const Actions& actions) {
  std::vector<Kind> found;
  for (const Action& action : actions) {
    if (const auto* match = std::get_if<Kind>(&action)) found.push_back(*match);
  }
  return found;
}

}  // namespace muster::sampling::test
