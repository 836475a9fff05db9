#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tests/replay/replay_setup.hpp"

namespace muster::replay::test {

/// A fixed fleet of workers that are there at once, in exact time, and jobs of independent tasks.
class SlotReplay {
 public:
  explicit SlotReplay(std::uint32_t workers, double cpus = 1) {
    InstanceType slot;
    slot.name = "slot";
    slot.family = "slot";
    slot.capacity = Resources::of(0, cpus, 4 * cpus);
    slot.on_demand = Price::from_usd_h(0.1);
    replay_.use(Catalog({slot}));
    ReplayConfig& config = replay_.config();
    config.world.quantum = std::chrono::microseconds{1};
    config.world.settle = Duration::zero();
    config.fleet.parts = {{workers, "slot", Market::on_demand}};
  }

  SlotReplay& job(double submit_s, double seconds, std::uint32_t tasks, double cpus = 1) {
    replay_.job(submit_s, seconds, Resources::of(0, cpus, 0), tasks);
    Job& made = replay_.workload().jobs.back().job;
    made.gang = false;
    made.runtime_hint = from_seconds(seconds);
    for (TaskSpec& task : made.tasks) {
      task.delays = {};
      task.image.clear();
    }
    return *this;
  }

  SmallReplay& replay() { return replay_; }
  Run run(const std::string& group, std::uint64_t seed = 1) const {
    auto run = replay_.run(group, seed);
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return std::move(run).value();
  }

 private:
  SmallReplay replay_;
};

/// When each job was over, in milliseconds after it was accepted.
inline std::map<std::uint64_t, double> jct_ms(const Run& run) {
  std::map<std::uint64_t, double> accepted, jct;
  for (const Event& event : run.events) {
    const double now_ms = to_seconds(event.at) * 1e3;
    if (const auto* in = std::get_if<JobAccepted>(&event.body)) accepted[in->job.id.value] = now_ms;
    if (const auto* over = std::get_if<JobFinished>(&event.body)) {
      jct[over->job.value] = now_ms - accepted[over->job.value];
    }
  }
  return jct;
}

/// What became of tasks, a line each: "3 ms: task 0 starts on 1". Starts and ends only.
inline std::vector<std::string> transcript(const Run& run) {
  std::vector<std::string> lines;
  const auto say = [&](const Event& event, const std::string& what) {
    lines.push_back(fmt::format("{:g} ms: {}", to_seconds(event.at) * 1e3, what));
  };
  for (const Event& event : run.events) {
    if (const auto* e = std::get_if<StartIssued>(&event.body)) {
      say(event, fmt::format("task {} is sent to {}", e->task.value, e->instance.value));
    } else if (const auto* s = std::get_if<TaskStarted>(&event.body)) {
      say(event, fmt::format("task {} starts", s->task.value));
    } else if (const auto* f = std::get_if<TaskFinished>(&event.body)) {
      say(event, fmt::format("task {} ends", f->task.value));
    } else if (const auto* j = std::get_if<JobFinished>(&event.body)) {
      say(event, fmt::format("job {} is over", j->job.value));
    }
  }
  return lines;
}

}  // namespace muster::replay::test
