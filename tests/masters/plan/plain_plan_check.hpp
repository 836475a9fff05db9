#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "masters/plan/plan_check.hpp"
#include "model/feasible.hpp"

// The plan check as its rules read, without any index: it starts over after each refusal. What it
// refuses is what check_plan() has to refuse. For plans whose parts are well-formed and known.

namespace muster::test {

class PlainPlanCheck {
 public:
  PlainPlanCheck(const Plan& plan, const ClusterState& state, const PlanLimits& limits)
      : plan_(plan), state_(state), limits_(limits), places_(plan.places.size()) {
    launches_.resize(plan.launches.size());
    stops_.resize(plan.stops.size());
    releases_.resize(plan.releases.size());
  }

  /// Why each place is refused, if it is.
  std::vector<std::optional<Refusal>> run() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i] = stays(task(i)) ? stays(task(i)) : infeasible(i);
    }
    for (std::size_t i = 0; i < stops_.size(); ++i) {
      stops_[i] = stays(*state_.find(plan_.stops[i].task));
    }
    label_units();
    valid_ = all();
    for (int pass = 0;; ++pass) {
      refuse_incomplete();
      grant();
      refuse_incomplete();
      const std::set<int> dead = refused_units();
      keep_apart();
      while (refuse_one_over_capacity()) {
      }
      check_releases();
      std::vector<int> broken;
      for (std::size_t at : in_order_of_loss()) {
        const int unit = units_[at];
        if (unit != 0 && !dead.contains(unit) && all()[at]) broken.push_back(unit);
      }
      if (broken.empty()) break;
      if (pass < kPassesOneByOne) broken.resize(1);
      if (pass >= kMostPasses) {
        broken = holding_units(dead);
        if (broken.empty()) {
          refuse_incomplete();
          check_releases();
          break;
        }
      }
      leave_out(broken);
    }
    return places_;
  }
  /// After run().
  const std::vector<std::optional<Refusal>>& stops() const { return stops_; }
  const std::vector<std::optional<Refusal>>& releases() const { return releases_; }

 private:
  using Refusals = std::vector<std::optional<Refusal>>;

  /// All parts in one list: launches, places, stops, releases.
  Refusals all() const {
    Refusals all;
    for (const Refusals* part : {&launches_, &places_, &stops_, &releases_}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  void set_all(const Refusals& all) {
    std::size_t at = 0;
    for (Refusals* part : {&launches_, &places_, &stops_, &releases_}) {
      for (auto& refusal : *part) refusal = all[at++];
    }
  }
  std::size_t place_at(std::size_t i) const { return launches_.size() + i; }
  std::size_t stop_at(std::size_t i) const { return place_at(places_.size()) + i; }
  std::size_t release_at(std::size_t i) const { return stop_at(stops_.size()) + i; }
  std::vector<std::size_t> in_order_of_loss() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < places_.size(); ++i) order.push_back(place_at(i));
    for (std::size_t i = 0; i < releases_.size(); ++i) order.push_back(release_at(i));
    return order;
  }

  /// Spreads numbers of units among parts that belong together until nothing changes.
  void label_units() {
    units_.assign(all().size(), 0);
    std::vector<std::uint32_t> groups;
    for (const Launch& part : plan_.launches) groups.push_back(part.group);
    for (const Place& part : plan_.places) groups.push_back(part.group);
    for (const Stop& part : plan_.stops) groups.push_back(part.group);
    for (const Release& part : plan_.releases) groups.push_back(part.group);
    const auto together = [&](std::size_t a, std::size_t b) {
      if (a == b || (groups[a] != 0 && groups[a] == groups[b])) return true;
      const bool places = a >= place_at(0) && a < stop_at(0) && b >= place_at(0) && b < stop_at(0);
      if (places) {
        const std::size_t i = a - place_at(0), j = b - place_at(0);
        return starts_with_gang(i) && starts_with_gang(j) && task(i).job == task(j).job;
      }
      if (a >= place_at(0) || b < place_at(0) || b >= stop_at(0) || groups[a] == 0) return false;
      const LaunchIndex* launch = launch_of(b - place_at(0));
      return launch != nullptr && launch->value == a;
    };
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const bool of_gang = i >= place_at(0) && i < stop_at(0) && starts_with_gang(i - place_at(0));
      if (groups[i] != 0 || of_gang) units_[i] = static_cast<int>(i) + 1;
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t a = 0; a < units_.size(); ++a) {
        for (std::size_t b = 0; b < units_.size(); ++b) {
          if (!together(a, b) || units_[a] == units_[b]) continue;
          const int unit = units_[a] == 0 || units_[b] == 0 ? std::max(units_[a], units_[b])
                                                            : std::min(units_[a], units_[b]);
          units_[a] = units_[b] = unit;
          changes = true;
        }
      }
    }
  }
  /// One that is feasible: others count for no gang.
  bool starts_with_gang(std::size_t i) const {
    const bool never = stays(task(i)) || infeasible(i);
    return !never && is_of_gang(i);
  }

  std::set<int> refused_units() const {
    std::set<int> refused;
    const Refusals now = all();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (units_[i] != 0 && now[i]) refused.insert(units_[i]);
    }
    return refused;
  }
  void refuse_units(const std::set<int>& which) {
    Refusals now = all();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (units_[i] == 0 || !which.contains(units_[i]) || now[i]) continue;
      RefusalCode code = RefusalCode::group_refused;
      if (i >= place_at(0) && i < stop_at(0)) {
        const std::size_t place = i - place_at(0);
        const bool gang = plan_.places[place].group == 0 && starts_with_gang(place);
        if (gang) code = RefusalCode::awaiting_peers;
      }
      now[i] = Refusal{RefusalKind::not_now, code, {}, 0, 0};
    }
    set_all(now);
  }
  void refuse_incomplete() {
    std::set<int> refused = refused_units();
    std::map<Slot, std::size_t> placed;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i] && is_of_gang(i)) ++placed[task(i).job];
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] || !is_of_gang(i)) continue;
      if (placed[task(i).job] < state_.job(task(i).job).pending) {
        refused.insert(units_[place_at(i)]);
      }
    }
    refuse_units(refused);
  }
  /// Those with a move or a stop that stand.
  std::vector<int> holding_units(const std::set<int>& dead) const {
    std::vector<int> holding;
    const auto add = [&](int unit) {
      if (unit != 0 && !dead.contains(unit)) holding.push_back(unit);
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (task(i).target != kNoSlot) add(units_[place_at(i)]);
    }
    for (std::size_t i = 0; i < stops_.size(); ++i) add(units_[stop_at(i)]);
    return holding;
  }
  void leave_out(const std::vector<int>& broken) {
    const std::set<int> which(broken.begin(), broken.end());
    const Refusals now = all();
    for (std::size_t at : in_order_of_loss()) {
      if (which.contains(units_[at]) && !valid_[at]) valid_[at] = now[at];
    }
    set_all(valid_);
    refuse_units(which);
    valid_ = all();
  }
  void check_releases() {
    for (std::size_t i = 0; i < releases_.size(); ++i) {
      const bool grouped = units_[release_at(i)] != 0;
      if (valid_[release_at(i)] || (grouped && releases_[i])) continue;
      const InstanceRow& row = *state_.find(plan_.releases[i].instance);
      std::size_t leaving = 0;
      bool wanted = false;
      for (std::size_t j = 0; j < places_.size(); ++j) {
        if (places_[j]) continue;
        leaving += task(j).target == row.slot;
        wanted |= plan_.places[j].to == PlaceTarget{row.id};
      }
      for (std::size_t j = 0; j < stops_.size(); ++j) {
        if (!stops_[j]) leaving += state_.find(plan_.stops[j].task)->target == row.slot;
      }
      releases_[i].reset();
      if (wanted || leaving < row.planned.size()) {
        releases_[i] = Refusal{RefusalKind::not_now, RefusalCode::outdated, {}, 0, 0};
      }
    }
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
  std::uint32_t most_together(std::size_t i) const {
    return state_.job(task(i).job).job.most_an_instance;
  }
  Refusal too_many(std::size_t i, std::size_t together) const {
    return {RefusalKind::not_now,
            RefusalCode::distinct_instances,
            {},
            double(together),
            double(most_together(i))};
  }
  /// Tasks of the same job that the state has on the instance or on their way there.
  std::set<Slot> tasks_there(std::size_t i) const {
    std::set<Slot> there;
    const auto* id = std::get_if<InstanceId>(&plan_.places[i].to);
    for (Slot slot : state_.job(task(i).job).tasks) {
      const TaskRow& one = state_.task(slot);
      const Slot on = id != nullptr ? state_.find(*id)->slot : kNoSlot;
      if (on != kNoSlot && (one.at == on || one.target == on)) there.insert(slot);
    }
    return there;
  }
  /// One task more than may be together, with those that go there before it.
  void keep_apart() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] || most_together(i) == 0) continue;
      std::set<Slot> together = tasks_there(i);
      for (std::size_t j = 0; j <= i; ++j) {
        const bool same = task(j).job == task(i).job && plan_.places[j].to == plan_.places[i].to;
        if (same && !places_[j]) together.insert(task(j).slot);
      }
      if (together.size() > most_together(i)) places_[i] = too_many(i, together.size());
    }
  }

  /// Beside as many others of its job as may be together, granted less than it demands, or more
  /// than there is of the type.
  std::optional<Refusal> infeasible(std::size_t i) const {
    std::set<Slot> together = tasks_there(i);
    together.insert(task(i).slot);
    const bool bounded = most_together(i) > 0 && launch_of(i) == nullptr;
    if (bounded && together.size() > most_together(i)) return too_many(i, together.size());
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
    for (std::size_t i = 0; i < stops_.size(); ++i) {
      if (!stops_[i]) take_away(*state_.find(plan_.stops[i].task));
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i]) continue;
      Resources& so_far = room(plan_.places[i].to);
      if ((places_[i] = over(i, so_far))) return true;
      so_far += granted(i);
    }
    return false;
  }

  /// Launch by launch: a task gets it, with all that its unit needs, when the caps allow.
  void grant() {
    if (limits_.caps.max_instances == 0) return;
    std::set<std::uint32_t> granted;
    for (std::uint32_t launch = 0; launch < plan_.launches.size(); ++launch) {
      if (launches_[launch]) continue;
      bool meant = false;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        meant |= launch_of(i) != nullptr && launch_of(i)->value == launch;
      }
      if (units_[launch] != 0) {
        ask_for(units_[launch], {}, granted);
      } else if (!meant) {
        ask_for(0, {launch}, granted);
      }
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i] || launch_of(i) == nullptr || launch_of(i)->value != launch) continue;
        places_[i] = ask_for(units_[place_at(i)], {launch}, granted);
      }
    }
  }
  /// Grants the unit, or without one the launch, or says why not; refuses the whole unit then.
  std::optional<Refusal> ask_for(int unit, std::set<std::uint32_t> needed,
                                 std::set<std::uint32_t>& granted) {
    std::set<InstanceId> own;  // what a unit has a part of counts as asked for
    std::vector<std::size_t> together;
    for (std::uint32_t j = 0; unit != 0 && j < launches_.size(); ++j) {
      if (units_[j] == unit && !launches_[j]) needed.insert(j);
    }
    for (std::size_t j = 0; unit != 0 && j < places_.size(); ++j) {
      if (units_[place_at(j)] != unit || places_[j]) continue;
      together.push_back(j);
      if (launch_of(j) != nullptr) needed.insert(launch_of(j)->value);
      if (launch_of(j) == nullptr) own.insert(std::get<InstanceId>(plan_.places[j].to));
    }
    needed.insert(granted.begin(), granted.end());
    const std::size_t more = needed.size() - granted.size();
    const std::size_t have = state_.instances().size() + granted.size();
    const std::size_t cap = limits_.caps.max_instances;
    if (more == 0 || have + more <= cap) {
      granted = needed;
      return std::nullopt;
    }
    const double left = static_cast<double>(cap) - static_cast<double>(have);
    const std::size_t asked = more + own.size();
    const double available = asked > cap  // whoever has how much of the cap
                                 ? static_cast<double>(cap)
                                 : std::max(0.0, left) + static_cast<double>(own.size());
    const Refusal over{
        RefusalKind::not_now, RefusalCode::instance_cap, {}, static_cast<double>(asked), available};
    for (std::size_t j : together) places_[j] = over;
    for (std::uint32_t j = 0; unit != 0 && j < launches_.size(); ++j) {
      if (units_[j] == unit && !launches_[j]) launches_[j] = over;
    }
    return over;
  }

  using PlaceKey = std::pair<bool, std::uint64_t>;

  const Plan& plan_;
  const ClusterState& state_;
  const PlanLimits& limits_;
  Refusals launches_, places_, stops_, releases_;
  std::vector<int> units_;  ///< of each part, in the order of all(); 0: none
  Refusals valid_;          ///< what no other part has to do with, and what was left out
};

}  // namespace muster::test
