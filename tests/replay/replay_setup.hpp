#pragma once

#include <string>
#include <utility>

#include "config/catalog_file.hpp"
#include "replay/replay.hpp"
#include "tests/support/builders.hpp"

namespace muster::replay::test {

/// A small cluster to replay in: the paper's four types, no interference, Eva's delays.
class SmallReplay {
 public:
  SmallReplay() : catalog_(muster::test::table3_catalog()) {}

  /// Adds a job of `seconds` of work that is submitted at `submit_s`.
  SmallReplay& job(double submit_s, double seconds, const Resources& demand,
                   std::size_t tasks = 1) {
    Delays delays;
    delays.fetch = std::chrono::seconds{5};
    delays.build = std::chrono::seconds{10};
    delays.init = std::chrono::seconds{20};
    delays.stop = std::chrono::seconds{1};
    delays.upload = std::chrono::seconds{3};
    WorkloadJob entry;
    entry.job = muster::test::JobBuilder(1).tasks(tasks).demand(demand).delays(delays).build();
    entry.job.id = JobId{workload_.jobs.size()};
    entry.job.name = "w" + std::to_string(workload_.jobs.size() % 3);
    entry.job.workload_class = entry.job.name;
    for (TaskSpec& task : entry.job.tasks) {
      task.id = TaskId{next_task_++};
      task.image = entry.job.name;
    }
    entry.submit = muster::test::at_s(submit_s);
    entry.truth = {seconds, 1, entry.job.name};
    workload_.jobs.push_back(std::move(entry));
    return *this;
  }

  /// Adds a service that its user ends `lasts_s` after its submission; a performance of 0.8 alone
  /// and 0.72 beside others, and 0.7 as its goal.
  SmallReplay& service(double submit_s, double lasts_s, const Resources& demand,
                       std::size_t replicas = 1) {
    job(submit_s, lasts_s, demand, replicas);
    WorkloadJob& entry = workload_.jobs.back();
    entry.job.gang = false;
    entry.job.kind = ServiceSpec{};
    ServiceTruth truth;
    truth.performance =
        std::make_shared<const ServicePerformance>(*parse_performance("measured:1/1=0.8;x2=0.9"));
    truth.goal = 0.7;
    entry.truth.service = std::make_shared<const ServiceTruth>(std::move(truth));
    return *this;
  }

  ReplayConfig& config() { return config_; }
  const Catalog& catalog() const { return catalog_; }
  void use(Catalog catalog) { catalog_ = std::move(catalog); }
  Workload& workload() { return workload_; }

  Expected<Run, ReplayError> run(const std::string& policy, std::uint64_t seed = 1,
                                 std::optional<std::uint64_t> shuffle = std::nullopt) const {
    return run_replay(setup(policy, seed, shuffle));
  }

  RunSetup setup(const std::string& policy, std::uint64_t seed,
                 std::optional<std::uint64_t> shuffle) const {
    RunSetup setup;
    setup.config = &config_;
    setup.catalog = &catalog_;
    setup.workload = &workload_;
    setup.policy = parse_policy(policy).value();
    setup.label = policy;
    setup.seed = seed;
    setup.shuffle = shuffle;
    setup.stopwatch = [] { return Duration{}; };
    setup.keep_events = true;
    return setup;
  }

 private:
  Catalog catalog_;
  ReplayConfig config_;
  Workload workload_;
  std::uint64_t next_task_ = 0;
};

}  // namespace muster::replay::test
