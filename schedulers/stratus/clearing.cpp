#include <algorithm>
#include <utility>

#include "schedulers/packing/rounds/moves.hpp"
#include "schedulers/stratus/stratus_round.hpp"

// Instances that have long been used little are emptied (3.4). All of an instance's tasks leave or
// all stay: the moves, the launches for them and the instance's end are one group of the plan.

namespace muster::stratus {
bool is_low(const InstanceRow& row, const Catalog& catalog, const ClearingRules& rules) {
  if (row.released || row.phase != InstancePhase::ready || row.planned.empty()) return false;
  const Resources& capacity = catalog[row.type].capacity;
  return std::all_of(kAllResources.begin(), kAllResources.end(), [&](Resource kind) {
    return capacity[kind] <= 0 || row.committed[kind] < rules.below * capacity[kind];
  });
}

/// Nothing new is on the instance, and what is there may be moved without a loss.
bool StratusRound::may_clear(std::uint32_t instance) {
  const RoundInput::Instance& one = p_.input.instances()[instance];
  const InstanceRow& row = p_.view.state.instance(one.slot);
  if (one.owned || taken_[instance] || !is_low(row, p_.view.catalog, p_.params.clearing))
    return false;
  const auto known = p_.low.find(one.id);
  const std::uint32_t before = known == p_.low.end() ? 0 : known->second;
  if (before + 1 <= p_.params.clearing.after) {
    waits_for_time_ = true;
    return false;
  }
  if (one.held || one.unsaved_usd > 0) {
    waits_for_time_ |= p_.input.changes_with_time();
    return false;
  }
  return is_free_to_move(p_.view, p_.input, one);
}

/// In decreasing order of what the used resources cost: the score is what is used for a dollar.
std::vector<std::uint32_t> StratusRound::candidates() {
  std::vector<std::pair<double, std::uint32_t>> by_score;
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    if (!may_clear(i)) continue;
    const InstanceRow& row = p_.view.state.instance(p_.input.instances()[i].slot);
    const double score = scaler_.score(row.committed, row.type, row.price, MarketChoice::any);
    by_score.emplace_back(score, i);
  }
  std::sort(by_score.begin(), by_score.end());
  std::vector<std::uint32_t> candidates;
  candidates.reserve(by_score.size());
  for (const auto& [score, instance] : by_score) candidates.push_back(instance);
  return candidates;
}

std::vector<StratusRound::Waiting> StratusRound::residents_of(std::uint32_t instance) const {
  std::vector<Waiting> tasks;
  tasks.reserve(p_.input.instances()[instance].residents);
  for (std::uint32_t i : p_.input.residents(p_.input.instances()[instance])) {
    const RoundInput::Task& task = p_.input.tasks()[i];
    const TaskRow& row = p_.view.state.task(task.slot);
    const int priority = p_.input.jobs()[task.job].priority;
    tasks.push_back({i, priority, {row.shape, p_.view.state.markets(row), remaining_[i]}});
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const Waiting& a, const Waiting& b) {
    return a.item.remaining > b.item.remaining;
  });
  return tasks;
}

/// The memory of all of them leaves over one link.
Duration StratusRound::migration_time(std::span<const Waiting> tasks) const {
  double gib = 0;
  Duration longest{};
  for (const Waiting& waiting : tasks) {
    const TaskRow& row = row_of(waiting);
    gib += row.held.amount[Resource::memory];
    longest = std::max(longest, move_time(p_.view.state.spec(row).delays));
  }
  const double mbit_s = p_.params.clearing.bandwidth_mbit_s;
  return mbit_s > 0 ? time_to_send(gib, mbit_s) : longest;
}

