#include "masters/plan/plan_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "masters/plan/plan_parts.hpp"
#include "masters/services/spare_tasks.hpp"
#include "model/feasible.hpp"

namespace muster {
namespace {

using plan_check::kNoUnit;
using plan_check::Seat;
using plan_check::waits_for_peers;

Refusal outdated() {
  return {RefusalKind::not_now, RefusalCode::outdated, {}, 0, 0};
}
Refusal malformed() {
  return {RefusalKind::broken, RefusalCode::malformed, {}, 0, 0};
}
Refusal fixed_fleet() {
  return {RefusalKind::not_now, RefusalCode::fixed_fleet, {}, 0, 0};
}
Refusal not_your_turn() {
  return {RefusalKind::not_now, RefusalCode::gang_turn, {}, 0, 0};
}
Refusal room_is_kept() {
  return {RefusalKind::not_now, RefusalCode::kept_room, {}, 0, 0};
}
/// That number of the job's tasks would be together, and fewer may be.
Refusal too_many_together(std::uint32_t tasks, const JobRow& job) {
  return {RefusalKind::not_now,
          RefusalCode::distinct_instances,
          {},
          static_cast<double>(tasks),
          static_cast<double>(job.job.most_an_instance)};
}
Refusal in_transit() {
  return {RefusalKind::not_now, RefusalCode::in_transit, {}, 0, 0};
}
Refusal awaiting_cloud() {
  return {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0};
}

/// The plan speaks of an attempt that the task is past.
bool is_past(const std::optional<Attempt>& expects, const TaskRow& task) {
  return expects && *expects != task.attempt;
}

bool is_number(const Cause& cause) {
  return std::isfinite(cause.gain_usd_h);
}

/// Works through a plan in the order launches, places, stops, releases. All parts are validated
/// before anything of them is looked up further.
class PlanChecker {
 public:
  PlanChecker(const Plan& plan, const ClusterState& state, const PlanLimits& limits)
      : plan_(plan), state_(state), limits_(limits), seats_(plan.places.size()) {
    result_.launches.resize(plan.launches.size());
    result_.places.resize(plan.places.size());
    result_.stops.resize(plan.stops.size());
    result_.releases.resize(plan.releases.size());
    if (plan.launches.empty()) return;
    for (const UnavailableOffering& rest : limits.backed_off) {
      backed_off_.emplace(rest.key, rest.code);
    }
  }

  CheckedPlan run() {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      result_.launches[i] = check_launch(plan_.launches[i]);
    }
    for (std::size_t i = 0; i < plan_.places.size(); ++i) result_.places[i] = check_place(i);
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) result_.stops[i] = check_stop(i);
    for (std::size_t i = 0; i < plan_.releases.size(); ++i) {
      result_.releases[i] = check_release(plan_.releases[i]);
    }
    share_out();
    drop_useless_launches();
    return std::move(result_);
  }

 private:
  std::optional<Refusal> check_launch(const Launch& launch) const {
    const OfferingRow* offer = state_.offerings().find(launch.type, launch.market, launch.zone);
    if (offer == nullptr || !is_number(launch.cause)) return malformed();
    if (limits_.fixed_fleet) return fixed_fleet();
    if (const auto rest = backed_off_.find(offer->key); rest != backed_off_.end()) {
      return Refusal{RefusalKind::not_now, rest->second, {}, 1, 0};
    }
    if (!offer->available) return awaiting_cloud();
    const Price most = most_for(state_, launch);
    if (offer->price <= most) return std::nullopt;
    return Refusal{
        RefusalKind::not_now, RefusalCode::cloud_price, {}, offer->price.usd_h(), most.usd_h()};
  }

  std::optional<Refusal> check_place(std::size_t i) {
    const Place& place = plan_.places[i];
    if (!is_number(place.cause)) return malformed();
    const TaskRow* task = state_.find(place.task);
    if (task == nullptr || !placed_.insert(place.task).second) return outdated();
    const bool movable = task->phase == TaskPhase::pending || task->phase == TaskPhase::running;
    const JobRow& job = state_.job(task->job);
    if (!movable || job.terminal_outcome || is_past(place.expects, *task)) return outdated();
    if (job.job.service() != nullptr && !task->wanted) return outdated();
    if (auto stays = why_it_stays(*task)) {
      // Another size loses nothing of a replica, which stays until it is there.
      const bool is_resized = job.job.service() != nullptr && job.job.service()->size.is_there() &&
                              place.grant && *place.grant != task->held;
      if (!is_resized || stays->code != RefusalCode::min_stay) return stays;
    }
    Seat& seat = seats_[i];
    Placing placing{task, {}, {}, place.grant};
    if (const auto* id = std::get_if<InstanceId>(&place.to)) {
      const InstanceRow* row = state_.find(*id);
      if (row == nullptr || row->released) return outdated();
      // Those who leave count until they have left: an instance never has more than it may.
      if (is_full_of_peers(state_, *task, *row)) {
        return too_many_together(peers_on(state_, *task, *row) + 1, job);
      }
      if (limits_.kept && !limits_.kept->lets(state_, *task, *id, limits_.stay.now)) {
        return room_is_kept();
      }
      placing.type = row->type;
      placing.market = row->market;
    } else {
      const std::uint32_t index = std::get<LaunchIndex>(place.to).value;
      if (index >= plan_.launches.size()) return outdated();
      if (result_.launches[index]) return result_.launches[index];
      placing.type = plan_.launches[index].type;
      placing.market = plan_.launches[index].market;
    }
    if (auto refusal = why_infeasible(state_, placing)) return refusal;
    if (auto refusal = check_stand_in(placing, place.to)) return refusal;
    seat = {task, placing.type, grant_of(state_, placing)};
    some_apart_ |= job.job.most_an_instance > 0;
    const bool rents = std::holds_alternative<LaunchIndex>(place.to);
    return rents ? check_rented(job.job.id, seat) : check_turn(job.job.id, seat.waits());
  }

