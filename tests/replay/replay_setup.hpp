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
