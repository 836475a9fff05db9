#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "actors/time/alarm.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/actor/planner_seat.hpp"
#include "masters/actor/planner_trouble.hpp"
#include "masters/master.hpp"

namespace muster {

/// A master's rounds, at its policy's cadence: when one is due, what workers say to it, the
/// decision, and its plan slice by slice. One is under way at a time.
class Rounds {
 public:
  struct Host {
    /// Asks the workers that run something for samples; of which instances they are.
    std::function<std::set<InstanceId>(std::uint64_t sample_round)> ask_samples;
    std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
    std::function<void(Duration)> took;   ///< is told how long a decision took
    /// Events that are committed between the two are of a slice of the newest round's plan.
    std::function<void()> begin_slice;
    std::function<void(bool more_follow)> end_slice;
    /// Is told the planner's failure; empty: failures are dropped.
    std::function<void(const std::string&)> note;
  };
  /// The parts that it works with; they outlive it.
  struct Parts {
    Master& master;
    PlannerSeat& seat;
    PartHost& host;
  };
  Rounds(const Parts& parts, Host host);

  /// Once, when the master is what it was before it was started again.
  void begin();
  /// Something has happened for which the policy is to be asked.
  void want();
  /// Arms the next regular round, which something that happened calls for.
  void await_tick();
  void hear(const SampleAnswer& answer);
  /// Orders what the fleet lacks. Between two parts of a large fleet the master hears what was said
  /// meanwhile; in a replay it hears nothing.
  void order_fleet();
  /// Why the planner's last answer was no plan, or what it lacked.
  const std::string& trouble() const { return trouble_.text(); }

 private:
  void tick();
  void look_again();
  void gather();
  void gather_later();
  void take_unasked(const SampleAnswer& answer);
  void decide();
  void decide_at_once(const RoundWish& wish, Duration before);
  void note_planner(const PlannedRound& planned);
  void on_plan(PlannedRound&& planned);
  void on_failed_plan();
  void carry_on();
  std::vector<JobProgress> progress_in(const SampleAnswer& answer) const;
  bool is_present(TaskId id, Attempt attempt, InstanceId on) const;

  Master& master_;
  PlannerSeat& seat_;
  PartHost& host_;
  Host hooks_;
  Cadence cadence_;
  Alarm<PartHost> tick_;
  std::optional<Instant> gathered_at_;  ///< when samples were asked for last
  Instant last_tick_{Duration::min()};  ///< of the last regular round that was asked for
  std::uint64_t quiet_pause_ = 0;  ///< periods from the last look at a calm cluster to the next
  bool wanted_ = false;
  PlannerTrouble trouble_;
  std::vector<ThroughputSample> samples_;
  std::vector<JobProgress> progress_;
  std::uint64_t sample_round_ = 0;         ///< number of the last asking for samples
  std::set<InstanceId> awaiting_samples_;  ///< asked, and not heard of yet
};

}  // namespace muster
