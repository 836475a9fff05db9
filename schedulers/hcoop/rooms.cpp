#include "schedulers/hcoop/rooms.hpp"

#include <algorithm>

#include "model/check.hpp"

namespace muster::hcoop {
namespace {

/// So many groups at most are told apart among the instances whose room grew.
constexpr std::size_t kGrownGroups = 8;

bool exceeds_somewhere(const Resources& a, const Resources& b) {
  return std::any_of(kAllResources.begin(), kAllResources.end(),
                     [&](Resource kind) { return a[kind] > b[kind]; });
}

}  // namespace

Rooms::Rooms(const Offers& offers) {
  for (std::vector<Index>& families : by_market_) families.resize(offers.families());
  for (Resource kind : kAllResources) {
    const double most = offers.reference()[kind];
    per_unit_[kind] = most > kResourceEpsilon ? 1 / most : 0;
  }
}

std::optional<Market> Rooms::market_of(InstanceId id) const {
  const auto found = rooms_.find(id);
  return found == rooms_.end() ? std::nullopt : std::optional(found->second.market);
}

Rooms::Index& Rooms::index_of_room(const Room& room) {
  return by_market_[index_of(room.market)][room.family];
}

Rooms::Key Rooms::key_of(const Room& room, InstanceId id) const {
  double remaining = 0;
  for (Resource kind : kAllResources) {
    remaining += std::max(0.0, room.free[kind]) * per_unit_[kind];
  }
  return {remaining, id};
}

/// The one place where the index of rooms changes.
void Rooms::list(Room& room, InstanceId id, bool listed, const Resources& free) {
  if (room.listed == listed && room.free == free) return;
  if (room.listed) index_of_room(room).erase(key_of(room, id));
  room.listed = listed;
  room.free = free;
  if (room.listed) index_of_room(room).insert(key_of(room, id), room.free);
}

void Rooms::follow(const ClusterState& state, const Offers& offers, InstanceId id, Instant now) {
  const InstanceRow* row = state.find(id);
  const auto found = rooms_.find(id);
  if (row == nullptr) {
    if (found == rooms_.end()) return;
    list(found->second, id, false, {});
    set_empty(found->second, id, std::nullopt);
    rooms_.erase(found);
    return;
  }
  const InstanceType& type = state.catalog()[row->type];
  Room& room = rooms_[id];
  if (found == rooms_.end()) {
    room.market = row->market;
    room.family = offers.family_of(row->type);
    room.capacity = type.capacity;
  }
  const bool there = !row->released && row->phase != InstancePhase::terminating;
  const bool listed = there && (!ready_only_ || row->phase == InstancePhase::ready);
  const Resources free = type.capacity - row->committed;
  const bool grew = listed && (!room.listed || exceeds_somewhere(free, room.free));
  list(room, id, listed, free);
  if (grew) note_growth(room, id);
  const bool idle = there && row->planned.empty() && row->occupants.empty();
  set_empty(room, id, idle ? std::optional(room.empty_since.value_or(now)) : std::nullopt);
}

void Rooms::set_empty(Room& room, InstanceId id, std::optional<Instant> since) {
  if (room.empty_since == since) return;
  if (room.empty_since) empty_.erase({*room.empty_since, id});
  room.empty_since = since;
  if (since) empty_.insert({*since, id});
}

std::optional<InstanceId> Rooms::best_fit(Market market, Shapes shapes,
                                          const Offers& offers) const {
  const Key* best = nullptr;
  const std::vector<Index>& families = by_market_[index_of(market)];
  for (std::uint32_t family = 0; family < families.size(); ++family) {
    if (families[family].empty()) continue;
    const std::optional<Resources> sum = offers.together(shapes, family);
    if (!sum) continue;
    const Index::Node* found = families[family].first(
        Key{}, [&](const Most& most) { return sum->fits_in(most.free); },
        [&](const Resources& free) { return sum->fits_in(free); });
    if (found != nullptr && (best == nullptr || found->key < *best)) best = &found->key;
  }
  return best == nullptr ? std::nullopt : std::optional(best->id);
}

void Rooms::set_free(InstanceId id, const Resources& free) {
  Room& room = rooms_.at(id);
  list(room, id, room.listed, free);
  update_growth(room, id);
}

void Rooms::take(InstanceId id, Shapes shapes, const Offers& offers) {
  const Room& room = rooms_.at(id);
  taken_.insert(id);
  set_free(id, room.free - offers.together(shapes, room.family).value());
}

void Rooms::give_back(InstanceId id, Shapes shapes, const Offers& offers) {
  const Room& room = rooms_.at(id);
  set_free(id, room.free + offers.together(shapes, room.family).value());
}

InstanceId Rooms::plan_launch(TypeId type, Market market, const Offers& offers) {
  const InstanceId id{kFirstPlanned + planned_++};
  Room& room = rooms_[id];
  room.market = market;
  room.family = offers.family_of(type);
  room.capacity = offers.catalog()[type].capacity;
  list(room, id, true, room.capacity);
  return id;
}

void Rooms::give_all_back(const ClusterState& state) {
  for (InstanceId id : taken_) {
    if (id.value >= kFirstPlanned) continue;
    Room& room = rooms_.at(id);
    list(room, id, room.listed, room.capacity - state.find(id)->committed);
  }
  for (; planned_ > 0; --planned_) {
    const InstanceId id{kFirstPlanned + planned_ - 1};
    list(rooms_.at(id), id, false, {});
    rooms_.erase(id);
  }
  taken_.clear();
}

void Rooms::forget_growth() {
  grown_ = {};
  grown_at_.clear();
}

RoomsImage Rooms::image() const {
  RoomsImage image;
  for (const auto& [since, id] : empty_) image.empty.emplace_back(id, since);
  image.grown = grown_;
  return image;
}

void Rooms::restore(const RoomsImage& image) {
  for (const auto& [id, since] : image.empty) {
    const auto found = rooms_.find(id);
    if (found != rooms_.end() && found->second.empty_since) set_empty(found->second, id, since);
  }
  forget_growth();
  grown_ = image.grown;
  for (const Grown& grown : grown_) {
    for (std::size_t i = 0; i < grown.ids.size(); ++i) grown_at_.emplace(grown.ids[i], i);
  }
}

void Rooms::note_growth(const Room& room, InstanceId id) {
  Grown& grown = grown_[index_of(room.market)];
  const auto [at, is_new] = grown_at_.emplace(id, grown.ids.size());
  if (is_new) grown.ids.push_back(id);
  if (grown.most.size() < std::min(grown.ids.size(), kGrownGroups)) grown.most.emplace_back();
  Resources& most = grown.most[at->second % kGrownGroups];
  most = most_of(most, room.free);
}

void Rooms::update_growth(const Room& room, InstanceId id) {
  const auto found = grown_at_.find(id);
  if (found == grown_at_.end()) return;
  Grown& grown = grown_[index_of(room.market)];
  const std::size_t group = found->second % kGrownGroups;
  Resources most;
  for (std::size_t i = group; i < grown.ids.size(); i += kGrownGroups) {
    const auto member = rooms_.find(grown.ids[i]);
    if (member != rooms_.end() && member->second.listed) most = most_of(most, member->second.free);
  }
  grown.most[group] = most;
}

bool Rooms::may_have_grown(Market market, const Resources& least) const {
  const std::vector<Resources>& most = grown_[index_of(market)].most;
  return std::any_of(most.begin(), most.end(),
                     [&](const Resources& free) { return least.fits_in(free); });
}

Resources Rooms::most_free(Market market) const {
  Resources most;
  for (const Index& family : by_market_[index_of(market)]) {
    if (!family.empty()) most = most_of(most, family.all().free);
  }
  return most;
}

}  // namespace muster::hcoop
