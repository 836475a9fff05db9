#include "masters/instances/instance_lives.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace muster {

struct InstanceLives::Fold {
  InstanceLives& lives;
  const ClusterState& state;
  Instant at;

  InstanceHistory* life(InstanceId id) const {
    const auto found = lives.lives_.find(id);
    return found == lives.lives_.end() ? nullptr : &found->second;
  }
  void operator()(const LaunchRequested& e) const {
    InstanceHistory fresh;
    fresh.type = e.type;
    fresh.market = e.market;
    fresh.zone = e.zone;
    fresh.price = e.price;
    fresh.requested_at = at;
    fresh.rented_for = e.cause.code;
    lives.lives_.insert_or_assign(e.instance, std::move(fresh));
  }
  void operator()(const InstanceUp& e) const {
    if (InstanceHistory* known = life(e.instance)) known->up_at = e.billed_from.value_or(at);
  }
  void operator()(const InstanceReady& e) const {
    if (InstanceHistory* known = life(e.instance)) known->ready_at = at;
  }
  void operator()(const ReleaseDecided& e) const {
    InstanceHistory* known = life(e.instance);
    if (known == nullptr) return;
    if (!known->released_at) known->released_at = at;
    known->released_for = e.cause.code;
  }
  void operator()(const LaunchRefused& e) const { end(e.instance, e.reason); }
  void operator()(const InstanceGone& e) const {
    const InstanceRow* row = state.find(e.instance);
    InstanceHistory* known = life(e.instance);
    if (row == nullptr || known == nullptr) return;
    for (const Slot slot : row->occupants) leave(state.task(slot), AttemptEnd::lost);
    known->price = row->price;
    if (known->up_at) {
      known->bill =
          charge(row->earlier_prices, row->price, *known->up_at, e.billed_until.value_or(at));
    }
    end(e.instance, e.reason);
  }
  void operator()(const StartIssued& e) const {
    InstanceHistory* known = life(e.instance);
    const TaskRow* task = state.find(e.task);
    if (known == nullptr || task == nullptr) return;
    begin_visit(*known, visit_of(*task, e.attempt), lives.most_visits_);
  }
  void operator()(const TaskCheckpointed& e) const {
    const TaskRow* task = state.find(e.task);
    if (task == nullptr) return;
    const bool ends = state.job(task->job).terminal_outcome.has_value();
    leave(*task, ends ? AttemptEnd::stopped : AttemptEnd::moved);
  }
  void operator()(const TaskFinished& e) const {
    if (const TaskRow* task = state.find(e.task)) leave(*task, AttemptEnd::finished);
  }
  void operator()(const TaskFailed& e) const {
    const TaskRow* task = state.find(e.task);
    if (task == nullptr) return;
    leave(*task, e.kind == FailureKind::lost ? AttemptEnd::lost : AttemptEnd::failed);
  }
  template <class Other>
  void operator()(const Other&) const {}

  VisitHistory visit_of(const TaskRow& task, Attempt attempt) const {
    return {state.job(task.job).job.id, state.spec(task).array_index, attempt, at, {}, {}};
  }
  /// The task leaves the instance that it holds.
  void leave(const TaskRow& task, AttemptEnd how) const {
    if (task.at == kNoSlot) return;
    InstanceHistory* known = life(state.instance(task.at).id);
    if (known == nullptr) return;
    VisitHistory ended = visit_of(task, task.attempt);
    ended.ended_at = at;
    ended.end = how;
    end_visit(*known, ended);
  }
  void end(InstanceId id, CloudReason reason) const {
    InstanceHistory* known = life(id);
    if (known == nullptr) return;
    known->ended_at = at;
    known->gone = reason;
    lives.put_gone(id, *known);
  }
};

void InstanceLives::absorb(const Event& event, const ClusterState& before) {
  std::visit(Fold{*this, before, event.at}, event.body);
}

const InstanceHistory* InstanceLives::find(InstanceId id) const {
  const auto found = lives_.find(id);
  return found == lives_.end() ? nullptr : &found->second;
}

void InstanceLives::put_gone(InstanceId id, const InstanceHistory& life) {
  std::deque<InstanceId>& ended = life.up_at ? gone_ : never_up_;
  const std::uint32_t most = life.up_at ? most_gone_ : most_never_up_;
  ended.push_back(id);
  while (ended.size() > most) {
    lives_.erase(ended.front());
    ended.pop_front();
  }
}

void InstanceLives::restore(std::map<InstanceId, InstanceHistory>&& book,
                            const ClusterState& state) {
  lives_ = std::move(book);
  gone_.clear();
  never_up_.clear();
  std::vector<InstanceId> ended;
  for (const auto& [id, life] : lives_) {
    if (life.ended_at) ended.push_back(id);
  }
  std::ranges::stable_sort(ended, {}, [&](InstanceId id) { return *lives_.at(id).ended_at; });
  for (const InstanceId id : ended) put_gone(id, lives_.at(id));
  for (const InstanceRow& row : state.instances()) {
    const auto [entry, is_new] = lives_.try_emplace(row.id);
    if (!is_new) continue;
    InstanceHistory& life = entry->second;
    life.type = row.type;
    life.market = row.market;
    life.zone = row.zone;
    life.price = row.price;
    life.requested_at = row.requested_at;
    if (row.up) life.up_at = row.up_at;
  }
}

}  // namespace muster