  /// A replica that runs stays until another task of its service is ready in the other place, or
  /// with the other grant: there has to be one to spare that may run there, and room at once, or
  /// two could wait for each other's. Here, since whoever is to come into its room counts on it.
  std::optional<Refusal> check_stand_in(const Placing& placing, const PlaceTarget& to) {
    const TaskRow& task = *placing.task;
    const JobRow& job = state_.job(task.job);
    if (job.job.service() == nullptr || task.phase != TaskPhase::running) return std::nullopt;
    const auto* id = std::get_if<InstanceId>(&to);
    const InstanceRow* there = id != nullptr ? state_.find(*id) : nullptr;
    Resources more;  // all stand-ins that are to come there
    if (there != nullptr) {
      const bool stays = task.at == there->slot && !is_resized_by(task, *there, placing.grant);
      if (stays) return std::nullopt;
      // Its stand-in is one more beside it.
      const std::uint32_t most = job.job.most_an_instance;
      if (most > 0 && task.at == there->slot) {
        const std::uint32_t together = peers_on(state_, task, *there) + 2;
        if (together > most) return too_many_together(together, job);
      }
      more = for_stand_ins_[there->slot] + grant_of(state_, placing).amount;
      const Resources& capacity = state_.catalog()[there->type].capacity;
      if (!(there->used + more).fits_in(capacity)) return in_transit();
    }
    const auto [known, is_new] = spares_.try_emplace(task.job);
    if (is_new) known->second = spares_of(job);
    std::vector<Slot>& spares = known->second;
    const auto fitting = std::ranges::find_if(
        spares, [&](Slot slot) { return may_run_there(state_, state_.task(slot), placing); });
    if (fitting == spares.end()) return in_transit();
    spares.erase(fitting);
    if (there != nullptr) for_stand_ins_[there->slot] = more;
    return std::nullopt;
  }
  std::vector<Slot> spares_of(const JobRow& job) const {
    std::vector<Slot> spares;
    for (const Slot slot : job.tasks) {
      if (is_to_spare(state_.task(slot))) spares.push_back(slot);
    }
    return spares;
  }

  /// In a gang's turn no task of others starts, neither in what is there nor in what is rented.
  std::optional<Refusal> check_turn(JobId job, bool starts) const {
    const bool barred = starts && limits_.turn && *limits_.turn != job;
    if (!barred) return std::nullopt;
    const bool kept = limits_.kept && limits_.kept->place.job == *limits_.turn;
    return kept ? room_is_kept() : not_your_turn();
  }

  std::optional<Refusal> check_rented(JobId job, const Seat& seat) const {
    if (auto refusal = check_turn(job, true)) return refusal;
    const auto& backed_off = limits_.backed_off_gangs;
    if (seat.waits() && std::binary_search(backed_off.begin(), backed_off.end(), job)) {
      return awaiting_cloud();
    }
    return std::nullopt;
  }

  std::optional<Refusal> check_stop(std::size_t i) {
    if (!is_number(plan_.stops[i].cause)) return malformed();
    const TaskRow* task = state_.find(plan_.stops[i].task);
    if (task == nullptr || !placed_.insert(plan_.stops[i].task).second) return outdated();
    if (is_past(plan_.stops[i].expects, *task)) return outdated();
    // Others of its service would have to be ready first: nothing can come into its room at once.
    if (task->phase == TaskPhase::running && state_.job(task->job).job.service() != nullptr) {
      return Refusal{RefusalKind::not_now, RefusalCode::not_movable, {}, 0, 0};
    }
    const bool stoppable = task->phase == TaskPhase::running || task->phase == TaskPhase::assigned;
    return stoppable ? why_it_stays(*task) : std::optional<Refusal>(outdated());
  }

