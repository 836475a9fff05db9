#include "schedulers/distinct_instances.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/feasible.hpp"
#include "schedulers/packing/priority_order.hpp"
#include "schedulers/packing/types/cheapest_types.hpp"

// Plans in which no task has to be kept apart are looked through once and left as they are.

namespace muster {
namespace {

/// The instance, present or to be launched, that a place is on, as one number.
std::uint64_t number_of(const PlaceTarget& to) {
  const auto* id = std::get_if<InstanceId>(&to);
  return id != nullptr ? id->value << 1 : (std::uint64_t{std::get<LaunchIndex>(to).value} << 1) | 1;
}

/// Works through one plan.
class KeepApart {
 public:
  KeepApart(const ClusterView& view, Plan& plan) : view_(view), plan_(plan) {}

  void run() {
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) look_at(plan_.places[i], i);
    if (!together_.empty()) {
      if (view_.rents()) {
        rent_alone();
      } else {
        find_rooms();
      }
      order_by_priority(view_.state, plan_);
    }
    if (!view_.rents()) tell_who_waits();
  }

 private:
  /// The first place of a job on an instance stands; those after it, or beside a task that is
  /// there, do not.
  void look_at(const Place& place, std::uint32_t number) {
    const TaskRow* task = view_.state.find(place.task);
    if (task == nullptr || !view_.state.job(task->job).job.distinct_instances) return;
    const bool first = claim(*task, place.to);
    const auto* id = std::get_if<InstanceId>(&place.to);
    const InstanceRow* on = id != nullptr ? view_.state.find(*id) : nullptr;
    const bool beside = on != nullptr && has_peer(view_.state, *task, *on);
    // A move that cannot be is left to the master's check, which knows what else goes with it.
    if ((!first || beside) && task->phase == TaskPhase::pending) together_.push_back(number);
  }

  bool claim(const TaskRow& task, const PlaceTarget& to) {
    return claimed_.emplace(task.job, number_of(to)).second;
  }

  std::optional<Market> market_of(const PlaceTarget& to) const {
    if (const auto* launch = std::get_if<LaunchIndex>(&to)) {
      if (launch->value >= plan_.launches.size()) return std::nullopt;
      return plan_.launches[launch->value].market;
    }
    const InstanceRow* on = view_.state.find(std::get<InstanceId>(to));
    return on != nullptr ? std::optional(on->market) : std::nullopt;
  }

  /// The cheapest type of the market for the task alone; what the cloud does not have now comes
  /// last.
  std::optional<TypeId> cheapest(const TaskRow& task, Market market) {
    const auto [known, is_new] = cheapest_.try_emplace({task.shape.value, market});
    if (!is_new) return known->second;
    std::optional<std::tuple<bool, double>> best;
    for (std::uint32_t i = 0; i < view_.catalog.size(); ++i) {
      const TypeId type{i};
      const std::optional<Price> price = view_.price(type, market);
      const FamilyDemand* demand = view_.state.demand(task, type);
      if (!price || demand == nullptr || demand->speed <= 0) continue;
      if (!demand->amount.fits_in(view_.catalog[type].capacity)) continue;
      const std::tuple rank{view_.rests(type, market), price->usd_h() / demand->speed};
      if (best && rank >= *best) continue;
      best = rank;
      known->second = type;
    }
    return known->second;
  }

  void rent_alone() {
    const auto planned = static_cast<std::uint32_t>(plan_.launches.size());
    std::vector<char> has_lost(planned, 0);
    for (const std::uint32_t number : together_) {
      Place& place = plan_.places[number];
      const TaskRow& task = *view_.state.find(place.task);
      const std::optional<Market> market = market_of(place.to);
      const auto type = market ? cheapest(task, *market) : std::nullopt;
      // What is left as it is gets its refusal from the master's check.
      if (!type) continue;
      if (const auto* from = std::get_if<LaunchIndex>(&place.to)) has_lost[from->value] = 1;
      place.cause = {CauseCode::alone, 0};
      place.to = LaunchIndex{static_cast<std::uint32_t>(plan_.launches.size())};
      place.grant.reset();
      plan_.launches.push_back(
          {.type = *type, .market = *market, .cause = place.cause, .group = place.group});
    }
    for (std::uint32_t i = 0; i < planned; ++i) {
      if (has_lost[i] != 0) return use_smaller(has_lost);
    }
  }

