#include "masters/plan_check.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace muster {
namespace {

Refusal outdated() {
  return {RefusalKind::not_now, RefusalCode::outdated, {}, 0, 0};
}

Refusal fixed_fleet() {
  return {RefusalKind::not_now, RefusalCode::fixed_fleet, {}, 0, 0};
}

/// Works through a plan in the order launches, places, stops, releases.
class PlanChecker {
 public:
  PlanChecker(const Plan& plan, const ClusterState& state, const PlanLimits& limits)
      : plan_(plan), state_(state), limits_(limits) {
    result_.launches.resize(plan.launches.size());
    result_.places.resize(plan.places.size());
    result_.stops.resize(plan.stops.size());
    result_.releases.resize(plan.releases.size());
  }

  CheckedPlan run() {
    check_launches();
    for (std::size_t i = 0; i < plan_.places.size(); ++i) result_.places[i] = check_place(i);
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) result_.stops[i] = check_stop(i);
    settle_capacity();
    keep_gangs_whole();
    check_releases();
    return std::move(result_);
  }

 private:
  void check_launches() {
    if (plan_.launches.empty()) return;
    std::size_t count = 0;
    double usd_h = 0;
    for (const InstanceRow& row : state_.instances()) {
      ++count;
      usd_h += row.price.usd_h();
    }
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const Launch& launch = plan_.launches[i];
      const double price = state_.catalog().price(launch.type, launch.market).usd_h();
      result_.launches[i] = check_launch(launch, count, usd_h);
      if (result_.launches[i]) continue;
      ++count;
      usd_h += price;
    }
  }

  std::optional<Refusal> check_launch(const Launch& launch, std::size_t count, double usd_h) const {
    const MasterCaps& caps = limits_.caps;
    const RestingOffers& resting = limits_.resting;
    if (limits_.fixed_fleet) return fixed_fleet();
    const double price = state_.catalog().price(launch.type, launch.market).usd_h();
    if (std::find(resting.begin(), resting.end(), std::pair(launch.type, launch.market)) !=
        resting.end()) {
      return Refusal{RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0};
    }
    if (caps.max_instances > 0 && count >= caps.max_instances) {
      return Refusal{RefusalKind::not_now, RefusalCode::instance_cap, {}, 1, 0};
    }
    if (caps.max_usd_h > 0 && usd_h + price > caps.max_usd_h) {
      return Refusal{RefusalKind::not_now,
                     RefusalCode::spend_cap,
                     {},
                     price,
                     std::max(0.0, caps.max_usd_h - usd_h)};
    }
    const double needed = (usd_h + price) * to_hours(caps.spend_margin);
    if (caps.max_usd_day > 0 && limits_.spent_today_usd + needed > caps.max_usd_day) {
      return Refusal{RefusalKind::not_now,
                     RefusalCode::spend_cap,
                     {},
                     needed,
                     std::max(0.0, caps.max_usd_day - limits_.spent_today_usd)};
    }
    return std::nullopt;
  }

  /// Whether the task's job wants the market.
  static bool wants(const Job& job, Market market) {
    if (job.markets == MarketChoice::any) return true;
    return (job.markets == MarketChoice::spot) == (market == Market::spot);
  }

  std::optional<Refusal> check_place(std::size_t i) {
    const Place& place = plan_.places[i];
    const TaskRow* task = state_.find(place.task);
    if (task == nullptr || !placed_.insert(place.task).second) return outdated();
    const bool movable = task->phase == TaskPhase::pending || task->phase == TaskPhase::running;
    if (!movable) return outdated();
    TypeId type;
    Market market{};
    if (const auto* id = std::get_if<InstanceId>(&place.to)) {
      const InstanceRow* row = state_.find(*id);
      if (row == nullptr || row->released) return outdated();
      type = row->type;
      market = row->market;
    } else {
      const std::uint32_t index = std::get<LaunchIndex>(place.to).value;
      if (index >= plan_.launches.size()) return outdated();
      if (result_.launches[index]) return result_.launches[index];
      type = plan_.launches[index].type;
      market = plan_.launches[index].market;
    }
    if (!wants(state_.job(task->job).job, market)) {
      return Refusal{RefusalKind::not_now, RefusalCode::wrong_market, {}, 0, 0};
    }
    if (state_.demand(*task, type) == nullptr) {
      return Refusal{RefusalKind::never, RefusalCode::fits_no_type, {}, 0, 0};
    }
    return std::nullopt;
  }

  std::optional<Refusal> check_stop(std::size_t i) {
    const TaskRow* task = state_.find(plan_.stops[i].task);
    if (task == nullptr || !placed_.insert(plan_.stops[i].task).second) return outdated();
    const bool stoppable = task->phase == TaskPhase::running || task->phase == TaskPhase::assigned;
    return stoppable ? std::nullopt : std::optional<Refusal>(outdated());
  }

  /// Refuses places that would overfill their instance. A refused move keeps its old room, which
  /// may overfill that one in turn: repeated until nothing changes, at most once a place.
  void settle_capacity() {
    bool changed = true;
    while (changed) {
      changed = false;
      room_.clear();
      take_away_moved();
      for (std::size_t i = 0; i < plan_.places.size(); ++i) {
        if (result_.places[i]) continue;
        const TaskRow& task = *state_.find(plan_.places[i].task);
        Room& room = room_of(plan_.places[i].to);
        const Resources& demand = state_.demand(task, room.type)->amount;
        const Resources total = room.committed + demand;
        const Resources& capacity = state_.catalog()[room.type].capacity;
        if (const auto binding = total.first_exceeding(capacity)) {
          result_.places[i] =
              Refusal{RefusalKind::not_now, RefusalCode::over_capacity, binding, demand[*binding],
                      capacity[*binding] - room.committed[*binding]};
          changed = true;
          break;
        }
        room.committed = total;
      }
    }
  }

  /// A gang starts whole or not at all: when one of its waiting tasks gets no place, the others
  /// get none either. Refusing places never overfills anything.
  void keep_gangs_whole() {
    std::unordered_map<Slot, std::size_t> placed;
    const auto waits = [this](std::size_t i) {
      return state_.find(plan_.places[i].task)->phase == TaskPhase::pending;
    };
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (!result_.places[i] && waits(i)) ++placed[state_.find(plan_.places[i].task)->job];
    }
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i] || !waits(i)) continue;
      const JobRow& job = state_.job(state_.find(plan_.places[i].task)->job);
      if (job.job.gang && placed[job.slot] < job.pending) {
        result_.places[i] = Refusal{RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
      }
    }
    drop_useless_launches();
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

  struct Room {
    TypeId type;
    Resources committed;
  };

  static std::uint64_t key_of(const PlaceTarget& to) {
    if (const auto* id = std::get_if<InstanceId>(&to)) return id->value << 1;
    return (std::uint64_t{std::get<LaunchIndex>(to).value} << 1) | 1;
  }

  Room& room_of(const PlaceTarget& to) {
    const auto [entry, is_new] = room_.try_emplace(key_of(to));
    if (is_new) {
      if (const auto* id = std::get_if<InstanceId>(&to)) {
        const InstanceRow& row = *state_.find(*id);
        entry->second = {row.type, row.committed};
      } else {
        entry->second = {plan_.launches[std::get<LaunchIndex>(to).value].type, {}};
      }
    }
    return entry->second;
  }

  void take_away(TaskId id) {
    const TaskRow& task = *state_.find(id);
    if (task.target == kNoSlot) return;
    const InstanceRow& old = state_.instance(task.target);
    Room& room = room_of(PlaceTarget{old.id});
    room.committed -= state_.demand(task, room.type)->amount;
  }

  void take_away_moved() {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (!result_.places[i]) take_away(plan_.places[i].task);
    }
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) {
      if (!result_.stops[i]) take_away(plan_.stops[i].task);
    }
  }

  /// An instance can be given back when every task planned for it is taken elsewhere.
  void check_releases() {
    std::unordered_map<std::uint64_t, std::size_t> leaving;
    std::unordered_set<std::uint64_t> wanted;
    const auto leaves = [&](TaskId id) {
      const TaskRow& task = *state_.find(id);
      if (task.target != kNoSlot) ++leaving[state_.instance(task.target).id.value];
    };
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      leaves(plan_.places[i].task);
      if (const auto* id = std::get_if<InstanceId>(&plan_.places[i].to)) wanted.insert(id->value);
    }
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) {
      if (!result_.stops[i]) leaves(plan_.stops[i].task);
    }
    for (std::size_t i = 0; i < plan_.releases.size(); ++i) {
      const InstanceRow* row = state_.find(plan_.releases[i].instance);
      const bool empties = row != nullptr && !row->released && !wanted.contains(row->id.value) &&
                           leaving[row->id.value] == row->planned.size();
      if (!empties) result_.releases[i] = outdated();
      if (limits_.fixed_fleet) result_.releases[i] = fixed_fleet();
    }
  }

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  CheckedPlan result_;
  std::unordered_set<TaskId> placed_;
  std::unordered_map<std::uint64_t, Room> room_;  // looked up only, never iterated
};

}  // namespace

CheckedPlan check_plan(const Plan& plan, const ClusterState& state, const PlanLimits& limits) {
  return PlanChecker(plan, state, limits).run();
}

}  // namespace muster
