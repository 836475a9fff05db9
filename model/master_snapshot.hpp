#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/cluster_state.hpp"
#include "model/day_spend.hpp"
#include "model/history.hpp"
#include "model/kept_room.hpp"
#include "model/ledger.hpp"
#include "model/number_set.hpp"

namespace muster {

/// Throughput of an unfinished job as it was measured.
struct ThroughputSum {
  double sum = 0;
  std::uint64_t count = 0;
};

/// A round changed nothing, and nothing has happened since.
struct Calm {
  Instant since;
  Measured measured;  ///< for that round
};

/// A gang that waits for room that caps, the cloud or a fixed fleet did not have for it.
struct GangWait {
  Instant since;               ///< when it was refused first, or when its last turn ended
  Instant unavailable_until;   ///< before that nothing is asked for it again
  std::uint32_t refusals = 0;  ///< by the cloud or for the fleet, outside of its turns
  std::uint32_t turns = 0;     ///< that it has had
  bool hopeless = false;       ///< by its last refusal there is no room even on an empty cluster

  friend bool operator==(const GangWait&, const GangWait&) = default;
};

/// The gangs that wait so, and whose turn it is.
struct GangWaitState {
  std::map<JobId, GangWait> waits{};
  std::optional<GangTurn> turn{};
  Instant turn_began{};    ///< of that one
  Instant others_until{};  ///< no turn begins before: till then everybody may start

  /// Whose turn it is.
  std::optional<JobId> turn_at(Instant now) const {
    return turn && now < turn->until ? std::optional(turn->job) : std::nullopt;
  }
};

/// A job that waits for room that caps, the cloud or the instances that there are did not have.
struct RoomWait {
  TaskId task;                ///< the one of it that was refused last
  Instant since;              ///< when it was refused first
  Refusal short_of;           ///< why it was refused last
  Instant unavailable_until;  ///< no room is kept for it before
  std::uint32_t rests = 0;    ///< how often nothing could be kept for it; the rest grows
  /// It rests for a new day's money: `unavailable_until` is of the cloud's clock.
  bool unpaid = false;

  friend bool operator==(const RoomWait&, const RoomWait&) = default;
};

/// For which of them room is kept.
struct RoomClaim {
  KeptRoom room;
  Refusal short_of;
  Instant since;
  Instant chosen_at;                           ///< when an instance was closed for it last
  std::optional<std::uint64_t> first_round{};  ///< that found the room there

  friend bool operator==(const RoomClaim&, const RoomClaim&) = default;
};

/// The jobs that wait so.
struct RoomWaits {
  std::map<JobId, RoomWait> waits{};
  std::optional<RoomClaim> claim{};
  Duration cloud_ahead{};  ///< of the cloud's clock before the one of events, in the last round

  friend bool operator==(const RoomWaits&, const RoomWaits&) = default;
};

/// That the cloud refused an offering: it is not asked for again yet.
struct OfferingRest {
  Instant until;
  std::uint32_t refusals = 0;  ///< after rests, since the last one that it gave; the rest grows
  RefusalCode code = RefusalCode::cloud_capacity;  ///< of the last refusal

  friend bool operator==(const OfferingRest&, const OfferingRest&) = default;
};
using OfferingRests = std::map<OfferingKey, OfferingRest>;

/// Everything a master knows at one point of its journal: the content of a snapshot. A master that
/// is given this and the events after it is the master that wrote it.
struct MasterSnapshot {
  ClusterState state;
  Ledger ledger;
  std::map<TaskId, TaskHistory> tasks;  ///< of unfinished jobs
  std::map<JobId, ThroughputSum> throughput;
  OfferingRests unavailable;
  std::uint64_t next_instance = 0;
  std::uint64_t rounds = 0;
  std::string policy_state;  ///< the policy's memory, in its own words
  Instant newest{};          ///< time of the last event
  std::uint64_t quiet = 0;   ///< regular rounds that were not held since the last one
  std::optional<Calm> calm{};
  GangWaitState gangs{};
  std::int64_t capped_day = -1;        ///< on which the day's cap was last reached; -1: never
  std::deque<JobId> terminal_parts{};  ///< parts of jobs that were terminated, the newest last
  NumberSet accepted{};                ///< numbers of all jobs that were ever accepted
  NumberSet completed{};               ///< of these, of whole jobs that have completed
  NumberSet failed{};                  ///< or have failed, were refused or have expired
  DaySpend spend{};
  double capped_usd = 0;                  ///< the cap that was reached on that day; 0: not said
  std::deque<FailedPart> failed_parts{};  ///< the one that changed last is the last
  RoomWaits room{};
  /// Of unfinished tasks whose runs the day's cap has ended, with nothing kept, the longest run.
  std::map<TaskId, Duration> day_losses{};
  /// Lives of the instances that it has, and of the last ones that are gone.
  std::map<InstanceId, InstanceHistory> instances{};
};

}  // namespace muster
