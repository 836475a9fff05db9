#include "masters/plan/plan_rules.hpp"

// Rules that a plan is held against besides the state: caps, the day's money, whose turn it is, and
// which gangs are not to be planned for. The planner is told these rules, so that a plan is rarely
// refused for a known reason.

namespace muster {

PlanRules::PlanRules(const MasterRecorder& recorder, const CloudOrders& cloud,
                     const SpendGuard& guard, const MasterSettings& settings)
    : recorder_(recorder),
      cloud_(cloud),
      guard_(guard),
      caps_(settings.caps),
      min_stay_(settings.min_stay) {}

PlanLimits PlanRules::limits(Instant now) const {
  const MasterMemory& memory = recorder_.memory();
  PlanLimits limits;
  limits.caps = caps_;
  limits.spent_today_usd = guard_.spent_today_usd(now);
  limits.fixed_fleet = memory.fixed_fleet();
  limits.caps.spend_margin = guard_.affordable_beside_others();
  limits.alone_margin = guard_.affordable_time();
  limits.backed_off = memory.unavailable_offerings(now, may_rent());
  limits.stay = {now, min_stay_};
  limits.backed_off_gangs = backed_off_;
  limits.turn = turn_;
  if (const KeptRoom* kept = memory.facts().claims.kept()) limits.kept = *kept;
  limits.owns_fleet = memory.owns_fleet();
  return limits;
}

void PlanRules::begin_round(std::uint64_t round, Instant now) {
  const MasterFacts& facts = recorder_.facts();
  backed_off_ = facts.gangs.backed_off(facts.state, round, now);
  turn_ = facts.turn(round, now);
}

}  // namespace muster
