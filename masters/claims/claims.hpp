#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "config/master_settings.hpp"
#include "model/cluster_state.hpp"
#include "model/master_snapshot.hpp"

namespace muster {

/// Rounds that find the room of a claim there before others may have it again: in the first of them
/// all jobs are planned, unless the room is a full cloud's, in the others the claim's job alone.
inline constexpr std::uint64_t kRoundsOfClaim = 4;

/// Keeps a job from waiting for ever where something bounds what there is (caps, the cloud, the
/// instances that there are) and whatever comes free is taken by others, which fit into it.
///
/// A job that was refused room claims it when it is the first in the order of the queue of those
/// that were, and has waited for long or has a higher priority than others: one job at a time.
/// From then on later jobs are not placed where its room is to be, until it has it; running tasks
/// are not stopped. A job that nothing could hold, or that the cloud refuses, rests as gangs do,
/// twice as long each time, and blocks nothing. A job that the day's money does not pay for rests
/// until the next day of the cloud's clock, which bills, and claims its room before the first round
/// of that day. A job that no day's money pays for claims nothing. A job that loses its place while
/// others wait so waits with them, in its place in the queue, and takes no claim from another.
///
/// A fold over events, as GangWaits is, which it goes beside; on a fixed fleet it keeps nothing.
/// O(log of the jobs that wait so) an event.
class Claims {
 public:
  Claims(const MasterSettings& settings, bool fixed_fleet, bool owns_fleet)
      : settings_(settings),
        on_(settings.starve_after > Duration::zero() && !fixed_fleet),
        owns_fleet_(owns_fleet) {}

  /// Learns from the event; `state` does not know of it yet.
  void absorb(const Event& event, const ClusterState& state);

  struct Clocks {
    Instant now;             ///< of events
    Duration cloud_ahead{};  ///< of the cloud's clock before it
  };
  /// The jobs that room may be kept for from now on, the first to claim it first, `most` at most;
  /// the job that has it now is not among them. O(most, and the jobs that wake in this round).
  std::vector<JobId> due(const ClusterState& state, const Clocks& clocks, std::size_t most) const;
  /// An instance more is to be closed for the claim: those that are have not emptied for long.
  bool is_late(Instant now) const;
  /// The room was there for kRoundsOfClaim rounds: it is kept no longer for a job that does not
  /// take it.
  bool is_not_taken(std::uint64_t round) const;
  const RoomClaim* claim() const { return book_.claim ? &*book_.claim : nullptr; }
  /// Room that it keeps; null: no room.
  const KeptRoom* kept() const { return book_.claim ? &book_.claim->room : nullptr; }
  /// The room is there, and the job did not take it in an earlier round: no other job starts.
  std::optional<JobId> turn(const ClusterState& state, std::uint64_t round) const;
  /// How the job waits for room; null: it does not.
  const RoomWait* wait_of(JobId id) const;
  /// No day's money pays for it.
  bool is_hopeless(const RoomWait& wait) const;
  /// Until when it rests, by the clock of events; nothing: it does not.
  std::optional<Instant> rests_until(const RoomWait& wait) const;
  /// When the job claims room, if that is by its age; nothing: at once, by its priority, or never.
  std::optional<Instant> by_age(const JobRow& job) const;

  const RoomWaits& book() const { return book_; }
  /// `state` is that of the time of the book.
  void restore(RoomWaits book, const ClusterState& state);

 private:
  struct Fold;
  enum class RestFor : std::uint8_t { room, money };
  using Key = std::tuple<std::int64_t, Instant, JobId>;  ///< in the order of the queue
  using Resting = std::set<std::pair<Instant, JobId>>;   ///< by the time at which they wake

  static Key key_of(const JobRow& job) {
    return {-std::int64_t{job.job.priority}, job.accepted_at, job.job.id};
  }
  bool is_bounded(RefusalCode code) const;
  bool is_bounded_wait(const Refusal& reason) const;
  void add_those_that_wait(const ClusterState& state);
  bool caps_have_room(const ClusterState& state) const;
  bool has_room(const ClusterState& state) const;
  Duration rest_after(std::uint32_t rests) const;
  std::vector<const JobRow*> those_that_wait(const ClusterState& state, const Clocks& clocks,
                                             std::size_t most) const;
  void learn(const JobRow& job, const Refusal& refusal);
  bool rests_at(const RoomWait& wait, Instant now) const;
  Resting& those_that_rest(const RoomWait& wait) { return wait.unpaid ? unpaid_ : resting_; }
  void rest(const JobRow& job, Instant until, RestFor what);
  void rest_longer(const JobRow& job, Instant now);
  void forget(const JobRow& job);
  void wake(const ClusterState& state, Instant now);

  MasterSettings settings_;
  bool on_;
  bool owns_fleet_;
  RoomWaits book_;
  // The next ones are derived from the book and the state.
  std::set<Key> ready_;  ///< of those that wait and do not rest
  Resting resting_;      ///< of those that rest for room, by the clock of events
  Resting unpaid_;       ///< of those that rest for money, by the cloud's
  std::map<std::int32_t, std::uint64_t> by_priority_;  ///< unfinished jobs
};

/// Price of the cheapest offering that holds the task alone. Nothing: nothing does.
std::optional<Price> least_price(const ClusterState& state, const TaskRow& task);

}  // namespace muster
