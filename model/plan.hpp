#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/catalog.hpp"
#include "model/enum_words.hpp"
#include "model/grant.hpp"
#include "model/ids.hpp"
#include "model/refusal.hpp"

namespace muster {

/// Why a policy wants something.
enum class CauseCode : std::uint8_t {
  alone,                    ///< the task gets an instance of its own
  packed,                   ///< the task joins others because together they are worth the instance
  full_reconfiguration,     ///< the whole cluster was laid out anew
  partial_reconfiguration,  ///< only waiting tasks and those of poor instances were laid out anew
  gang_restart,             ///< another task of the job moves, so all of the job's start again
  empty,                    ///< no task is left on the instance
  evicted,                  ///< the task has to leave and gets no other place yet
  drained,                  ///< a user wants the instance empty
  spend_cap,                ///< the day's money is spent
  interrupted,              ///< the cloud takes the spot instance back
  worker_lost,              ///< the instance's worker was silent for too long, or takes no tasks
  fleet,                    ///< it belongs to the master's fixed fleet
  complementary,            ///< the task joins others that need most what it needs least
  best_fit,                 ///< of the instances that hold it, the one with the least room left
  sampled,                  ///< of the instances probed for its job, the next one to have room
  least_waiting,            ///< of the instances, the one whose work is estimated to end first
  first_free,               ///< of its group's instances, the first one to have room
  width_plan,               ///< the width that jobs of its class have in that epoch
  goodput,                  ///< together the jobs progress best so
  kept_room,                ///< the room was kept for the task, or is to be
  scaled,                   ///< its service is to have another number of replicas
  stand_in,                 ///< the replica stands in for one that has to leave where it is
  revision,                 ///< another revision of the service takes its place, or has it
  resized                   ///< its service is to meet its goal with replicas of another size
};
constexpr auto words_of(CauseCode) {
  using E = CauseCode;
  return std::to_array<EnumWord<E>>({{E::alone, "alone"},
                                     {E::packed, "packed"},
                                     {E::full_reconfiguration, "full reconfiguration"},
                                     {E::partial_reconfiguration, "partial reconfiguration"},
                                     {E::gang_restart, "gang restart"},
                                     {E::empty, "empty"},
                                     {E::evicted, "evicted"},
                                     {E::drained, "drained"},
                                     {E::spend_cap, "spend cap"},
                                     {E::interrupted, "interrupted"},
                                     {E::worker_lost, "worker lost"},
                                     {E::fleet, "fixed fleet"},
                                     {E::complementary, "complementary"},
                                     {E::best_fit, "best fit"},
                                     {E::sampled, "sampled"},
                                     {E::least_waiting, "least waiting"},
                                     {E::first_free, "first free"},
                                     {E::width_plan, "width plan"},
                                     {E::goodput, "goodput"},
                                     {E::kept_room, "room kept for it"},
                                     {E::scaled, "scaled"},
                                     {E::stand_in, "stands in"},
                                     {E::revision, "revision"},
                                     {E::resized, "another size"}});
}

/// A cause with what the policy computed for it.
struct Cause {
  CauseCode code = CauseCode::alone;
  double gain_usd_h = 0;  ///< worth of the instance's tasks less its price, by the policy's lights

  friend bool operator==(const Cause&, const Cause&) = default;
};

/// An instance to rent.
struct Launch {
  TypeId type;
  Market market = Market::on_demand;
  Cause cause;
  std::string zone{};  ///< empty: the only one
  /// The most that an hour is to cost. Nothing: on demand what it costs now, on the spot market
  /// what the type costs on demand.
  std::optional<Price> max_price{};
  std::uint32_t group =
      0;  ///< parts of one group are carried out all or not at all; 0: it has no group
};

/// Position of a launch in the same plan.
struct LaunchIndex {
  std::uint32_t value = 0;
  friend bool operator==(LaunchIndex, LaunchIndex) = default;
};
using PlaceTarget = std::variant<InstanceId, LaunchIndex>;

/// A task to (re)start on an instance; a task that runs elsewhere is moved there.
struct Place {
  TaskId task;
  PlaceTarget to;
  Cause cause;
  std::optional<Grant> grant{};  ///< nothing: the task's demand on that type
  /// The task's attempt when that was decided; a later one outdates the part. Nothing: any.
  std::optional<Attempt> expects{};
  std::uint32_t group = 0;  ///< as of Launch
};

/// A task to stop; it waits again afterwards.
struct Stop {
  TaskId task;
  Cause cause;
  std::optional<Attempt> expects{};  ///< as of Place
  std::uint32_t group = 0;           ///< as of Launch
};

/// An instance to give back once no task is left on it; from now on nothing is placed there.
struct Release {
  InstanceId instance;
  Cause cause;
  std::uint32_t group = 0;  ///< as of Launch
};

/// An elastic job to go on with that many workers. It is carried out before the plan's launches and
/// places are looked at: tasks that it takes out stop and lose their places, tasks that it takes in
/// wait, and get theirs by places of the same plan. Running tasks of the job start again.
struct Resize {
  JobId job;
  std::uint32_t width = 0;
  Cause cause;
};

/// A task that the policy could not place, and why.
struct Refuse {
  TaskId task;
  Refusal refusal;
};

/// A policy's note on a round: which way it took and the figures behind it.
struct RoundNote {
  std::string choice;
  std::vector<std::pair<std::string, double>> figures;

  friend bool operator==(const RoundNote&, const RoundNote&) = default;
};

/// A policy's answer: the changes it wants. Tasks and instances that it does not mention stay as
/// they are. A group's number holds within the plan. A task that is placed on a launch of a group
/// belongs to the group, and a gang that starts with one of its places in a group does so with all
/// of them.
struct Plan {
  std::vector<Launch> launches;
  std::vector<Place> places;
  std::vector<Stop> stops;
  std::vector<Release> releases;
  std::vector<Resize> resizes;
  std::vector<Refuse> refusals;
  RoundNote note;
  std::uint64_t based_on = 0;  ///< how many events its planner had seen
};

}  // namespace muster