void StratusRound::clear() {
  const std::vector<std::uint32_t> candidates = this->candidates();
  if (candidates.empty()) return;
  // Running tasks move to running instances, not to those on their way.
  for (std::uint32_t i = 0; i < packer_.size(); ++i) {
    if (!p_.input.instances()[i].ready) packer_.close(i);
  }
  for (std::uint32_t instance : candidates) {
    // Meanwhile it may have got tasks of another one.
    if (taken_[instance]) continue;
    const std::vector<Waiting> tasks = residents_of(instance);
    if (packer_.room(instance).remaining <= migration_time(tasks)) {
      waits_for_time_ = true;
      continue;
    }
    // Of a task that is kept apart from its peers the rooms that are full of these stay closed for
    // the next one of its job; its own room is one of them where it is full.
    const bool alone = tasks.size() == 1 && is_apart(tasks.front());
    if (!alone || closed_job_ != p_.input.tasks()[tasks.front().task].job) open_peers();
    const bool was_open = packer_.close(instance);
    const bool cleared = clear_onto_running(instance, tasks) || clear_onto_new(instance, tasks);
    if (!alone) open_peers();
    if (cleared) {
      if (!was_open) std::erase(closed_, instance);
    } else if (!alone) {
      packer_.open(instance);
    } else if (was_open) {
      packer_.open(instance);
      close_if_full(instance, rooms_of_job(tasks.front())[instance], tasks.front());
    }
  }
  open_peers();
}

bool StratusRound::clear_onto_running(std::uint32_t instance, std::span<const Waiting> tasks) {
  Undo undo;
  std::vector<Found> found;
  if (!try_rooms(tasks, undo, found)) {
    take_back(undo);
    return false;
  }
  const double saved_usd_h = p_.input.instances()[instance].price_usd_h;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    take(tasks[i], found[i].room);
    plan_.places.push_back({.task = row_of(tasks[i]).id,
                            .to = p_.input.instances()[found[i].room].id,
                            .cause = {CauseCode::partial_reconfiguration, saved_usd_h},
                            .group = next_group_});
  }
  moved_ += static_cast<std::uint32_t>(tasks.size());
  release_cleared(instance, saved_usd_h);
  return true;
}

/// A cheaper instance for all of them: the time until it is there is a part of the move.
bool StratusRound::clear_onto_new(std::uint32_t instance, std::span<const Waiting> tasks) {
  const bool one_choice = std::all_of(tasks.begin(), tasks.end(), [&](const Waiting& waiting) {
    return waiting.item.markets == tasks.front().item.markets;
  });
  if (!one_choice) return false;
  std::vector<Item> items;
  items.reserve(tasks.size());
  for (const Waiting& waiting : tasks) items.push_back(waiting.item);
  const auto found = scaler_.best_for_all(items);
  const RoundInput::Instance& from = p_.input.instances()[instance];
  if (!found || found->price.usd_h() >= from.price_usd_h) return false;
  const InstanceType& type = p_.view.catalog[found->type];
  const Duration takes = migration_time(tasks) + type.acquire + type.setup;
  if (packer_.room(instance).remaining <= takes) {
    waits_for_time_ = true;
    return false;
  }
  const double saved_usd_h = from.price_usd_h - found->price.usd_h();
  const Cause cause{CauseCode::partial_reconfiguration, saved_usd_h};
  const LaunchIndex launch{static_cast<std::uint32_t>(plan_.launches.size())};
  plan_.launches.push_back(
      {.type = found->type, .market = found->market, .cause = cause, .group = next_group_});
  for (const Waiting& waiting : tasks) {
    plan_.places.push_back(
        {.task = row_of(waiting).id, .to = launch, .cause = cause, .group = next_group_});
  }
  moved_ += static_cast<std::uint32_t>(tasks.size());
  release_cleared(instance, saved_usd_h);
  return true;
}

/// Nothing is placed any more on what is released: that is the blacklist.
void StratusRound::release_cleared(std::uint32_t instance, double saved_usd_h) {
  taken_[instance] = 1;
  ++cleared_;
  plan_.releases.push_back({p_.input.instances()[instance].id,
                            {CauseCode::partial_reconfiguration, saved_usd_h},
                            next_group_++});
}

}  // namespace muster::stratus
