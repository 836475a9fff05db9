// The part of the plan check that keeps a master within its caps and within what the cloud has
// left.

#include <algorithm>
#include <map>
#include <utility>

#include "masters/instances/capped.hpp"
#include "masters/plan/plan_parts.hpp"

namespace muster::plan_check {
namespace {

/// Grants launches in the order of the plan as long as the caps allow and the cloud has some. A
/// unit that does not fit takes nothing: later units that do fit are granted.
class Grants {
 public:
  Grants(const CheckInput& in, CheckedPlan& result)
      : plan_(in.plan),
        state_(in.state),
        limits_(in.limits),
        seats_(in.seats),
        units_(in.units),
        result_(result),
        rented_(capped(in.state, in.limits.owns_fleet)),
        machines_beside_(has_machines_beside(in.state)) {}

  void run() {
    count_left();
    if (!limits_.caps.any() && left_.empty()) return;
    list_places();
    note_kept();
    granted_.assign(plan_.launches.size(), false);
    for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
      if (result_.launches[i]) continue;
      if (units_.launches[i] != kNoUnit) {
        decide(units_.launches[i]);
      } else if (!meant_[i]) {
        result_.launches[i] = ask({i});
      }
      for (std::uint32_t at = first_[i]; at < first_[i + 1]; ++at) place(i, places_[at]);
    }
    // A unit's launches that were granted to no other unit are refused as the unit was.
    for (const Needs& needs : needs_) {
      for (std::uint32_t launch : needs.launches) {
        if (needs.refusal && !granted_[launch] && !result_.launches[launch]) {
          result_.launches[launch] = needs.refusal;
        }
      }
    }
  }

 private:
  /// Places and launches of a unit.
  struct Needs {
    std::vector<std::uint32_t> places;
    std::vector<std::uint32_t> launches;  ///< its own and those of its places, each once
    bool decided = false;
    std::optional<Refusal> refusal;
  };

  const OfferingRow& offering_of(std::uint32_t launch) const {
    const Launch& of = plan_.launches[launch];
    return *state_.offerings().find(of.type, of.market, of.zone);
  }
  /// Instances that the cloud has left of the offerings of launches, where it says so.
  void count_left() {
    for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
      if (result_.launches[i]) continue;
      const OfferingRow& offering = offering_of(i);
      if (const auto left = left_of(state_, offering)) left_.try_emplace(&offering, *left);
    }
  }

  const LaunchIndex* launch_of(std::size_t place) const {
    return std::get_if<LaunchIndex>(&plan_.places[place].to);
  }

