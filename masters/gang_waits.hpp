#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/master_settings.hpp"
#include "model/cluster_state.hpp"
#include "model/master_snapshot.hpp"

namespace muster {

/// That a gang asks for more than all of a fixed fleet has, with the numbers of what is short;
/// nothing when it does not. Looks at all of its tasks.
std::optional<Refusal> gang_over_fleet(const JobRow& job, const ClusterState& state);

/// Keeps gangs and small jobs from starving each other where caps, the cloud or a fixed fleet have
/// no room for all.
///
/// What does not fit blocks nothing: a gang that the cloud refuses, or that is larger than a cap,
/// rests, twice as long each time. Meanwhile policies plan as if it were not there, so that nobody
/// counts on what would be rented for it. Of several that the cloud refused and that have rested
/// one asks in a round: it does not take and give back, time and again, what others could use.
/// On a fixed fleet a gang that did not get all its places rests likewise, while others wait.
///
/// Small jobs that take whatever comes free would keep a gang waiting for ever: after a time of
/// patience it has a turn, in which no other job starts, so that room for it gathers as what runs
/// ends. The turn ends when the gang starts, or after a time; each next wait and turn is twice as
/// long. However long the others' tasks run, some turn is long enough, up to the longest. After a
/// turn everybody may start for as long as it took, however many gangs wait. A gang that is too
/// large for the caps, or that the cloud or the fleet had no room for when nobody else had
/// anything, has no turns.
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

  const GangWaitState& book() const { return book_; }
  void restore(GangWaitState book) { book_ = std::move(book); }

 private:
  struct Fold;

  Duration grown(Duration first, std::uint32_t times) const;
  void forget(JobId id, Instant now);
  void end_turn(Instant now);

  MasterSettings settings_;
  bool fixed_fleet_;
  GangWaitState book_;
};

}  // namespace muster