  /// The tasks of a gang stay or go together: all of them are looked at once.
  std::optional<Refusal> why_it_stays(const TaskRow& task) {
    if (task.phase != TaskPhase::running) return std::nullopt;
    if (!state_.job(task.job).job.gang) return muster::why_it_stays(state_, task, limits_.stay);
    const auto [known, is_new] = gang_stays_.try_emplace(task.job);
    if (is_new) known->second = muster::why_it_stays(state_, task, limits_.stay);
    return known->second;
  }

  std::optional<Refusal> check_release(const Release& release) const {
    if (!is_number(release.cause)) return malformed();
    if (limits_.fixed_fleet) return fixed_fleet();
    const InstanceRow* row = state_.find(release.instance);
    if (row == nullptr || row->released) return outdated();
    return limits_.owns_fleet && row->owned ? std::optional<Refusal>(fixed_fleet()) : std::nullopt;
  }

  /// Gives the caps' room and the instances' to the places, in the order of the plan. A unit that
  /// turns out not to fit is left out and all is shared out anew: no other unit has to stand back
  /// for it.
  void share_out() {
    const plan_check::Units units = plan_check::units_of(plan_, state_, seats_);
    const plan_check::CheckInput in{plan_, state_, limits_, seats_, units};
    valid_ = result_;
    for (int pass = 0;; ++pass) {
      refuse_incomplete(in);
      plan_check::grant_launches(in, result_);
      if (units.grouped) refuse_incomplete(in);  // the stops and releases of what is over a cap
      const std::vector<bool> refused = plan_check::broken_units(units, result_);
      if (some_apart_) keep_apart();
      plan_check::settle_capacity(plan_, state_, seats_, result_);
      check_releases(units);
      std::vector<bool> left_out = newly_broken(units, refused, pass < kPassesOneByOne);
      if (std::find(left_out.begin(), left_out.end(), true) == left_out.end()) return;
      if (pass >= kMostPasses) {
        left_out = standing_holders(units, refused);
        if (std::find(left_out.begin(), left_out.end(), true) == left_out.end()) break;
      }
      leave_out(in, left_out);
    }
    // Refusing what waits never overfills anything.
    refuse_incomplete(in);
    check_releases(units);
  }