  void list_places() {
    const std::size_t launches = plan_.launches.size();
    first_.assign(launches + 2, 0);
    meant_.assign(launches, false);
    needs_.resize(units_.count);
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      const LaunchIndex* launch = launch_of(i);
      if (launch == nullptr || launch->value >= launches) continue;
      meant_[launch->value] = true;
      if (!result_.places[i]) ++first_[launch->value + 2];
    }
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    places_.resize(first_.back());
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      const LaunchIndex* launch = launch_of(i);
      if (launch != nullptr) places_[first_[launch->value + 1]++] = i;
      if (units_.places[i] == kNoUnit) continue;
      Needs& needs = needs_[units_.places[i]];
      needs.places.push_back(i);
      if (launch != nullptr) needs.launches.push_back(launch->value);
    }
    for (std::uint32_t i = 0; i < launches; ++i) {
      const std::uint32_t unit = units_.launches[i];
      if (unit != kNoUnit && !result_.launches[i]) needs_[unit].launches.push_back(i);
    }
    for (Needs& needs : needs_) {
      std::sort(needs.launches.begin(), needs.launches.end());
      needs.launches.erase(std::unique(needs.launches.begin(), needs.launches.end()),
                           needs.launches.end());
    }
  }

  /// Launches with a place for the job that room is kept for, or for one that goes before it, may
  /// take what is kept.
  void note_kept() {
    takes_kept_.assign(plan_.launches.size(), false);
    has_keeper_.assign(plan_.launches.size(), false);
    has_decided_.assign(plan_.launches.size(), false);
    if (!limits_.kept) return;
    kept_ = {limits_.kept->instances, limits_.kept->nano_usd_h};
    for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) note_takers(i);
  }
  void note_takers(std::uint32_t launch) {
    takes_kept_[launch] = has_keeper_[launch] = false;
    for (std::uint32_t at = first_[launch]; at < first_[launch + 1]; ++at) {
      const std::uint32_t place = places_[at];
      if (result_.places[place]) continue;
      const JobRow& job = state_.job(seats_[place].task->job);
      if (limits_.kept->is_before(job)) continue;
      takes_kept_[launch] = true;
      if (job.job.id == limits_.kept->place.job) has_keeper_[launch] = true;
    }
  }

  /// A unit that shares the launch of a unit which may take the kept room has it by that unit
  /// alone: that is decided first, and when it is refused the others have no more right to it than
  /// any unit.
  void decide_takers(std::uint32_t launch) {
    if (!takes_kept_[launch]) return;
    for (std::uint32_t at = first_[launch]; at < first_[launch + 1]; ++at) {
      const std::uint32_t place = places_[at];
      const std::uint32_t unit = units_.places[place];
      if (unit == kNoUnit || limits_.kept->is_before(state_.job(seats_[place].task->job))) continue;
      decide(unit);
    }
    note_takers(launch);
  }

  void place(std::uint32_t launch, std::uint32_t place) {
    if (units_.places[place] != kNoUnit) return decide(units_.places[place]);
    // Once a launch: its other places would look at all of them again and find nothing undecided.
    if (!has_decided_[launch]) decide_takers(launch);
    has_decided_[launch] = true;
    if (granted_[launch]) return;
    // Room only becomes less: a launch that was refused once is not asked for again.
    if (!result_.launches[launch]) result_.launches[launch] = ask({launch});
    result_.places[place] = result_.launches[launch];
  }

  void decide(std::uint32_t unit) {
    Needs& needs = needs_[unit];
    if (std::exchange(needs.decided, true)) return;
    for (const std::uint32_t launch : needs.launches) decide_takers(launch);
    needs.refusal = ask(needs.launches);
    if (!needs.refusal) return;
    count_own(needs);
    for (std::uint32_t peer : needs.places) result_.places[peer] = needs.refusal;
    for (std::uint32_t launch : needs.launches) {
      if (units_.launches[launch] == unit) result_.launches[launch] = needs.refusal;
    }
  }

  /// A cap on instances is held against all that the unit needs: also those that are there.
  void count_own(Needs& needs) const {
    if (needs.refusal->code != RefusalCode::instance_cap) return;
    std::vector<InstanceId> own;
    for (std::uint32_t place : needs.places) {
      if (const auto* id = std::get_if<InstanceId>(&plan_.places[place].to)) own.push_back(*id);
    }
    std::sort(own.begin(), own.end());
    const auto count = static_cast<double>(std::unique(own.begin(), own.end()) - own.begin());
    const auto cap = static_cast<double>(limits_.caps.max_instances);
    needs.refusal->asked += count;
    needs.refusal->available = needs.refusal->asked > cap ? cap : needs.refusal->available + count;
  }

  /// Grants all of the launches, or says which cap forbids it.
  std::optional<Refusal> ask(const std::vector<std::uint32_t>& launches) {
    std::size_t count = 0;
    std::int64_t nano_usd_h = 0;
    bool any_new = false;
    std::map<const OfferingRow*, std::uint32_t> asked;
    for (std::uint32_t i : launches) {
      if (granted_[i]) continue;
      any_new = true;
      count += machines_beside_ && offering_of(i).free ? 0 : 1;
      nano_usd_h += offering_of(i).price.nano_usd_h();
      if (!left_.empty()) ++asked[&offering_of(i)];
    }
    if (!any_new) return std::nullopt;
    // Kept room may be had later in a plan, or beside another launch: refused stays refused.
    for (std::uint32_t i : launches) {
      if (limits_.kept && !granted_[i] && result_.launches[i]) return result_.launches[i];
    }
    const auto any = [&](const std::vector<bool>& of) {
      return std::any_of(launches.begin(), launches.end(), [&](std::uint32_t i) { return of[i]; });
    };
    if (auto refusal = launch_blocker(count, nano_usd_h)) return refusal;
    if (auto refusal = too_few_left(asked)) return refusal;
    if (!any(takes_kept_) && leaves_too_little(count, nano_usd_h)) {
      return Refusal{RefusalKind::not_now, RefusalCode::kept_room, {}, 0, 0};
    }
    // The job has its room with this.
    if (any(has_keeper_)) kept_ = {};
    for (std::uint32_t i : launches) granted_[i] = true;
    for (const auto& [offering, more] : asked) {
      if (const auto left = left_.find(offering); left != left_.end()) left->second -= more;
    }
    rented_.instances += count;
    rented_.nano_usd_h += nano_usd_h;
    return std::nullopt;
  }

  std::optional<Refusal> too_few_left(
      const std::map<const OfferingRow*, std::uint32_t>& asked) const {
    for (const auto& [offering, more] : asked) {
      const auto left = left_.find(offering);
      if (left == left_.end() || more <= left->second) continue;
      return Refusal{RefusalKind::not_now,
                     RefusalCode::no_free_machine,
                     {},
                     static_cast<double>(more),
                     static_cast<double>(left->second)};
    }
    return std::nullopt;
  }

  /// Less than what is kept for a job that goes before.
  bool leaves_too_little(std::size_t more, std::int64_t more_nano_usd_h) const {
    const MasterCaps& caps = limits_.caps;
    if (kept_.instances == 0) return false;
    const bool takes_any = caps.max_instances > 0 && more > 0;
    if (takes_any && rented_.instances + more + kept_.instances > caps.max_instances) return true;
    const std::int64_t all = rented_.nano_usd_h + more_nano_usd_h + kept_.nano_usd_h;
    if (caps.max_usd_h > 0 && Price::from_nano_usd_h(all) > Price::from_usd_h(caps.max_usd_h)) {
      return true;
    }
    const double left_usd = caps.max_usd_day - limits_.spent_today_usd;
    return caps.max_usd_day > 0 &&
           Price::from_nano_usd_h(all).usd_h() * to_hours(caps.spend_margin) > left_usd;
  }

  std::optional<Refusal> launch_blocker(std::size_t more, std::int64_t more_nano_usd_h) const {
    const MasterCaps& caps = limits_.caps;
    const auto refusal = [](RefusalCode code, double asked, double available) {
      return Refusal{RefusalKind::not_now, code, {}, asked, std::max(0.0, available)};
    };
    const bool takes_any = caps.max_instances > 0 && more > 0;
    if (takes_any && rented_.instances + more > caps.max_instances) {
      // A unit that is larger than all of the cap is held against the cap alone, whatever is in
      // use.
      const double taken = more > caps.max_instances ? 0 : static_cast<double>(rented_.instances);
      return refusal(RefusalCode::instance_cap, static_cast<double>(more),
                     static_cast<double>(caps.max_instances) - taken);
    }
    const Price asked = Price::from_nano_usd_h(more_nano_usd_h);
    const bool over_all = caps.max_usd_h > 0 && asked > Price::from_usd_h(caps.max_usd_h);
    const double usd_h = over_all ? 0 : Price::from_nano_usd_h(rented_.nano_usd_h).usd_h();
    const Price together = Price::from_nano_usd_h(rented_.nano_usd_h + more_nano_usd_h);
    if (caps.max_usd_h > 0 && together > Price::from_usd_h(caps.max_usd_h)) {
      return refusal(RefusalCode::spend_cap, asked.usd_h(), caps.max_usd_h - usd_h);
    }
    const double alone_h = to_hours(limits_.alone_margin.value_or(caps.spend_margin));
    const double hours = rented_.instances == 0 ? alone_h : to_hours(caps.spend_margin);
    const double left = caps.max_usd_day - limits_.spent_today_usd;
    if (caps.max_usd_day > 0 && together.usd_h() * hours > left) {
      // More than a whole day's money would say that no day pays for it; alone it is paid for.
      const double most = std::max(caps.max_usd_day, asked.usd_h() * alone_h);
      return refusal(RefusalCode::day_cap, std::min(asked.usd_h() * hours, most),
                     left - Price::from_nano_usd_h(rented_.nano_usd_h).usd_h() * hours);
    }
    return std::nullopt;
  }

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  const Seats& seats_;
  const Units& units_;
  CheckedPlan& result_;
  Capped rented_;  ///< with what was granted
  /// Launches of counted machines take nothing of a cap on instances.
  bool machines_beside_;
  /// Of what was not granted; offerings that are not there have no bound.
  std::map<const OfferingRow*, std::uint32_t> left_;
  std::vector<bool> meant_;            ///< launches that the plan has tasks for
  std::vector<std::uint32_t> first_;   ///< the launch's part of places_
  std::vector<std::uint32_t> places_;  ///< those not refused, launch by launch
  std::vector<bool> granted_;
  Capped kept_;                    ///< of what the caps leave, for a job that has not got it yet
  std::vector<bool> takes_kept_;   ///< of each launch: it may have what is kept
  std::vector<bool> has_keeper_;   ///< of each launch: it is for the job that it is kept for
  std::vector<bool> has_decided_;  ///< of each launch: its takers were decided for a single place
  std::vector<Needs> needs_;       ///< one a unit
};

}  // namespace

void grant_launches(const CheckInput& in, CheckedPlan& result) {
  Grants(in, result).run();
}

}  // namespace muster::plan_check
