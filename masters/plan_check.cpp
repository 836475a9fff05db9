#include "masters/plan_check.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "masters/plan_parts.hpp"
#include "model/feasible.hpp"

namespace muster {
namespace {

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
Refusal awaiting_peers() {
  return {RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
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
  }

  CheckedPlan run() {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      result_.launches[i] = check_launch(plan_.launches[i]);
    }
    for (std::size_t i = 0; i < plan_.places.size(); ++i) result_.places[i] = check_place(i);
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) result_.stops[i] = check_stop(i);
    share_out();
    drop_useless_launches();
    check_releases();
    return std::move(result_);
  }

 private:
  std::optional<Refusal> check_launch(const Launch& launch) const {
    const OfferingRow* offer = state_.offerings().find(launch.type, launch.market, launch.zone);
    if (offer == nullptr || !is_number(launch.cause)) return malformed();
    if (limits_.fixed_fleet) return fixed_fleet();
    for (const UnavailableOffering& rest : limits_.backed_off) {
      if (rest.key == offer->key) return Refusal{RefusalKind::not_now, rest.code, {}, 1, 0};
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
    if (auto stays = why_it_stays(*task)) return stays;
    Seat& seat = seats_[i];
    Placing placing{task, {}, {}, place.grant};
    if (const auto* id = std::get_if<InstanceId>(&place.to)) {
      const InstanceRow* row = state_.find(*id);
      if (row == nullptr || row->released) return outdated();
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
    seat = {task, placing.type, grant_of(state_, placing)};
    const bool rents = std::holds_alternative<LaunchIndex>(place.to);
    return rents ? check_rented(job.job.id, seat) : check_turn(job.job.id, seat.waits());
  }

  /// In a gang's turn no task of others starts, neither in what is there nor in what is rented.
  std::optional<Refusal> check_turn(JobId job, bool starts) const {
    const bool barred = starts && limits_.turn && *limits_.turn != job;
    return barred ? std::optional<Refusal>(not_your_turn()) : std::nullopt;
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

  /// Gives the caps' room and the instances' to the places, in the order of the plan. A gang that
  /// turns out not to fit is left out and all is shared out anew: nobody has to stand back for it.
  void share_out() {
    CheckedPlan valid = result_;
    for (int pass = 0;; ++pass) {
      refuse_incomplete_gangs();
      plan_check::grant_launches(plan_, state_, limits_, seats_, result_);
      const std::vector<bool> granted = standing();
      plan_check::settle_capacity(plan_, state_, seats_, result_);
      const std::vector<Slot> broken = gangs_broken_since(granted);
      if (broken.empty()) return;
      if (pass == kMostPasses) return refuse_incomplete_gangs();
      leave_out({broken.begin(), pass < kPassesOneByOne ? broken.begin() + 1 : broken.end()},
                valid);
      result_ = valid;
    }
  }

  std::vector<bool> standing() const {
    std::vector<bool> stands(plan_.places.size());
    for (std::size_t i = 0; i < stands.size(); ++i) stands[i] = !result_.places[i];
    return stands;
  }

  /// The gangs that have lost a place, in the order of the places.
  std::vector<Slot> gangs_broken_since(const std::vector<bool>& stood) const {
    std::vector<Slot> broken;
    for (std::size_t i = 0; i < stood.size(); ++i) {
      if (!stood[i] || !result_.places[i] || !waits_for_peers(state_, seats_[i])) continue;
      broken.push_back(seats_[i].task->job);
    }
    return broken;
  }

  void leave_out(const std::unordered_set<Slot>& gangs, CheckedPlan& valid) const {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (valid.places[i] || !waits_for_peers(state_, seats_[i])) continue;
      if (!gangs.contains(seats_[i].task->job)) continue;
      valid.places[i] = result_.places[i] ? result_.places[i] : awaiting_peers();
    }
  }

  /// A gang starts whole or not at all: when one of its waiting tasks gets no place, the others
  /// get none either. Refusing places never overfills anything.
  void refuse_incomplete_gangs() {
    std::unordered_map<Slot, std::size_t> placed;
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (!result_.places[i] && waits_for_peers(state_, seats_[i])) ++placed[seats_[i].task->job];
    }
    if (placed.empty()) return;
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i] || !waits_for_peers(state_, seats_[i])) continue;
      const JobRow& job = state_.job(seats_[i].task->job);
      if (placed[job.slot] < job.pending) result_.places[i] = awaiting_peers();
    }
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
  void check_releases() {
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
      const InstanceRow* row = state_.find(plan_.releases[i].instance);
      const bool empties = row != nullptr && !row->released && !wanted.contains(row->id.value) &&
                           leaving[row->id.value] == row->planned.size();
      if (!empties) result_.releases[i] = outdated();
      if (limits_.fixed_fleet) result_.releases[i] = fixed_fleet();
      if (!is_number(plan_.releases[i].cause)) result_.releases[i] = malformed();
    }
  }

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  CheckedPlan result_;
  plan_check::Seats seats_;
  std::unordered_set<TaskId> placed_;
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
