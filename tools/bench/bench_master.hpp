#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "masters/master.hpp"

// Shared parts of a master's benchmarks: its cloud, its jobs, a policy that plans as it is told,
// and a stopwatch.

namespace muster::bench {

/// Several tasks an instance, so that counts of instances and of tasks differ.
inline constexpr std::uint32_t kTasksPerInstance = 8;

/// One type that has room for eight tasks of one core.
inline Catalog eights() {
  InstanceType type;
  type.name = "eight";
  type.family = "cpu";
  type.capacity = Resources::of(0, kTasksPerInstance, 32);
  type.on_demand = Price::from_usd_h(0.8);
  return Catalog({type});
}

/// A job whose tasks want one core each and have rising ids from `first_task` on.
// Callers count the first task so that no two jobs share a task's id.
inline Job job_of(std::uint64_t id, std::uint64_t first_task, std::uint64_t tasks, bool gang) {
  Job job;
  job.id = JobId{id};
  job.gang = gang;
  job.workload_class = "plain";
  job.tasks.resize(tasks);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    job.tasks[i].id = TaskId{first_task + i};
    job.tasks[i].demands = Demands(Resources::of(0, 1, 4));
  }
  return job;
}

/// Gives the plans that it was made with, each once.
class Plans : public Policy {
 public:
  explicit Plans(std::vector<Plan> plans) : plans_(std::move(plans)) {}
  Cadence cadence() const override { return {}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<Plans>(plans_); }
  Plan decide(const ClusterView&, Rng&, Budget&) override {
    return next_ < plans_.size() ? std::move(plans_[next_++]) : Plan{};
  }

 private:
  std::vector<Plan> plans_;
  std::size_t next_ = 0;
};

/// A new instance for each eight tasks from `first_task` on.
inline Plan by_eights(std::uint64_t first_task, std::uint64_t tasks) {
  Plan plan;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    if (i % kTasksPerInstance == 0) plan.launches.push_back({TypeId{0}, Market::on_demand, {}});
    const auto launch = static_cast<std::uint32_t>(plan.launches.size() - 1);
    plan.places.push_back({TaskId{first_task + i}, LaunchIndex{launch}, {}});
  }
  return plan;
}

/// A master whose policy gives that plan once, and whose tasks may be moved at any time.
inline Master master_with(const Catalog& catalog, Plan plan, MasterCaps caps = {}) {
  MasterSettings settings;
  settings.min_stay = {};
  MasterDependencies parts;
  parts.catalog = &catalog;
  parts.policy = std::make_unique<Plans>(std::vector<Plan>{std::move(plan)});
  settings.caps = caps;
  return Master(settings, std::move(parts));
}

/// Processor time of this process, in seconds: others on the machine do not count.
inline double processor_s() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// Reports the time between its making and its end as that of one iteration: the set-up of an
/// iteration is not measured.
class Stopwatch {
 public:
  explicit Stopwatch(benchmark::State& state) : state_(state) {}
  ~Stopwatch() { state_.SetIterationTime(processor_s() - begin_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  benchmark::State& state_;
  // Read as the object is made, after everything that stands before it in the iteration.
  double begin_ = processor_s();
};

}  // namespace muster::bench
