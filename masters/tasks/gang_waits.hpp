#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "config/master_settings.hpp"
#include "model/cluster_state.hpp"
#include "model/master_snapshot.hpp"

namespace muster {

/// Sum over a gang's tasks of the least that each asks for on any family.
struct GangDemand {
  Resources whole;      ///< of all tasks; of an elastic job unused, as its width changes
  Resources of_worker;  ///< of an elastic job, whose workers are alike
  bool elastic = false;

  /// Looks at all of the job's tasks.
  static GangDemand of(const Job& job);
  Resources at(const JobRow& job) const;
};

/// That a gang asks for more than all of a fixed fleet has, with the numbers of what is short;
/// nothing when it does not. Looks at all of its tasks.
std::optional<Refusal> gang_over_fleet(const JobRow& job, const ClusterState& state);

/// Keeps gangs and small jobs from starving each other where caps, the cloud or a fixed fleet have
/// no room for all.
///
/// A gang that does not fit blocks nothing: one that the cloud refuses, or that is larger than a
/// cap, rests, twice as long each time. Meanwhile policies plan as if it were not there, so that no
/// plan counts on its instances. Of several that the cloud refused and that have rested one asks in
/// a round: it does not take and give back, time and again, what others could use. On a fixed fleet
/// a gang that did not get all its places rests likewise, while others wait.
///
/// Small jobs that take whatever comes free would keep a gang waiting for ever: after a time of
/// patience it has a turn, in which no other job starts, so that room for it gathers as what runs
/// ends. The turn ends when the gang starts, or after a time; each next wait and turn is twice as
/// long. However long the others' tasks run, some turn is long enough, up to the longest. After a
/// turn everybody may start for as long as it took, however many gangs wait. A gang that is too
/// large for the caps, or that the cloud or the fleet had no room for without other jobs, has no
/// turns.
class GangWaits {
 public:
  GangWaits(const MasterSettings& settings, bool fixed_fleet)
      : settings_(settings), fixed_fleet_(fixed_fleet) {}

  /// Learns from the event; `state` does not know of it yet.
  void absorb(const Event& event, const ClusterState& state);

  /// The turn that begins now, if any.
  std::optional<GangTurn> due(const ClusterState& state, Instant now) const;
  /// Whose turn it is.
  std::optional<JobId> turn(Instant now) const;
  /// The gangs that the cloud is not asked for in the round, by rising ids.
  std::vector<JobId> backed_off(const ClusterState& state, std::uint64_t round, Instant now) const;
  /// How often the cloud has refused the job while it waits.
  std::uint32_t refusals(JobId id) const;

  /// As gang_over_fleet(), by what was summed up when the gang came: looks at no task. Of jobs that
  /// are no gangs of several tasks, and where nothing is a fixed fleet, nothing.
  std::optional<Refusal> over_fleet(const JobRow& job, const ClusterState& state) const;

  /// How many tasks have been looked at to sum up what gangs ask for: each once.
  std::uint64_t tasks_summed() const { return tasks_summed_; }

  const GangWaitState& book() const { return book_; }
  /// `state`: as it was when the book was written.
  void restore(GangWaitState book, const ClusterState& state);

 private:
  struct Fold;

  void know(const Job& job);
  Duration grown(Duration first, std::uint32_t times) const;
  void forget(JobId id, Instant now);
  void end_turn(Instant now);

  MasterSettings settings_;
  bool fixed_fleet_;
  GangWaitState book_;
  std::map<JobId, GangDemand> demands_{};  ///< of the unfinished gangs of a fixed fleet; derived
  std::uint64_t tasks_summed_ = 0;
};

}  // namespace muster
