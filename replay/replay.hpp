#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "model/event.hpp"
#include "replay/metrics/run_result.hpp"
#include "replay/workload/workload.hpp"
#include "schedulers/registry.hpp"

namespace muster::replay {

enum class ReplayError : std::uint8_t { bad_policy, bad_input, violated_invariant };

/// Inputs of one run. The referenced objects are only read, so that runs can go side by side.
struct RunSetup {
  const ReplayConfig* config = nullptr;
  const Catalog* catalog = nullptr;
  const JobSource* workload = nullptr;
  PolicySpec policy;
  std::string label;  ///< the policy as it was asked for
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> shuffle;  ///< runs ready actors in an order drawn from this seed
  /// Makes the cloud that the master sees from the cloud that there is: room for a faulty link.
  std::function<CloudForMasters(caf::actor_system&, const CloudForMasters&)> link_cloud;
  std::function<Duration()> stopwatch;                              ///< measures, never decides
  std::function<void(std::size_t over, std::size_t all)> progress;  ///< told now and then
  std::function<void(const Event&)> on_event;  ///< shown every event as it is written; may be empty
  bool keep_events = false;                    ///< all of them stay in memory, for tests
};

/// Results of a run; with its whole event log where that was wanted.
struct Run {
  metrics::RunResult result;
  std::vector<Event> events;
  std::uint64_t steps = 0;  ///< timers that came due
};

/// The fault of the policy's or group's name and parameters; empty when they are right.
std::string policy_fault(const PolicySpec& spec, const Catalog& catalog);

/// Replays the workload under one policy: the actors of a live cluster, run in virtual time against
/// the loopback cloud and the simulated world, until every job is over and every instance is gone.
/// Checks the invariants that hold in every run (capacity, one place a task, bills that agree to
/// the last unit, every job accounted for); a broken one is an error that names it.
Expected<Run, ReplayError> run_replay(const RunSetup& setup);

}  // namespace muster::replay
