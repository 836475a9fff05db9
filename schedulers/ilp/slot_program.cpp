#include "schedulers/ilp/slot_program.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "schedulers/packing/rounds/assignment.hpp"

namespace muster::ilp {

SlotProgram::SlotProgram(const HostingProblem& hosting, const ReservationPrices& prices,
                         std::span<const bound::Pattern> start)
    : problem_(hosting.fluid) {
  for (const std::uint32_t kind : hosting.kind_of) {
    if (kind != kUnassigned) kind_of_.push_back(kind);
  }
  // Types of a group are alike to tasks but for their capacity.
  const PlacementMask& mask = prices.mask();
  std::map<std::uint32_t, std::size_t> group_of;
  const bool one = !mask.is_constrained() && same_everywhere();
  for (std::uint32_t type = 0; type < problem_.types.size(); ++type) {
    const std::uint32_t number = one ? 0 : mask.group_of(hosting.types[type]);
    const auto [group, is_new] = group_of.try_emplace(number, groups_.size());
    if (is_new) groups_.emplace_back();
    groups_[group->second].types.push_back(type);
  }
  for (Group& group : groups_) {
    for (std::uint32_t task = 0; task < kind_of_.size(); ++task) {
      if (fits(group, task)) group.tasks.push_back(task);
    }
  }
  is_too_large_ = most_entries() > kMostEntries;
  if (is_too_large_) return;
  // The first rows say that each task is in one slot.
  program_.rows.assign(kind_of_.size(), {1, 1});
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    for (std::size_t i = 0; i < groups_[number].tasks.size(); ++i) add_slot(number);
  }
  start_with(start);
}

/// Of all columns of all slots, where each takes something of every resource.
std::uint64_t SlotProgram::most_entries() const {
  std::uint64_t entries = 0;
  for (const Group& group : groups_) {
    const std::uint64_t columns = group.types.size() + group.tasks.size();
    entries += group.tasks.size() * (columns * (1 + kResourceKinds) + 1);
  }
  return entries;
}

bool SlotProgram::same_everywhere() const {
  return std::ranges::all_of(problem_.kinds, [](const bound::FluidKind& kind) {
    const bound::OnType* first = nullptr;
    for (const bound::OnType& on : kind.on) {
      if (on.speed <= 0) continue;
      if (first != nullptr && on.amount != first->amount) return false;
      first = &on;
    }
    return true;
  });
}

/// The task's entry on one of the group's types; a place of speed 0 where it does not run.
const bound::OnType& SlotProgram::on(const Group& group, std::uint32_t task) const {
  const bound::FluidKind& kind = problem_.kinds[kind_of_[task]];
  const auto type = std::ranges::find_if(
      group.types, [&](std::uint32_t candidate) { return kind.on[candidate].speed > 0; });
  return kind.on[type != group.types.end() ? *type : group.types.front()];
}

bool SlotProgram::fits(const Group& group, std::uint32_t task) const {
  return on(group, task).speed > 0;
}

bool SlotProgram::is_kept_apart(std::uint32_t kind) const {
  return problem_.kinds[kind].most < problem_.kinds[kind].tasks;
}

void SlotProgram::add_slot(std::size_t number) {
  const Group& group = groups_[number];
  const auto one_type = static_cast<std::uint32_t>(program_.rows.size());
  program_.rows.push_back({1, 1});
  const std::uint32_t room = one_type + 1;
  for (std::size_t r = 0; r < kResourceKinds; ++r) program_.rows.push_back({.most = 0});
  Slot slot{number, program_.columns.size(), 0};
  for (const std::uint32_t type : group.types) {
    IntegerProgram::Column column{problem_.types[type].usd_h, 1, {{one_type, 1}}};
    for (std::uint32_t r = 0; r < kResourceKinds; ++r) {
      const double amount = problem_.types[type].capacity.amounts()[r];
      if (amount > 0) column.entries.push_back({room + r, -amount});
    }
    program_.columns.push_back(std::move(column));
  }
  program_.columns.push_back({0, 1, {{one_type, 1}}});  // the ghost type
  slot.first_task = program_.columns.size();
  std::map<std::uint32_t, std::uint32_t> apart;  // the row of each kind that is bounded
  for (const std::uint32_t task : group.tasks) {
    IntegerProgram::Column column{0, 1, {{task, 1}}};
    for (std::uint32_t r = 0; r < kResourceKinds; ++r) {
      const double amount = on(group, task).amount.amounts()[r];
      if (amount > 0) column.entries.push_back({room + r, amount});
    }
    if (const std::uint32_t kind = kind_of_[task]; is_kept_apart(kind)) {
      const auto [row, is_new] =
          apart.try_emplace(kind, static_cast<std::uint32_t>(program_.rows.size()));
      if (is_new) program_.rows.push_back({.most = double(problem_.kinds[kind].most)});
      column.entries.push_back({row->second, 1});
    }
    program_.columns.push_back(std::move(column));
  }
  slots_.push_back(slot);
}

void SlotProgram::start_with(std::span<const bound::Pattern> start) {
  if (start.empty()) return;
  program_.start.assign(program_.columns.size(), 0);
  std::vector<char> used(slots_.size(), 0);
  std::vector<char> seated(kind_of_.size(), 0);
  for (const bound::Pattern& instance : start) {
    std::size_t number = 0;
    for (; number < slots_.size(); ++number) {
      const auto& types = groups_[slots_[number].group].types;
      if (used[number] == 0 && std::ranges::find(types, instance.type) != types.end()) break;
    }
    // A start without one of its instances is no solution.
    if (number == slots_.size() || !seat(instance, slots_[number], seated)) {
      program_.start.clear();
      return;
    }
    used[number] = 1;
  }
  for (std::size_t number = 0; number < slots_.size(); ++number) {
    if (used[number] == 0) program_.start[slots_[number].first_task - 1] = 1;
  }
  if (!solves(program_, program_.start)) program_.start.clear();
}

bool SlotProgram::seat(const bound::Pattern& instance, const Slot& slot,
                       std::vector<char>& seated) {
  const Group& group = groups_[slot.group];
  const auto type = std::ranges::find(group.types, instance.type) - group.types.begin();
  program_.start[slot.first_type + static_cast<std::size_t>(type)] = 1;
  for (const std::uint32_t kind : instance.kinds) {
    const auto task = std::ranges::find_if(group.tasks, [&](std::uint32_t candidate) {
      return seated[candidate] == 0 && kind_of_[candidate] == kind;
    });
    if (task == group.tasks.end()) return false;
    seated[*task] = 1;
    program_.start[slot.first_task + static_cast<std::size_t>(task - group.tasks.begin())] = 1;
  }
  return true;
}

std::vector<bound::Pattern> SlotProgram::instances(const std::vector<std::uint32_t>& values) const {
  std::vector<bound::Pattern> instances;
  for (const Slot& slot : slots_) {
    const Group& group = groups_[slot.group];
    for (std::size_t i = 0; i < group.types.size(); ++i) {
      if (values[slot.first_type + i] == 0) continue;
      bound::Pattern instance{group.types[i], {}};
      for (std::size_t t = 0; t < group.tasks.size(); ++t) {
        if (values[slot.first_task + t] > 0) instance.kinds.push_back(kind_of_[group.tasks[t]]);
      }
      std::sort(instance.kinds.begin(), instance.kinds.end());
      instances.push_back(std::move(instance));
    }
  }
  return instances;
}

}  // namespace muster::ilp
