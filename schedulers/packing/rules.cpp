#include "schedulers/packing/rules.hpp"

#include <map>
#include <optional>
#include <set>
#include <variant>

#include "model/feasible.hpp"

namespace muster {
namespace {

/// Why tasks wait that a fixed fleet has no instance for beside their peers. Reads a plan as it is
/// in the end.
class WaitingApart {
 public:
  WaitingApart(const ClusterView& view, Plan& plan) : view_(view), plan_(plan) {}

  void tell() {
    std::map<TaskId, std::size_t> lacking;  // refusals for want of room, which may be put better
    std::set<TaskId> told;
    for (const Place& place : plan_.places) take(place), told.insert(place.task);
    for (std::size_t i = 0; i < plan_.refusals.size(); ++i) {
      const Refuse& refuse = plan_.refusals[i];
      if (refuse.refusal.code == RefusalCode::awaiting_capacity) {
        lacking[refuse.task] = i;
      } else {
        told.insert(refuse.task);
      }
    }
    std::map<std::pair<Slot, std::uint32_t>, std::optional<Refusal>> known;
    std::vector<char> is_old(plan_.refusals.size(), 0);
    std::vector<Refuse> news;
    for (const TaskRow& task : view_.state.pending()) {
      const JobRow& job = view_.state.job(task.job);
      if (!keeps_apart(job) || told.contains(task.id)) continue;
      const auto [reason, is_new] = known.try_emplace({task.job, task.shape.value});
      if (is_new) reason->second = why_apart(task, job);
      if (!reason->second) continue;
      const auto of_plan = lacking.find(task.id);
      const bool is_better = reason->second->code == RefusalCode::distinct_instances;
      if (of_plan != lacking.end() && is_better) is_old[of_plan->second] = 1;
      if (of_plan != lacking.end() && !is_better) continue;
      if (is_news(task, *reason->second)) news.push_back({task.id, *reason->second});
    }
    std::size_t at = 0;
    std::erase_if(plan_.refusals, [&](const Refuse&) { return is_old[at++] != 0; });
    plan_.refusals.insert(plan_.refusals.end(), news.begin(), news.end());
  }

 private:
  /// Instances of the fleet that a task may be on, and those of them that have, with what they get
  /// by the plan, fewer other tasks of its job than may be there; whether one of these has room,
  /// and what the one lacks that comes nearest to it.
  struct Choice {
    std::uint32_t all = 0, below_bound = 0;
    bool has_room = false;
    std::optional<Refusal> lacks{};
  };

  /// Room changes with every task that comes or goes: only who was told nothing else hears of it.
  static bool is_news(const TaskRow& task, const Refusal& reason) {
    if (task.reason == reason) return false;
    return reason.code == RefusalCode::distinct_instances ||
           task.reason.code == RefusalCode::awaiting_round ||
           task.reason.code == RefusalCode::distinct_instances;
  }

  void take(const Place& place) {
    const auto* id = std::get_if<InstanceId>(&place.to);
    const InstanceRow* on = id != nullptr ? view_.state.find(*id) : nullptr;
    const TaskRow* task = view_.state.find(place.task);
    if (on == nullptr || task == nullptr) return;
    // One that is there, or is to come there anyway, is counted in the state.
    const bool is_new = task->at != on->slot && task->target != on->slot;
    if (is_new) peers_.add(on->slot, apart_of(view_.state.job(task->job)));
    const FamilyDemand* demand = view_.state.demand(*task, on->type);
    if (place.grant) {
      taken_[on->slot] += place.grant->amount;
    } else if (demand != nullptr) {
      taken_[on->slot] += demand->amount;
    }
  }

  std::optional<Refusal> why_apart(const TaskRow& task, const JobRow& job) const {
    if (job.terminal_outcome || !view_.may_start(job)) return std::nullopt;
    const Choice choice = choice_of(task);
    // With room it is the policy that lets the task wait, for reasons of its own.
    if (choice.all == 0 || choice.has_room) return std::nullopt;
    if (choice.below_bound > 0) return choice.lacks;
    return Refusal{RefusalKind::not_now,
                   RefusalCode::distinct_instances,
                   {},
                   static_cast<double>(job.size() - job.ended()),
                   static_cast<double>(choice.all) * job.job.most_an_instance};
  }

  Choice choice_of(const TaskRow& task) const {
    Choice choice;
    for (const InstanceRow& on : view_.state.instances()) {
      if (on.released || why_infeasible(view_.state, {&task, on.type, on.market})) continue;
      ++choice.all;
      const std::uint32_t planned = peers_.count(on.slot, apart_of(view_.state.job(task.job)));
      if (!may_share(view_.state, task, on, planned)) continue;
      ++choice.below_bound;
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

  const ClusterView& view_;
  Plan& plan_;
  PeerRooms peers_;                  ///< instances by slot, by the plan's places
  std::map<Slot, Resources> taken_;  ///< of each instance, by the plan
};

}  // namespace

void tell_who_is_kept_apart(const ClusterView& view, Plan& plan) {
  if (view.rents()) return;
  const auto waits_apart = [](const JobRow& job) { return keeps_apart(job) && job.pending > 0; };
  if (std::ranges::any_of(view.state.jobs(), waits_apart)) WaitingApart(view, plan).tell();
}

}  // namespace muster
