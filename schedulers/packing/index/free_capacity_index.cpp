#include "schedulers/packing/index/free_capacity_index.hpp"

#include <algorithm>

#include "model/check.hpp"

// Best fit by an ordered index a market and group of types: keys rise with what is left on an
// instance, so that the first node that holds the demand is the tightest one. Nodes carry the most
// that is free below them.

namespace muster {
namespace {

/// Groups of a market among which instances whose room grew are dealt out. Each has one bound: more
/// groups make the bounds tighter and update_freed() cheaper, fewer make may_have_grown() cheaper,
/// which runs at every node of a search through the queues.
constexpr std::size_t kGrownGroups = 8;

bool exceeds_somewhere(const Resources& a, const Resources& b) {
  return std::any_of(kAllResources.begin(), kAllResources.end(),
                     [&](Resource kind) { return a[kind] > b[kind]; });
}

}  // namespace

FreeCapacityIndex::FreeCapacityIndex(const FeasibleTypes& feasible_types)
    : grouping_(feasible_types.grouping()) {
  for (std::vector<Index>& groups : by_market_) groups.resize(feasible_types.groups());
  for (Resource kind : kAllResources) {
    const double most = feasible_types.reference()[kind];
    per_unit_[kind] = most > kResourceEpsilon ? 1 / most : 0;
  }
}

std::optional<Market> FreeCapacityIndex::market_of(InstanceId id) const {
  const auto found = free_capacity_.find(id);
  return found == free_capacity_.end() ? std::nullopt : std::optional(found->second.market);
}

FreeCapacityIndex::Index& FreeCapacityIndex::index_of_headroom(const Headroom& headroom) {
  return by_market_[index_of(headroom.market)][headroom.group];
}

FreeCapacityIndex::Key FreeCapacityIndex::key_of(const Headroom& headroom, InstanceId id) const {
  double remaining = 0;
  for (Resource kind : kAllResources) {
    remaining += std::max(0.0, headroom.free[kind]) * per_unit_[kind];
  }
  return {remaining, id};
}

/// The one place where the index of free capacity changes. The key is made of `free`: the entry
/// leaves under its old key before `free` is another.
void FreeCapacityIndex::list(Headroom& headroom, InstanceId id, bool listed,
                             const Resources& free) {
  if (headroom.listed == listed && headroom.free == free) return;
  if (headroom.listed) index_of_headroom(headroom).erase(key_of(headroom, id));
  headroom.listed = listed;
  headroom.free = free;
  if (headroom.listed) index_of_headroom(headroom).insert(key_of(headroom, id), headroom.free);
}

void FreeCapacityIndex::follow(const ClusterState& state, const FeasibleTypes& feasible_types,
                               InstanceId id, Instant now) {
  follow_groups(feasible_types);
  const InstanceRow* row = state.find(id);
  const auto found = free_capacity_.find(id);
  if (row == nullptr) {
    if (found == free_capacity_.end()) return;
    list(found->second, id, false, {});
    set_empty(found->second, id, std::nullopt);
    free_capacity_.erase(found);
    return;
  }
  const InstanceType& type = state.catalog()[row->type];
  Headroom& headroom = free_capacity_[id];
  if (found == free_capacity_.end()) {
    headroom.market = row->market;
    headroom.type = row->type;
    headroom.group = feasible_types.group_of(row->type);
    headroom.capacity = type.capacity;
  }
  const bool there = !row->released && row->phase != InstancePhase::terminating;
  const bool listed = there && (!ready_only_ || row->phase == InstancePhase::ready);
  const Resources free = type.capacity - row->committed;
  // Room that only shrank cannot make anything fit that did not fit before.
  const bool grew = listed && (!headroom.listed || exceeds_somewhere(free, headroom.free));
  list(headroom, id, listed, free);
  if (grew) record_freed(headroom, id);
  const bool idle = there && row->planned.empty() && row->occupants.empty();
  set_empty(headroom, id, idle ? std::optional(headroom.empty_since.value_or(now)) : std::nullopt);
}

void FreeCapacityIndex::set_empty(Headroom& headroom, InstanceId id, std::optional<Instant> since) {
  if (headroom.empty_since == since) return;
  if (headroom.empty_since) empty_.erase({*headroom.empty_since, id});
  headroom.empty_since = since;
  if (since) empty_.insert({*since, id});
}

std::optional<InstanceId> FreeCapacityIndex::best_fit(Market market, Shapes shapes,
                                                      const FeasibleTypes& feasible_types,
                                                      const RoomRule& may_join) const {
  follow_groups(feasible_types);
  begin_asking(may_join.jobs());
  std::optional<Key> best;
  std::vector<Index>& groups = by_market_[index_of(market)];
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    if (groups[group].empty()) continue;
    const std::optional<Resources> sum = feasible_types.together(shapes, group);
    if (!sum) continue;
    // In the order of what remains, so that the first that fits is the best fit.
    const auto first_from = [&](const Key& from) {
      return groups[group].open().first(
          from, [&](const Most& most) { return sum->fits_in(most.free); },
          [&](const Resources& free) { return sum->fits_in(free); });
    };
    const Index::Open::Node* found = first_from(Key{});
    while (found != nullptr && may_join && !may_join(found->key.id.value)) {
      const Key passed_by = found->key;
      groups[group].set_aside(passed_by, found->item);
      found = first_from(passed_by);
    }
    // Keys of different groups compare: the rest is in shares of the one reference.
    if (found != nullptr && (!best || found->key < *best)) best = found->key;
  }
  return best ? std::optional(best->id) : std::nullopt;
}

