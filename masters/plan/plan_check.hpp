#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/master_settings.hpp"
#include "model/cluster_state.hpp"
#include "model/kept_room.hpp"
#include "model/plan.hpp"
#include "model/stay.hpp"

namespace muster {

/// The passes of a plan check. A gang or group that turns out not to fit is left out, and what it
/// would have taken is shared out anew among the others. In the first passes, up to this number,
/// the first unit that does not fit is left out alone, since without it the others may fit; after
/// them all of them at once.
inline constexpr int kPassesOneByOne = 8;
/// After this number of passes nothing is shared out anew. The gangs that do not fit then are
/// refused whole, as in any pass, with the reason for which they do not; only their room stays
/// unused until the next round, and what was refused for want of it waits as long. Groups that move
/// or stop something are left out then, whether they fit or not: a refusal that leaves their tasks
/// where they are could overfill what others were given.
inline constexpr int kMostPasses = 16;

/// Everything a plan is held against besides the state.
struct PlanLimits {
  MasterCaps caps;  ///< `spend_margin`: how long the day has to pay for an instance beside others
  double spent_today_usd = 0;
  UnavailableOfferings backed_off;        ///< offerings that the cloud is not asked for now
  bool fixed_fleet = false;               ///< nothing is rented and nothing given back
  std::vector<JobId> backed_off_gangs{};  ///< nothing is rented for them now; by rising ids
  std::optional<JobId> turn{};            ///< the gang whose turn it is: no other job starts
  StayRule stay{};          ///< the rule against which running tasks are not moved or stopped
  bool owns_fleet = false;  ///< instances of the fleet are not given back, and no cap counts them
  std::optional<KeptRoom> kept{};  ///< room that is kept for a job
  /// As `caps.spend_margin`, for the only instance, or those of one gang; nothing: as beside
  /// others.
  std::optional<Duration> alone_margin{};
};

/// Outcome of one launch or place of a plan: nothing is against it, or the reason why it is
/// refused.
struct CheckedPlan {
  std::vector<std::optional<Refusal>> launches;  ///< one a launch of the plan
  std::vector<std::optional<Refusal>> places;    ///< one a place of the plan
  std::vector<std::optional<Refusal>> stops;
  std::vector<std::optional<Refusal>> releases;

  bool launched(std::size_t i) const { return !launches[i].has_value(); }
};

/// Holds a plan against the present state: malformed, unknown, outdated, over-capacity and over-cap
/// parts are refused, the rest can be carried out together. Checking the rest again refuses
/// nothing. A gang passes whole or not at all, as does a group, and one that does not pass takes
/// nothing from the parts that do. Of a group that is refused the parts that are in the way say
/// why; the others say `group_refused`. Resizes are carried out before and not looked at.
CheckedPlan check_plan(const Plan& plan, const ClusterState& state, const PlanLimits& limits);

/// The most that an hour of the launch, which is of something on offer, is to cost.
Price most_for(const ClusterState& state, const Launch& launch);

/// Why a policy's refusal of a task cannot be taken: a figure of it is no number.
std::optional<Refusal> check_refusal(const Refuse& part);
/// Leaves out the figures that are no numbers; how many they were.
std::size_t drop_malformed_figures(RoundNote& note);

}  // namespace muster