  /// Launches that were meant for more tasks are of the cheapest type for those that are left.
  void use_smaller(const std::vector<char>& has_lost) {
    Plan part;
    std::vector<std::uint32_t> launches, places;  // of the plan, by their number in the part
    std::vector<std::uint32_t> in_part(has_lost.size(), 0);
    for (std::uint32_t i = 0; i < has_lost.size(); ++i) {
      if (has_lost[i] == 0) continue;
      in_part[i] = static_cast<std::uint32_t>(launches.size());
      launches.push_back(i);
      part.launches.push_back(plan_.launches[i]);
    }
    for (std::uint32_t i = 0; i < plan_.places.size(); ++i) {
      const auto* launch = std::get_if<LaunchIndex>(&plan_.places[i].to);
      if (launch == nullptr || launch->value >= has_lost.size()) continue;
      if (has_lost[launch->value] == 0) continue;
      places.push_back(i);
      part.places.push_back(plan_.places[i]);
      part.places.back().to = LaunchIndex{in_part[launch->value]};
    }
    use_cheapest_types(view_, part);
    for (std::size_t i = 0; i < launches.size(); ++i)
      plan_.launches[launches[i]] = part.launches[i];
    for (std::size_t i = 0; i < places.size(); ++i) {
      plan_.places[places[i]].cause = part.places[i].cause;
    }
  }

  /// What the plan's places take of each instance.
  std::map<Slot, Resources> taken_by_plan() const {
    std::map<Slot, Resources> taken;
    for (const Place& place : plan_.places) {
      const auto* id = std::get_if<InstanceId>(&place.to);
      const InstanceRow* on = id != nullptr ? view_.state.find(*id) : nullptr;
      const TaskRow* task = view_.state.find(place.task);
      if (on != nullptr && task != nullptr) taken[on->slot] += amount_of(place, *task, *on);
    }
    return taken;
  }

  /// The tasks of a job that are alike look through the instances once, together: where one found
  /// no room, or another of the job is, the next one need not look.
  void find_rooms() {
    std::map<Slot, Resources> taken = taken_by_plan();
    std::vector<const InstanceRow*> all;
    for (const InstanceRow& row : view_.state.instances()) all.push_back(&row);
    // On the market that the policy chose: one that thinks of one market does not look at others.
    std::map<std::tuple<Slot, std::uint32_t, Market>, std::size_t> looked_at;
    for (const std::uint32_t number : together_) {
      Place& place = plan_.places[number];
      const TaskRow& task = *view_.state.find(place.task);
      const std::optional<Market> market = market_of(place.to);
      if (!market) continue;
      std::size_t& next = looked_at[{task.job, task.shape.value, *market}];
      while (next < all.size() &&
             !(all[next]->market == *market && may_go(task, *all[next], taken))) {
        ++next;
      }
      if (next == all.size()) continue;
      const InstanceRow& to = *all[next++];
      if (const auto* id = std::get_if<InstanceId>(&place.to)) {
        if (const InstanceRow* from = view_.state.find(*id)) {
          taken[from->slot] -= amount_of(place, task, *from);
        }
      }
      place.to = to.id;
      place.grant.reset();
      claim(task, place.to);
      taken[to.slot] += amount_of(place, task, to);
    }
  }

  /// Instances of the fleet that a task may be on, and those of them that have, or get by the plan,
  /// no other task of its job; whether one of these has room, and what the one lacks that comes
  /// nearest to it.
  struct Choice {
    std::uint32_t all = 0, without_peer = 0;
    bool has_room = false;
    std::optional<Refusal> lacks{};
  };

  /// Some policies say nothing of a task without a place. Where each instance for it has another
  /// task of its job, that is the reason, with how many of the job want one at a time and how many
  /// there are; where those without one have no room, what they lack.
  void tell_who_waits() {
    const bool some_wait = std::ranges::any_of(view_.state.jobs(), [](const JobRow& job) {
      return job.job.distinct_instances && job.pending > 0;
    });
    if (!some_wait) return;
    std::set<TaskId> told;
    for (const Place& place : plan_.places) told.insert(place.task);
    for (const Refuse& refusal : plan_.refusals) told.insert(refusal.task);
    taken_ = taken_by_plan();
    std::map<std::pair<Slot, std::uint32_t>, std::optional<Refusal>> known;
    for (const TaskRow& task : view_.state.pending()) {
      const JobRow& job = view_.state.job(task.job);
      if (!job.job.distinct_instances || told.contains(task.id)) continue;
      const auto [reason, is_new] = known.try_emplace({task.job, task.shape.value});
      if (is_new) reason->second = why_apart(task, job);
      if (!reason->second || task.reason == *reason->second) continue;
      // Room changes with every task that comes or goes: only who was told nothing else hears of
      // it.
      const RefusalCode told_last = task.reason.code;
      const bool is_news = reason->second->code == RefusalCode::distinct_instances ||
                           told_last == RefusalCode::awaiting_round ||
                           told_last == RefusalCode::distinct_instances;
      if (is_news) plan_.refusals.push_back({task.id, *reason->second});
    }
  }

