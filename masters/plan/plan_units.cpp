// The part of the plan check that knows which parts stand or fall together.

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "masters/plan/plan_parts.hpp"

namespace muster::plan_check {
namespace {

/// Joins groups and gangs (union-find) and numbers what comes of it.
class UnitFinder {
 public:
  UnitFinder(const Plan& plan, const ClusterState& state, const Seats& seats)
      : plan_(plan), state_(state), seats_(seats) {}

  Units run() {
    units_.launches = of_groups(plan_.launches);
    units_.stops = of_groups(plan_.stops);
    units_.releases = of_groups(plan_.releases);
    units_.grouped = !above_.empty();
    for (std::size_t i = 0; i < plan_.places.size(); ++i) units_.places.push_back(node_of(i));
    number();
    note_held();
    return std::move(units_);
  }

 private:
  std::uint32_t new_node() {
    above_.push_back(static_cast<std::uint32_t>(above_.size()));
    return above_.back();
  }
  std::uint32_t node_of_group(std::uint32_t group) {
    const auto [known, is_new] = groups_.try_emplace(group, 0);
    if (is_new) known->second = new_node();
    return known->second;
  }
  template <class Part>
  std::vector<std::uint32_t> of_groups(const std::vector<Part>& parts) {
    std::vector<std::uint32_t> nodes(parts.size(), kNoUnit);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].group != 0) nodes[i] = node_of_group(parts[i].group);
    }
    return nodes;
  }

  /// A place is in a unit for its group's, its gang's and its launch's sake: all of these are one.
  std::uint32_t node_of(std::size_t i) {
    const Place& place = plan_.places[i];
    std::uint32_t node = kNoUnit;
    if (place.group != 0) {
      units_.grouped = true;
      node = node_of_group(place.group);
    }
    const auto* launch = std::get_if<LaunchIndex>(&place.to);
    if (launch != nullptr && launch->value < plan_.launches.size()) {
      node = joined(node, units_.launches[launch->value]);
    }
    if (!waits_for_peers(state_, seats_[i])) return node;
    const auto [known, is_new] = gangs_.try_emplace(seats_[i].task->job, 0);
    if (is_new) known->second = new_node();
    return joined(node, known->second);
  }

  std::uint32_t root(std::uint32_t node) {
    while (above_[node] != node) node = above_[node] = above_[above_[node]];
    return node;
  }
  std::uint32_t joined(std::uint32_t a, std::uint32_t b) {
    if (a == kNoUnit) return b;
    if (b == kNoUnit) return a;
    a = root(a);
    b = root(b);
    return above_[std::max(a, b)] = std::min(a, b);
  }

  void number() {
    std::vector<std::uint32_t> numbers(above_.size(), kNoUnit);
    for (auto* parts : {&units_.launches, &units_.places, &units_.stops, &units_.releases}) {
      for (std::uint32_t& node : *parts) {
        if (node == kNoUnit) continue;
        std::uint32_t& number = numbers[root(node)];
        if (number == kNoUnit) number = static_cast<std::uint32_t>(units_.count++);
        node = number;
      }
    }
  }

  void note_held() {
    units_.hold.assign(units_.count, false);
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      const TaskRow* task = seats_[i].task;
      if (units_.places[i] == kNoUnit || task == nullptr || task->target == kNoSlot) continue;
      units_.hold[units_.places[i]] = true;
    }
    for (std::uint32_t unit : units_.stops) {
      if (unit != kNoUnit) units_.hold[unit] = true;
    }
  }

  const Plan& plan_;
  const ClusterState& state_;
  const Seats& seats_;
  Units units_;
  std::vector<std::uint32_t> above_;  ///< of each group or gang another one of its unit, or itself
  std::unordered_map<std::uint32_t, std::uint32_t> groups_;  // looked up only
  std::unordered_map<Slot, std::uint32_t> gangs_;            // by their jobs; looked up only
};

Refusal missing(RefusalCode code) {
  return {RefusalKind::not_now, code, {}, 0, 0};
}

}  // namespace

Units units_of(const Plan& plan, const ClusterState& state, const Seats& seats) {
  return UnitFinder(plan, state, seats).run();
}

std::vector<bool> broken_units(const Units& units, const CheckedPlan& checked) {
  std::vector<bool> broken(units.count);
  const auto look = [&](const std::vector<std::uint32_t>& of,
                        const std::vector<std::optional<Refusal>>& refusals) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] != kNoUnit && refusals[i]) broken[of[i]] = true;
    }
  };
  look(units.launches, checked.launches);
  look(units.places, checked.places);
  look(units.stops, checked.stops);
  look(units.releases, checked.releases);
  return broken;
}

void refuse_units(const CheckInput& in, const std::vector<bool>& which, CheckedPlan& checked) {
  const auto refuse = [&](const std::vector<std::uint32_t>& of,
                          std::vector<std::optional<Refusal>>& refusals, auto code_of) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] == kNoUnit || !which[of[i]] || refusals[i]) continue;
      refusals[i] = missing(code_of(i));
    }
  };
  const auto grouped = [](std::size_t) { return RefusalCode::group_refused; };
  refuse(in.units.launches, checked.launches, grouped);
  refuse(in.units.stops, checked.stops, grouped);
  refuse(in.units.releases, checked.releases, grouped);
  refuse(in.units.places, checked.places, [&](std::size_t i) {
    const bool of_gang = in.plan.places[i].group == 0 && waits_for_peers(in.state, in.seats[i]);
    return of_gang ? RefusalCode::awaiting_peers : RefusalCode::group_refused;
  });
}

}  // namespace muster::plan_check
