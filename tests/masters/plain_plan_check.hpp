#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "masters/plan_check.hpp"

// The plan check as its rules read, without any index: it starts over after each refusal. What it
// refuses is what check_plan() has to refuse. For plans whose parts are well-formed and known.

namespace muster::test {

class PlainPlanCheck {
 public:
  PlainPlanCheck(const Plan& plan, const ClusterState& state, const PlanLimits& limits)
      : plan_(plan), state_(state), limits_(limits), places_(plan.places.size()) {}

  /// Why each place is refused, if it is.
  std::vector<std::optional<Refusal>> run() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i] = stays(task(i)) ? stays(task(i)) : infeasible(i);
    }
    std::vector<std::optional<Refusal>> valid = places_;
    for (int pass = 0;; ++pass) {
      keep_gangs_whole();
      grant();
      const auto granted = places_;
      while (refuse_one_over_capacity()) {
      }
      std::vector<Slot> broken;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (is_of_gang(i) && places_[i] && !granted[i]) broken.push_back(task(i).job);
      }
      if (broken.empty()) break;
      if (pass == kMostPasses) {
        keep_gangs_whole();
        break;
      }
      if (pass < kPassesOneByOne) broken.resize(1);
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (valid[i] || !is_of_gang(i)) continue;
        if (std::find(broken.begin(), broken.end(), task(i).job) == broken.end()) continue;
        valid[i] = places_[i] ? places_[i] : awaiting_peers();
      }
      places_ = valid;
    }
    return places_;
  }

 private:
  static Refusal awaiting_peers() {
    return {RefusalKind::not_now, RefusalCode::awaiting_peers, {}, 0, 0};
  }
  const TaskRow& task(std::size_t i) const { return *state_.find(plan_.places[i].task); }
  const LaunchIndex* launch_of(std::size_t i) const {
    return std::get_if<LaunchIndex>(&plan_.places[i].to);
  }
  TypeId type_at(std::size_t i) const {
    if (const LaunchIndex* launch = launch_of(i)) return plan_.launches[launch->value].type;
    return state_.find(std::get<InstanceId>(plan_.places[i].to))->type;
  }
  Resources granted(std::size_t i) const {
    const Resources& demand = state_.demand(task(i), type_at(i))->amount;
    return plan_.places[i].grant.value_or(Grant::of(demand)).amount;
  }
  bool is_of_gang(std::size_t i) const {
    return task(i).phase == TaskPhase::pending && state_.job(task(i).job).job.gang;
  }
  std::optional<Refusal> over(std::size_t i, const Resources& filled) const {
    const Resources& capacity = state_.catalog()[type_at(i)].capacity;
    const auto binding = (filled + granted(i)).first_exceeding(capacity);
    if (!binding) return std::nullopt;
    return Refusal{RefusalKind::not_now, RefusalCode::over_capacity, binding, granted(i)[*binding],
                   capacity[*binding] - filled[*binding]};
  }
  /// Granted less than it demands, or more than there is of the type.
  std::optional<Refusal> infeasible(std::size_t i) const {
    const Resources& demand = state_.demand(task(i), type_at(i))->amount;
    const auto missing = demand.first_exceeding(granted(i));
    if (!missing) return over(i, {});
    return Refusal{RefusalKind::not_now, RefusalCode::malformed, missing, demand[*missing],
                   granted(i)[*missing]};
  }

  /// A task that runs stays when its job is not movable, and until all of its gang have stayed.
  std::optional<Refusal> stays(const TaskRow& row) const {
    if (row.phase != TaskPhase::running) return std::nullopt;
    const JobRow& job = state_.job(row.job);
    if (!job.job.movable) return Refusal{RefusalKind::not_now, RefusalCode::not_movable, {}, 0, 0};
    Duration stayed = limits_.stay.now - row.started_at;
    for (Slot peer : job.tasks) {
      if (!job.job.gang || state_.task(peer).phase != TaskPhase::running) continue;
      stayed = std::min(stayed, limits_.stay.now - state_.task(peer).started_at);
    }
    if (stayed >= limits_.stay.min_stay) return std::nullopt;
    return Refusal{RefusalKind::not_now,
                   RefusalCode::min_stay,
                   {},
                   to_seconds(limits_.stay.min_stay),
                   to_seconds(stayed)};
  }

  void keep_gangs_whole() {
    std::map<Slot, std::size_t> placed;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i] && is_of_gang(i)) ++placed[task(i).job];
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] || !is_of_gang(i)) continue;
      if (placed[task(i).job] < state_.job(task(i).job).pending) places_[i] = awaiting_peers();
    }
  }

  /// Refuses the first place that does not fit after those before it.
  bool refuse_one_over_capacity() {
    std::map<PlaceKey, Resources> filled;
    const auto room = [&](const PlaceTarget& to) -> Resources& {
      const auto* id = std::get_if<InstanceId>(&to);
      const PlaceKey key{id == nullptr,
                         id != nullptr ? id->value : std::get<LaunchIndex>(to).value};
      const auto [entry, is_new] = filled.try_emplace(key);
      if (is_new && id != nullptr) entry->second = state_.find(*id)->committed;
      return entry->second;
    };
    const auto take_away = [&](const TaskRow& row) {
      if (row.target == kNoSlot) return;
      const InstanceRow& old = state_.instance(row.target);
      room(PlaceTarget{old.id}) -= row.planned.amount;
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i]) take_away(task(i));
    }
    for (const Stop& stop : plan_.stops) {
      if (!stays(*state_.find(stop.task))) take_away(*state_.find(stop.task));
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i]) continue;
      Resources& so_far = room(plan_.places[i].to);
      if ((places_[i] = over(i, so_far))) return true;
      so_far += granted(i);
    }
    return false;
  }

  /// Launch by launch: a task gets it, with all that its gang needs, when the caps allow.
  void grant() {
    std::set<std::uint32_t> granted;
    for (std::uint32_t launch = 0; launch < plan_.launches.size(); ++launch) {
      bool meant = false;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        meant |= launch_of(i) != nullptr && launch_of(i)->value == launch;
      }
      const std::size_t limit = limits_.caps.max_instances;
      const bool fits = limit == 0 || state_.instances().size() + granted.size() < limit;
      if (!meant && fits) granted.insert(launch);  // planned without any task, it is made too
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i] || launch_of(i) == nullptr || launch_of(i)->value != launch) continue;
        std::set<std::uint32_t> needed{launch};
        std::vector<std::size_t> together{i};
        for (std::size_t j = 0; is_of_gang(i) && j < places_.size(); ++j) {
          if (!is_of_gang(j) || task(j).job != task(i).job) continue;
          together.push_back(j);
          if (launch_of(j) != nullptr) needed.insert(launch_of(j)->value);
        }
        needed.insert(granted.begin(), granted.end());
        const std::size_t more = needed.size() - granted.size();
        const std::size_t have = state_.instances().size() + granted.size();
        const MasterCaps& caps = limits_.caps;
        if (caps.max_instances == 0 || more == 0 || have + more <= caps.max_instances) {
          granted = needed;
          continue;
        }
        const double left = static_cast<double>(caps.max_instances) - static_cast<double>(have);
        std::set<InstanceId> own;  // what a gang has a part of counts as asked for
        for (std::size_t j : together) {
          const auto* id = std::get_if<InstanceId>(&plan_.places[j].to);
          if (id != nullptr && is_of_gang(i)) own.insert(*id);
        }
        const std::size_t asked = more + own.size();
        const double available = asked > caps.max_instances  // whoever has how much of the cap
                                     ? static_cast<double>(caps.max_instances)
                                     : std::max(0.0, left) + static_cast<double>(own.size());
        for (std::size_t j : together) {
          places_[j] = Refusal{RefusalKind::not_now,
                               RefusalCode::instance_cap,
                               {},
                               static_cast<double>(asked),
                               available};
        }
      }
    }
  }

  using PlaceKey = std::pair<bool, std::uint64_t>;

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  std::vector<std::optional<Refusal>> places_;
};

}  // namespace muster::test