  std::optional<Refusal> why_apart(const TaskRow& task, const JobRow& job) const {
    if (job.terminal_outcome || !view_.may_start(job)) return std::nullopt;
    const Choice choice = choice_of(task);
    // With room it is the policy that lets the task wait, for reasons of its own.
    if (choice.all == 0 || choice.has_room) return std::nullopt;
    if (choice.without_peer > 0) return choice.lacks;
    return Refusal{RefusalKind::not_now,
                   RefusalCode::distinct_instances,
                   {},
                   static_cast<double>(job.size() - job.ended()),
                   static_cast<double>(choice.all)};
  }

  Choice choice_of(const TaskRow& task) const {
    Choice choice;
    for (const InstanceRow& on : view_.state.instances()) {
      if (on.released || why_infeasible(view_.state, {&task, on.type, on.market})) continue;
      ++choice.all;
      const bool taken = claimed_.contains({task.job, number_of(on.id)});
      if (taken || has_peer(view_.state, task, on)) continue;
      ++choice.without_peer;
      look_for_room(task, on, choice);
    }
    return choice;
  }

  void look_for_room(const TaskRow& task, const InstanceRow& on, Choice& choice) const {
    const auto there = taken_.find(on.slot);
    const Resources others = there != taken_.end() ? there->second : Resources{};
    const Resources left = view_.catalog[on.type].capacity - on.committed - others;
    const Resources& asked = view_.state.demand(task, on.type)->amount;
    const auto binding = asked.first_exceeding(left);
    choice.has_room |= !binding;
    if (!binding) return;
    const double available = std::max(0.0, left[*binding]);
    const std::optional<Refusal>& nearest = choice.lacks;
    if (nearest && nearest->asked - nearest->available <= asked[*binding] - available) return;
    choice.lacks = Refusal{RefusalKind::not_now, RefusalCode::awaiting_capacity, binding,
                           asked[*binding], available};
  }

  Resources amount_of(const Place& place, const TaskRow& task, const InstanceRow& on) const {
    if (place.grant) return place.grant->amount;
    const FamilyDemand* demand = view_.state.demand(task, on.type);
    return demand != nullptr ? demand->amount : Resources{};
  }

  bool may_go(const TaskRow& task, const InstanceRow& on,
              const std::map<Slot, Resources>& taken) const {
    if (on.released || on.phase != InstancePhase::ready || view_.is_closed(on)) return false;
    if (claimed_.contains({task.job, number_of(on.id)})) return false;
    if (why_infeasible(view_.state, {&task, on.type, on.market})) return false;
    if (has_peer(view_.state, task, on)) return false;
    const FamilyDemand* demand = view_.state.demand(task, on.type);
    const auto there = taken.find(on.slot);
    const Resources others = there != taken.end() ? there->second : Resources{};
    return (on.committed + others + demand->amount).fits_in(view_.catalog[on.type].capacity);
  }

  const ClusterView& view_;
  Plan& plan_;
  std::set<std::pair<Slot, std::uint64_t>>
      claimed_;                          ///< jobs, and instances that have a task of it
  std::vector<std::uint32_t> together_;  ///< places that cannot be
  std::map<Slot, Resources> taken_;      ///< of each instance by the plan as it is in the end
  std::map<std::pair<std::uint32_t, Market>, std::optional<TypeId>> cheapest_;  ///< by shape
};

}  // namespace

Plan DistinctInstances::decide(const ClusterView& view, Rng& rng, Budget& budget) {
  Plan plan = policy_->decide(view, rng, budget);
  KeepApart(view, plan).run();
  return plan;
}

}  // namespace muster