  /// Of the tasks of a job that bounds them on one instance the first ones that go to an instance
  /// have its places there, beside those that are there.
  void keep_apart() {
    std::map<std::pair<Slot, std::uint64_t>, std::uint32_t> together;  // by the job
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      const TaskRow& task = *seats_[i].task;
      const JobRow& job = state_.job(task.job);
      if (job.job.most_an_instance == 0) continue;
      const auto* id = std::get_if<InstanceId>(&plan_.places[i].to);
      const InstanceRow* row = id != nullptr ? state_.find(*id) : nullptr;
      const std::uint64_t target =
          id != nullptr ? id->value << 1
                        : (std::uint64_t{std::get<LaunchIndex>(plan_.places[i].to).value} << 1) | 1;
      const bool is_there = row != nullptr && (task.at == row->slot || task.target == row->slot);
      const auto [known, is_new] = together.try_emplace({task.job, target});
      if (is_new && row != nullptr) known->second = peers_on(state_, task, *row) + is_there;
      const bool has_stand_in = is_there && job.job.service() != nullptr &&
                                is_resized_by(task, *row, plan_.places[i].grant);
      const std::uint32_t with_it = known->second + (!is_there || has_stand_in);
      if (with_it > job.job.most_an_instance) {
        result_.places[i] = too_many_together(with_it, job);
      } else {
        known->second = with_it;
      }
    }
  }

  /// The units that have lost a part since they were whole, or the first of them alone in the order
  /// of the places, then of the releases.
  std::vector<bool> newly_broken(const plan_check::Units& units, const std::vector<bool>& refused,
                                 bool only_first) const {
    std::vector<bool> broken(units.count);
    const auto look = [&](const std::vector<std::uint32_t>& of,
                          const std::vector<std::optional<Refusal>>& refusals) {
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i] == kNoUnit || refused[of[i]] || !refusals[i]) continue;
        broken[of[i]] = true;
        if (only_first) return true;
      }
      return false;
    };
    if (!look(units.places, result_.places)) look(units.releases, result_.releases);
    return broken;
  }

  static std::vector<bool> standing_holders(const plan_check::Units& units,
                                            const std::vector<bool>& refused) {
    std::vector<bool> holders(units.hold);
    for (std::size_t i = 0; i < holders.size(); ++i) holders[i] = holders[i] && !refused[i];
    return holders;
  }

  /// From now on the units are refused: those of their parts that are in the way say so.
  void leave_out(const plan_check::CheckInput& in, const std::vector<bool>& which) {
    const auto keep = [&](const std::vector<std::uint32_t>& of,
                          const std::vector<std::optional<Refusal>>& now,
                          std::vector<std::optional<Refusal>>& valid) {
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i] != kNoUnit && which[of[i]] && !valid[i]) valid[i] = now[i];
      }
    };
    keep(in.units.places, result_.places, valid_.places);
    keep(in.units.releases, result_.releases, valid_.releases);
    plan_check::refuse_units(in, which, valid_);
    result_ = valid_;
  }

  /// A gang starts whole or not at all: when one of its waiting tasks gets no place, the others get
  /// no place either. So it is with the parts of a group.
  void refuse_incomplete(const plan_check::CheckInput& in) {
    std::vector<bool> broken = plan_check::broken_units(in.units, result_);
    std::unordered_map<Slot, std::size_t> placed;
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (!result_.places[i] && waits_for_peers(state_, seats_[i])) ++placed[seats_[i].task->job];
    }
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i] || !waits_for_peers(state_, seats_[i])) continue;
      const JobRow& job = state_.job(seats_[i].task->job);
      if (placed[job.slot] < job.pending) broken[in.units.places[i]] = true;
    }
    plan_check::refuse_units(in, broken, result_);
  }

  /// A launch that lost all its tasks is not made; one that was planned without any is.
  void drop_useless_launches() {
    std::vector<std::uint32_t> meant(plan_.launches.size(), 0), stand(plan_.launches.size(), 0);
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      const auto* launch = std::get_if<LaunchIndex>(&plan_.places[i].to);
      if (launch == nullptr || launch->value >= meant.size()) continue;
      ++meant[launch->value];
      stand[launch->value] += !result_.places[i];
    }
    for (std::size_t i = 0; i < meant.size(); ++i) {
      if (meant[i] > 0 && stand[i] == 0 && !result_.launches[i]) result_.launches[i] = outdated();
    }
  }

  /// An instance can be given back when every task planned for it is taken elsewhere.
  void check_releases(const plan_check::Units& units) {
    std::unordered_map<std::uint64_t, std::size_t> leaving;
    std::unordered_set<std::uint64_t> wanted;
    const auto leaves = [&](const TaskRow& task) {
      if (task.target != kNoSlot) ++leaving[state_.instance(task.target).id.value];
    };
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      leaves(*seats_[i].task);
      if (const auto* id = std::get_if<InstanceId>(&plan_.places[i].to)) wanted.insert(id->value);
    }
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) {
      if (!result_.stops[i]) leaves(*state_.find(plan_.stops[i].task));
    }
    for (std::size_t i = 0; i < plan_.releases.size(); ++i) {
      const bool left_out = units.releases[i] != kNoUnit && result_.releases[i];
      if (valid_.releases[i] || left_out) continue;
      const InstanceRow& row = *state_.find(plan_.releases[i].instance);
      const bool empties =
          !wanted.contains(row.id.value) && leaving[row.id.value] == row.planned.size();
      result_.releases[i] = empties ? std::nullopt : std::optional<Refusal>(outdated());
    }
  }

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  std::map<OfferingKey, RefusalCode> backed_off_;  // the limits', to be looked up
  CheckedPlan result_;
  CheckedPlan
      valid_;  ///< parts that are refused whatever the others are, and parts that were left out
  plan_check::Seats seats_;
  std::unordered_set<TaskId> placed_;
  std::unordered_map<Slot, std::vector<Slot>> spares_;  // of services, by job; looked up only
  std::unordered_map<Slot, Resources> for_stand_ins_;   // of each instance, there; looked up only
  bool some_apart_ = false;  ///< a place is of a job that bounds its tasks on one instance
  std::unordered_map<Slot, std::optional<Refusal>> gang_stays_;  // by their jobs; looked up only
};

}  // namespace

Price most_for(const ClusterState& state, const Launch& launch) {
  if (launch.max_price) return *launch.max_price;
  const OfferingTable& offerings = state.offerings();
  if (launch.market == Market::on_demand) {
    return offerings.find(launch.type, launch.market, launch.zone)->price;
  }
  const OfferingRow* regular = offerings.find(launch.type, Market::on_demand, launch.zone);
  return regular != nullptr ? regular->price : state.catalog()[launch.type].on_demand;
}

CheckedPlan check_plan(const Plan& plan, const ClusterState& state, const PlanLimits& limits) {
  return PlanChecker(plan, state, limits).run();
}

std::optional<Refusal> check_refusal(const Refuse& part) {
  const bool numbers = std::isfinite(part.refusal.asked) && std::isfinite(part.refusal.available);
  return numbers ? std::nullopt : std::optional<Refusal>(malformed());
}

std::size_t drop_malformed_figures(RoundNote& note) {
  return std::erase_if(note.figures,
                       [](const auto& figure) { return !std::isfinite(figure.second); });
}

}  // namespace muster
