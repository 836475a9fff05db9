// The part of the plan check that keeps instances from being overfilled.

#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>

#include "masters/plan/plan_parts.hpp"

namespace muster::plan_check {
namespace {

constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

/// Capacity of an instance, present or to be launched, while a plan is worked through.
struct Capacity {
  TypeId type;
  Resources base;           ///< committed there, less what the plan takes away
  Resources filled;         ///< likewise with the places seen so far
  std::uint32_t first = 0;  ///< its places: a part of CapacityCheck::order_
  std::uint32_t count = 0;
  std::uint32_t standing = 0;  ///< position in that part before which all places are refused
};

/// The rule is that of a loop which starts over after each refusal: refuse the first place, in the
/// order of the plan, that does not fit after those before it; take room back where the refused
/// task stays; begin anew. Refusing a task that stays nowhere changes nothing for the places before
/// it, so one scan does until a move is refused. From then on each room knows its first place that
/// does not fit, found in a tree of sums, and the smallest of these is the next to be refused.
class CapacityCheck {
 public:
  CapacityCheck(const Plan& plan, const ClusterState& state, const Seats& seats,
                CheckedPlan& result)
      : plan_(plan), state_(state), seats_(seats), result_(result) {}

  void run() {
    find_capacities();
    take_away_moved();
    if (!scan()) acknowledge();
  }

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  ///< a place, and its room

  std::uint32_t capacity_of(const PlaceTarget& to) {
    const auto* id = std::get_if<InstanceId>(&to);
    const std::uint64_t key =
        id != nullptr ? id->value << 1 : (std::uint64_t{std::get<LaunchIndex>(to).value} << 1) | 1;
    const auto [entry, is_new] = numbers_.try_emplace(key, capacities_.size());
    if (!is_new) return entry->second;
    Capacity& target = capacities_.emplace_back();
    if (id != nullptr) {
      const InstanceRow& row = *state_.find(*id);
      target.type = row.type;
      target.base = row.committed;
    } else {
      target.type = plan_.launches[std::get<LaunchIndex>(to).value].type;
    }
    return entry->second;
  }

  void find_capacities() {
    capacity_of_place_.assign(plan_.places.size(), kNoPlace);
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      capacity_of_place_[i] = capacity_of(plan_.places[i].to);
      ++capacities_[capacity_of_place_[i]].count;
    }
  }

  void take_away(const TaskRow& task) {
    if (task.target == kNoSlot) return;
    Capacity& target = capacities_[capacity_of(PlaceTarget{state_.instance(task.target).id})];
    target.base -= task.planned.amount;
  }
  void take_away_moved() {
    for (std::size_t i = 0; i < plan_.places.size(); ++i) {
      if (!result_.places[i]) take_away(*seats_[i].task);
    }
    for (std::size_t i = 0; i < plan_.stops.size(); ++i) {
      if (!result_.stops[i]) take_away(*state_.find(plan_.stops[i].task));
    }
  }

  /// Refuses the place if it does not fit into a room that is filled so far.
  bool refuse_if_over(std::uint32_t place, const Capacity& target, const Resources& filled) {
    const Resources& asked = seats_[place].grant.amount;
    const Resources& capacity = state_.catalog()[target.type].capacity;
    const auto binding = (filled + asked).first_exceeding(capacity);
    if (!binding) return false;
    result_.places[place] = Refusal{RefusalKind::not_now, RefusalCode::over_capacity, binding,
                                    asked[*binding], capacity[*binding] - filled[*binding]};
    return true;
  }

  /// True when it came to the end: no refusal took room from places before it.
  bool scan() {
    for (Capacity& target : capacities_) target.filled = target.base;
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      if (result_.places[i]) continue;
      Capacity& target = capacities_[capacity_of_place_[i]];
      if (!refuse_if_over(i, target, target.filled)) {
        target.filled += seats_[i].grant.amount;
        continue;
      }
      const TaskRow& task = *seats_[i].task;
      if (task.target == kNoSlot) continue;
      Capacity& stays = capacities_[capacity_of(PlaceTarget{state_.instance(task.target).id})];
      stays.base += task.planned.amount;
      stays.filled = stays.base;
      if (stays.count > 0) return false;
    }
    return true;
  }