/// Items that other jobs' questions have set aside are looked at again.
void FreeCapacityIndex::begin_asking(const std::vector<Slot>& jobs) const {
  if (aside_for_ == jobs) return;
  for (std::vector<Index>& groups : by_market_) {
    for (Index& group : groups) group.open_aside();
  }
  aside_for_ = jobs;
}

/// Where constraints have come or gone types may be in other groups than those of the indexes.
void FreeCapacityIndex::follow_groups(const FeasibleTypes& feasible_types) const {
  if (grouping_ == feasible_types.grouping()) return;
  grouping_ = feasible_types.grouping();
  aside_for_.clear();
  for (std::vector<Index>& groups : by_market_) groups.assign(feasible_types.groups(), Index{});
  for (auto& [id, headroom] : free_capacity_) {
    headroom.group = feasible_types.group_of(headroom.type);
    if (!headroom.listed) continue;
    by_market_[index_of(headroom.market)][headroom.group].insert(key_of(headroom, id),
                                                                 headroom.free);
  }
}

void FreeCapacityIndex::set_free(InstanceId id, const Resources& free) {
  Headroom& headroom = free_capacity_.at(id);
  list(headroom, id, headroom.listed, free);
  update_freed(headroom, id);
}

void FreeCapacityIndex::take(InstanceId id, Shapes shapes, const FeasibleTypes& feasible_types) {
  follow_groups(feasible_types);
  const Headroom& headroom = free_capacity_.at(id);
  // Remembered so that give_all_back() costs O(taken), not O(instances).
  taken_.insert(id);
  set_free(id, headroom.free - feasible_types.together(shapes, headroom.group).value());
}

void FreeCapacityIndex::give_back(InstanceId id, Shapes shapes,
                                  const FeasibleTypes& feasible_types) {
  follow_groups(feasible_types);
  begin_asking({});  // it has a peer less
  const Headroom& headroom = free_capacity_.at(id);
  set_free(id, headroom.free + feasible_types.together(shapes, headroom.group).value());
}

void FreeCapacityIndex::close(InstanceId id) {
  // Less than nothing: a task that asks for nothing does not fit either.
  Resources none;
  for (Resource kind : kAllResources) none[kind] = -1;
  taken_.insert(id);
  set_free(id, none);
}

