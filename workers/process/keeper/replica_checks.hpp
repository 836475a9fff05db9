#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workers/process/keeper/goal_probe.hpp"
#include "workers/process/keeper/health_watch.hpp"

namespace muster::process {

/// All that is asked of a replica again and again while its program runs.
struct ReplicaChecks {
  explicit ReplicaChecks(const ServiceSpec& service)
      : ready(service.ready), alive(service.alive), probe(service.goal) {}

  void begin(const std::vector<ReplicaPort>& ports, const std::vector<std::string>& env,
             Duration first) {
    ready.begin(ports, env, first);
    alive.begin(ports, env, first);
  }
  void end() {
    ready.end();
    alive.end();
    probe.run(false, {});
  }
  void go_on() {
    ready.go_on();
    alive.go_on();
    probe.go_on();
  }
  bool runs(pid_t pid) const { return ready.runs(pid) || alive.runs(pid) || probe.runs(pid); }
  void take_end(pid_t pid, int status) {
    if (ready.take_end(pid, status) || alive.take_end(pid, status)) return;
    probe.take_end(pid, status);
  }
  void add_to(std::vector<pollfd>& polled) const {
    ready.add_to(polled);
    alive.add_to(polled);
    probe.add_to(polled);
  }
  Duration due() const { return std::min({ready.due(), alive.due(), probe.due()}); }
  /// The last failure of one of them; empty: all is well.
  std::string failure() const {
    for (const std::string* each : {&alive.failure(), &ready.failure(), &probe.failure()}) {
      if (!each->empty()) return *each;
    }
    return {};
  }

  HealthWatch ready;
  HealthWatch alive;
  GoalProbe probe;
};

}  // namespace muster::process