  void acknowledge() {
    build_trees();
    for (std::uint32_t place = 0; place < capacities_.size(); ++place) look_at(place);
    while (!over_.empty()) {
      const auto [place, number] = over_.top();
      over_.pop();
      const auto [now_first, filled] = first_over(capacities_[number]);
      if (now_first != place) continue;  // the room has changed and was looked at again
      // Sums in another order may differ in their last digits: the place goes whatever they say.
      if (!refuse_if_over(place, capacities_[number], filled)) {
        result_.places[place] =
            Refusal{RefusalKind::not_now, RefusalCode::over_capacity, Resource::gpu, 0, 0};
      }
      add(number, position_[place], Resources{} - seats_[place].grant.amount);
      const TaskRow& task = *seats_[place].task;
      if (task.target != kNoSlot) {
        const std::uint32_t stays = capacity_of(PlaceTarget{state_.instance(task.target).id});
        capacities_[stays].base += task.planned.amount;
        if (stays != number) look_at(stays);
      }
      look_at(number);
    }
  }

  void build_trees() {
    std::uint32_t first = 0;
    for (Capacity& target : capacities_) {
      target.first = first;
      first += target.count;
      target.count = 0;
    }
    order_.resize(first);
    sums_.assign(first, {});
    position_.assign(plan_.places.size(), 0);
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      if (capacity_of_place_[i] == kNoPlace) continue;
      Capacity& target = capacities_[capacity_of_place_[i]];
      position_[i] = target.count;
      order_[target.first + target.count++] = i;
    }
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      if (capacity_of_place_[i] == kNoPlace || result_.places[i]) continue;
      add(capacity_of_place_[i], position_[i], seats_[i].grant.amount);
    }
  }

  /// Adds to the room's tree (Fenwick): each of its sums ends at its own position.
  void add(std::uint32_t number, std::uint32_t position, const Resources& amount) {
    const Capacity& target = capacities_[number];
    for (std::uint32_t at = position + 1; at <= target.count; at += at & (~at + 1)) {
      sums_[target.first + at - 1] += amount;
    }
  }

  /// The room's first place that does not fit, and what is filled before it. Demands are never
  /// negative: a set of places that does not fit does not fit with a later place either.
  std::pair<std::uint32_t, Resources> first_over(Capacity& target) {
    const Resources& capacity = state_.catalog()[target.type].capacity;
    Resources filled = target.base;
    std::uint32_t at = 0;
    for (std::uint32_t step = std::bit_floor(target.count); step > 0; step /= 2) {
      if (at + step > target.count) continue;
      const Resources up_to = filled + sums_[target.first + at + step - 1];
      if (!up_to.fits_in(capacity)) continue;
      at += step;
      filled = up_to;
    }
    // Places that are refused already ask for nothing; in a room that is overfull without any
    // place the first one that is left has to go.
    while (target.standing < target.count &&
           result_.places[order_[target.first + target.standing]]) {
      ++target.standing;
    }
    at = std::max(at, target.standing);
    while (at < target.count && result_.places[order_[target.first + at]]) ++at;
    return {at < target.count ? order_[target.first + at] : kNoPlace, filled};
  }

  void look_at(std::uint32_t number) {
    const std::uint32_t place = first_over(capacities_[number]).first;
    if (place != kNoPlace) over_.emplace(place, number);
  }

  const Plan& plan_;
  const ClusterState& state_;
  const Seats& seats_;
  CheckedPlan& result_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // looked up only, never iterated
  std::vector<Capacity> capacities_;
  std::vector<std::uint32_t> capacity_of_place_;
  std::vector<std::uint32_t> order_;     ///< the places of one room after those of another
  std::vector<std::uint32_t> position_;  ///< of a place among those of its room
  std::vector<Resources> sums_;          ///< a tree a room, laid out as order_
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> over_;
};

}  // namespace

void settle_capacity(const Plan& plan, const ClusterState& state, const Seats& seats,
                     CheckedPlan& result) {
  CapacityCheck(plan, state, seats, result).run();
}

}  // namespace muster::plan_check
