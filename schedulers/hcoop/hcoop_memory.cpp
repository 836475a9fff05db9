// HCoop's memory in words. Tasks and instances go by their numbers, types by name.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "model/fields.hpp"
#include "schedulers/hcoop/hcoop_policy.hpp"
#include "schedulers/saved_lines.hpp"

namespace muster {

void line(auto& a, Like<Grown> auto& grown) {
  a(grown.ids, grown.most);
}

}  // namespace muster

namespace muster::hcoop {

using saved::list, saved::loaded, saved::member, saved::want;

namespace {

using nlohmann::json;

std::uint64_t whole(const json& value) {
  return loaded<std::uint64_t>(value);
}

/// Tasks with numbers and orders that rise by one are one line: [first task, its order, how many].
json words_of(const std::vector<std::pair<TaskId, Order>>& orders) {
  json lines = json::array();
  for (std::size_t i = 0; i < orders.size();) {
    const auto& [task, order] = orders[i];
    std::size_t count = 1;
    while (i + count < orders.size() && orders[i + count].first.value == task.value + count &&
           orders[i + count].second == order + count) {
      ++count;
    }
    lines.push_back({task.value, order, count});
    i += count;
  }
  return lines;
}

std::vector<std::pair<TaskId, Order>> orders_from(const json& lines, std::size_t at_most) {
  std::vector<std::pair<TaskId, Order>> orders;
  for (const json& line : list(lines)) {
    list(line, 3);
    const std::uint64_t count = whole(line[2]);
    // Bounds what a damaged text can make this allocate; more tasks than wait cannot be known.
    want(count <= at_most - orders.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      orders.emplace_back(TaskId{whole(line[0]) + i}, whole(line[1]) + i);
    }
  }
  return orders;
}

unsigned flags_of(const WaitingSnapshot::Unit& unit) {
  return unit.gang + 2U * unit.may_fall_back + 4U * unit.queued + 8U * unit.placed +
         16U * unit.refused;
}

bool continues(const WaitingSnapshot::Unit& next, const WaitingSnapshot::Unit& unit) {
  return next.queue == unit.queue && flags_of(next) == flags_of(unit) && next.tasks.size() == 1 &&
         next.deviation == unit.deviation;
}

/// [queue, flags, deviation, how many, tasks]; tasks alone that differ by their numbers only, which
/// rise by one, are one line.
json words_of(const std::vector<WaitingSnapshot::Unit>& units) {
  json lines = json::array();
  for (std::size_t i = 0; i < units.size();) {
    const WaitingSnapshot::Unit& unit = units[i];
    std::size_t count = 1;
    while (unit.tasks.size() == 1 && i + count < units.size() &&
           continues(units[i + count], unit) &&
           units[i + count].tasks[0].value == unit.tasks[0].value + count) {
      ++count;
    }
    json line =
        json::array({static_cast<unsigned>(unit.queue), flags_of(unit), unit.deviation, count});
    for (TaskId task : unit.tasks) line.push_back(task.value);
    lines.push_back(std::move(line));
    i += count;
  }
  return lines;
}

WaitingSnapshot::Unit unit_from(const json& line) {
  WaitingSnapshot::Unit unit;
  list(line, 5);
  want(whole(line[0]) < kQueues && line[2].is_number());
  unit.queue = static_cast<QueueKind>(whole(line[0]));
  const std::uint64_t flags = whole(line[1]);
  unit.gang = (flags & 1) != 0;
  unit.may_fall_back = (flags & 2) != 0;
  unit.queued = (flags & 4) != 0;
  unit.placed = (flags & 8) != 0;
  unit.refused = (flags & 16) != 0;
  unit.deviation = line[2].get<double>();
  for (std::size_t i = 4; i < line.size(); ++i) unit.tasks.push_back(TaskId{whole(line[i])});
  return unit;
}

std::vector<WaitingSnapshot::Unit> units_from(const json& lines, std::size_t at_most) {
  std::vector<WaitingSnapshot::Unit> units;
  for (const json& line : list(lines)) {
    const WaitingSnapshot::Unit unit = unit_from(line);
    const std::uint64_t count = whole(line[3]);
    want(count <= at_most - units.size() && (count <= 1 || unit.tasks.size() == 1));
    // Only tasks alone are folded into one line, so that there is a single number to raise.
    for (std::uint64_t i = 0; i < count; ++i) {
      units.push_back(unit);
      units.back().tasks[0].value += i;
    }
  }
  return units;
}

FreeCapacitySnapshot free_capacity_from(const json& all) {
  FreeCapacitySnapshot snapshot;
  saved::Reader::get(member(all, "empty"), snapshot.empty);
  const json& grown = list(member(all, "grown"), snapshot.grown.size());
  for (std::size_t i = 0; i < snapshot.grown.size(); ++i) {
    saved::Reader::get(grown[i], snapshot.grown[i]);
    want(snapshot.grown[i].most.size() <= snapshot.grown[i].ids.size());
  }
  return snapshot;
}

WaitingSnapshot waiting_from(const json& all, const ClusterState& state) {
  WaitingSnapshot snapshot;
  saved::Reader::get(member(all, "interruptions"), snapshot.interruptions);
  if (!all.contains("units")) return snapshot;
  snapshot.next_order = whole(member(all, "next_order"));
  snapshot.orders = orders_from(member(all, "orders"), state.pending().size());
  snapshot.units = units_from(all["units"], state.pending().size());
  return snapshot;
}

/// The types of a fleet on each market; those that are in no catalog any more are left out.
std::array<std::vector<TypeId>, 2> types_from(const json& lines, const Catalog& catalog) {
  std::array<std::vector<TypeId>, 2> types;
  list(lines, types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (const json& name : list(lines[i])) {
      want(name.is_string());
      if (const auto type = catalog.find(name.get<std::string>())) types[i].push_back(*type);
    }
  }
  return types;
}

}  // namespace

std::string HcoopPolicy::save_state(const ClusterState& state) const {
  const WaitingSnapshot waiting = waiting_.snapshot(state);
  json all;
  all["interruptions"] = saved::saved(waiting.interruptions);
  // Interruptions are noted before anything is built, and follow from no state.
  if (!built_) return all.dump();
  all["next_order"] = waiting.next_order;
  all["orders"] = words_of(waiting.orders);
  all["units"] = words_of(waiting.units);
  const FreeCapacitySnapshot free_capacity = free_capacity_.snapshot();
  all["empty"] = saved::saved(free_capacity.empty);
  for (const Grown& grown : free_capacity.grown) all["grown"].push_back(saved::saved(grown));
  all["retry"] = {retry_.queue, retry_.from, next_retry_.time_since_epoch().count()};
  // Types of a fleet that is fixed are remembered by name: instances that are gone made some of
  // them known, and catalogs may be reordered.
  for (Market market : kMarkets) {
    if (!feasible_types_.of_fleet()) break;
    json names = json::array();
    std::vector<TypeId> types = feasible_types_.types(market);
    std::sort(types.begin(), types.end());
    for (TypeId type : types) names.push_back((*catalog_)[type].name);
    all["fleet"].push_back(std::move(names));
  }
  // Type names need not be UTF-8: replaced rather than thrown at.
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool HcoopPolicy::load_state(std::string_view text, const ClusterView& view) {
  // Text that does not parse becomes a discarded value, which is no object and is rejected below.
  const json all = json::parse(text, nullptr, false);
  try {
    const WaitingSnapshot waiting = waiting_from(all, view.state);
    // Earlier versions kept the interruptions alone. A fleet that is fixed from now on, or no more,
    // is another set of types: all is packed anew.
    if (!all.contains("units") || all.contains("fleet") == view.rents()) {
      waiting_.interruptions() = waiting.interruptions;
      rebuild(view);
      return true;
    }
    const FreeCapacitySnapshot free_capacity = free_capacity_from(all);
    const json& retry = list(member(all, "retry"), 3);
    feasible_types_ = FeasibleTypes(*catalog_);
    feasible_types_.reprice(view.state.offerings());
    if (!view.rents()) {
      const auto types = types_from(all["fleet"], *catalog_);
      feasible_types_.begin_fleet();
      for (Market market : kMarkets) {
        for (TypeId type : types[index_of(market)]) feasible_types_.add_to_fleet(type, market);
      }
    }
    feasible_types_.learn(view.state);
    rebuild_free_capacity(view);
    free_capacity_.restore(free_capacity);
    retry_ = {static_cast<std::size_t>(whole(retry[0])), whole(retry[1])};
    next_retry_ = loaded<Instant>(retry[2]);
    // restore() says whether text and state are of one moment; else all is built from the state.
    built_ = waiting_.restore(waiting, view.state, feasible_types_);
    in_flight_ = waiting_.placed();
    ahead_ = false;
    return built_;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::hcoop