InstanceId FreeCapacityIndex::plan_launch(TypeId type, Market market,
                                          const FeasibleTypes& feasible_types) {
  follow_groups(feasible_types);
  // Numbers follow the launches of the plan: the caller has pushed this one just before.
  const InstanceId id{kFirstPlanned + planned_++};
  Headroom& headroom = free_capacity_[id];
  headroom.market = market;
  headroom.type = type;
  headroom.group = feasible_types.group_of(type);
  headroom.capacity = feasible_types.catalog()[type].capacity;
  list(headroom, id, true, headroom.capacity);
  return id;
}

// The plan's events take the room again, one by one, as far as the master grants them.
void FreeCapacityIndex::give_all_back(const ClusterState& state) {
  begin_asking({});
  for (InstanceId id : taken_) {
    if (id.value >= kFirstPlanned) continue;
    Headroom& headroom = free_capacity_.at(id);
    list(headroom, id, headroom.listed, headroom.capacity - state.find(id)->committed);
    if (headroom.listed && grown_at_.contains(id)) record_freed(headroom, id);
  }
  // Only the names of launches end here; their instances come under ids of their own.
  for (; planned_ > 0; --planned_) {
    const InstanceId id{kFirstPlanned + planned_ - 1};
    list(free_capacity_.at(id), id, false, {});
    free_capacity_.erase(id);
  }
  taken_.clear();
}

void FreeCapacityIndex::forget_freed() {
  grown_ = {};
  grown_at_.clear();
}

FreeCapacitySnapshot FreeCapacityIndex::snapshot() const {
  FreeCapacitySnapshot snapshot;
  for (const auto& [since, id] : empty_) snapshot.empty.emplace_back(id, since);
  snapshot.grown = grown_;
  return snapshot;
}

void FreeCapacityIndex::restore(const FreeCapacitySnapshot& snapshot) {
  for (const auto& [id, since] : snapshot.empty) {
    // An instance that is gone or has tasks by now has no time to take back.
    const auto found = free_capacity_.find(id);
    if (found != free_capacity_.end() && found->second.empty_since)
      set_empty(found->second, id, since);
  }
  forget_freed();
  grown_ = snapshot.grown;
  for (const Grown& grown : grown_) {
    for (std::size_t i = 0; i < grown.ids.size(); ++i) grown_at_.emplace(grown.ids[i], i);
  }
}

void FreeCapacityIndex::record_freed(const Headroom& headroom, InstanceId id) {
  Grown& grown = grown_[index_of(headroom.market)];
  const auto [at, is_new] = grown_at_.emplace(id, grown.ids.size());
  if (is_new) grown.ids.push_back(id);
  if (grown.most.size() < std::min(grown.ids.size(), kGrownGroups)) grown.most.emplace_back();
  // A bound may only rise here; update_freed() lowers it when a round takes room, and what it gives
  // back raises it again.
  Resources& most = grown.most[at->second % kGrownGroups];
  most = most_of(most, headroom.free);
}

void FreeCapacityIndex::update_freed(const Headroom& headroom, InstanceId id) {
  const auto found = grown_at_.find(id);
  if (found == grown_at_.end()) return;
  Grown& grown = grown_[index_of(headroom.market)];
  const std::size_t group = found->second % kGrownGroups;
  Resources most;
  // O(instances that grew / kGrownGroups).
  for (std::size_t i = group; i < grown.ids.size(); i += kGrownGroups) {
    const auto member = free_capacity_.find(grown.ids[i]);
    if (member != free_capacity_.end() && member->second.listed)
      most = most_of(most, member->second.free);
  }
  grown.most[group] = most;
}

bool FreeCapacityIndex::may_have_grown(Market market, const Resources& least) const {
  const std::vector<Resources>& most = grown_[index_of(market)].most;
  return std::any_of(most.begin(), most.end(),
                     [&](const Resources& free) { return least.fits_in(free); });
}

Resources FreeCapacityIndex::max_free(Market market) const {
  Resources most;
  for (const Index& group : by_market_[index_of(market)]) {
    if (!group.empty()) most = most_of(most, group.all().free);
  }
  return most;
}

}  // namespace muster
