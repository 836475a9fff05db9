#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.hpp"
#include "schedulers/market_view.hpp"
#include "schedulers/muster/fleet_params.hpp"

namespace muster::own {

/// Source of expected run times.
enum class RunTimes : std::uint8_t {
  unknown,    ///< nothing
  predicted,  ///< the site's prediction
  hinted      ///< the user's hint
};

/// Parameters of the policy. The defaults were chosen on the first quarter of the Gavel trace.
struct MusterParams {
  Duration period{std::chrono::seconds{300}};
  bool eager = true;  ///< rounds at once on arrivals and on resources that come free, too
  Duration horizon{std::chrono::hours{2}};  ///< over which the cost of a change is spread
  /// Worth of an hour of a user's time, as a share of the price of the task's work.
  double theta = 0.37;
  double theta_usd_h = 0;  ///< likewise, as a sum: then the scale of prices matters
  Duration free_wait{std::chrono::seconds{36}};  ///< time that a task may wait whatever its age
  double wait_share = 0.05;                      ///< and this share of its age besides
  Duration most_wait{std::chrono::hours{168}};   ///< but no longer, however old it is
  bool patient = true;                           ///< false: no task waits past the next round
  std::uint32_t triples = 8;                     ///< of instances, tried a round besides pairs
  std::uint32_t max_tasks = 8;                   ///< in one repartition
  /// Subset steps that a round takes at most where the master sets no deadline: as many as 20 ms
  /// do.
  std::uint32_t steps = 1'000'000;
  RunTimes run_times = RunTimes::predicted;  ///< a task's horizon ends where it is expected to
  /// A task that is said to run for less than this many times its instance's start and a move of it
  /// is placed by its expected end, as small ones are (timed_jobs.hpp); 0: no task is.
  double short_runs = 20;
  /// Likewise of a task of which nothing is said, where tasks of its class have run for less; 0: no
  /// such task is.
  double learnt_runs = 5;
  /// An empty instance is kept for this many times as long as a start of another one takes,
  /// a period at most.
  double keep = 1;
  bool at_once = false;        ///< empty instances go back between rounds, too
  double default_pair = 0.95;  ///< expected rate beside a neighbour never observed
  SpotUse spot = SpotUse::allowed;
  /// Expected of a spot instance in an hour where the cloud has said nothing of it.
  double interruptions_h = 0.02;
  bool strict = false;  ///< no task waits past the next round, and a round looks further
  FleetParams fleet{};  ///< for masters whose instances are given
};

/// The settings of which `strict` stands for all at once; the others as they are.
inline MusterParams with_strict(MusterParams params) {
  if (!params.strict) return params;
  params.patient = false;
  params.triples = 20;
  params.max_tasks = 9;
  // Tasks that do not wait need little urgency: Gavel's mean price times this is $0.3 an hour, too.
  params.theta = 0.074;
  return params;
}

}  // namespace muster::own
