#include "model/ledger.hpp"

#include <algorithm>
#include <utility>
#include <variant>

// Books every instance-second once, at the events that change for whom it is. All sums are whole
// numbers, so that parts add up to the bill to the last unit.

namespace muster {
namespace {

double share_of(const Grant& held, const InstanceRow& on, const ClusterState& state) {
  return held.amount.dominant_share(state.catalog()[on.type].capacity);
}

/// The instance whose bill the event changes, if any: its occupants, its phase or its being wanted.
struct AffectedInstance {
  const ClusterState& state;

  const InstanceRow* of_task(TaskId id) const {
    const TaskRow* task = state.find(id);
    return task != nullptr && task->at != kNoSlot ? &state.instance(task->at) : nullptr;
  }
  const InstanceRow* operator()(const InstanceReady& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const ReleaseDecided& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const TerminateIssued& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const InstanceGone& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const StartIssued& e) const { return state.find(e.instance); }
  const InstanceRow* operator()(const TaskCheckpointed& e) const { return of_task(e.task); }
  const InstanceRow* operator()(const TaskFinished& e) const { return of_task(e.task); }
  const InstanceRow* operator()(const TaskFailed& e) const { return of_task(e.task); }
  template <class Other>
  const InstanceRow* operator()(const Other&) const {
    return nullptr;
  }
};

/// Shares may add up to more than the instance: one is dominant in processors, another in memory.
template <class Groups>
double scale_of(const Groups& groups) {
  double shares = 0;
  for (const auto& group : groups) shares += group.share * group.tasks;
  return shares > 1 ? 1 / shares : 1;
}

}  // namespace

void Ledger::observe(const Event& event, const ClusterState& before) {
  if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
    const InstanceRow* row = before.find(up->instance);
    // An instance that the state does not know has no bill.
    if (row != nullptr) come_up(*row, *up, event.at);
    return;
  }
  if (const auto* changed = std::get_if<OfferingChanged>(&event.body)) {
    return reprice(changed->change, before);
  }
  if (const auto* over = std::get_if<JobFinished>(&event.body)) {
    if (const JobRow* job = before.find(over->job)) close_job(job->slot);
    return;
  }
  // `before` is the state without the event: the time until the event is booked to those who were
  // there.
  settle_before(event, before);
  follow_holders(event, before);
}

/// Books the time until the event to those who were there.
void Ledger::settle_before(const Event& event, const ClusterState& before) {
  const InstanceRow* row = std::visit(AffectedInstance{before}, event.body);
  if (row == nullptr || !row->up) return;
  // Billing ends at the cloud's time, which may be before this is heard; later bookings are given
  // back.
  const auto* gone = std::get_if<InstanceGone>(&event.body);
  const Instant until =
      gone == nullptr ? event.at
                      : gone->billed_until.value_or(event.at) - settled_until_.at(row->id).ahead;
  settle(*row, before, until);
  if (gone == nullptr) return;
  give_back(*row, until);
  const auto settled = settled_until_.find(row->id);
  up_rate_ -= row->price.nano_usd_h();
  // Takes the instance out of the sums from which accrued() is computed.
  settled_at_rates_ -= Money::of(row->price, settled->second.until.time_since_epoch()).units();
  settled_until_.erase(settled);
}

/// Follows the tasks that hold each instance from the event on.
void Ledger::follow_holders(const Event& event, const ClusterState& before) {
  if (const auto* start = std::get_if<StartIssued>(&event.body)) {
    const TaskRow* task = before.find(start->task);
    const InstanceRow* on = before.find(start->instance);
    if (task == nullptr || on == nullptr) return;
    const FamilyDemand* demand = before.demand(*task, on->type);
    const Grant asked = demand == nullptr ? Grant{} : Grant::of(demand->amount);
    seat(*task, *on, share_of(start->grant.value_or(asked), *on, before));
  } else if (const auto* left = std::get_if<TaskCheckpointed>(&event.body)) {
    unseat(left->task);
  } else if (const auto* finished = std::get_if<TaskFinished>(&event.body)) {
    unseat(finished->task);
  } else if (const auto* failed = std::get_if<TaskFailed>(&event.body)) {
    unseat(failed->task);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    const InstanceRow* row = before.find(gone->instance);
    if (row == nullptr) return;
    for (Slot slot : row->occupants) unseat(before.task(slot).id);
  }
}

/// The place of the group, or where it would be.
template <class Groups>
auto Ledger::group_at(Groups& groups, Slot job, double share) {
  return std::lower_bound(groups.begin(), groups.end(), std::tuple(job, share),
                          [](const ShareGroup& group, const auto& wanted) {
                            return std::tuple(group.job, group.share) < wanted;
                          });
}

void Ledger::seat(const TaskRow& task, const InstanceRow& on, double share) {
  std::vector<ShareGroup>& groups = groups_[on.id];
  auto group = group_at(groups, task.job, share);
  if (group == groups.end() || group->job != task.job || group->share != share) {
    group = groups.insert(group, ShareGroup{task.job, share});
  }
  ++group->tasks;
  seats_[task.id] = {on.id, task.job, share, group->each};
}

void Ledger::unseat(TaskId id) {
  const auto found = seats_.find(id);
  if (found == seats_.end()) return;
  by_task_[id] += running(id);
  const Seat& seat = found->second;
  const auto groups = groups_.find(seat.on);
  const auto group = group_at(groups->second, seat.job, seat.share);
  if (--group->tasks == 0) groups->second.erase(group);
  if (groups->second.empty()) groups_.erase(groups);
  seats_.erase(found);
}

/// Sum that was booked to the task since it came to its instance.
Money Ledger::running(TaskId id) const {
  const auto found = seats_.find(id);
  if (found == seats_.end()) return {};
  const Seat& seat = found->second;
  return group_at(groups_.at(seat.on), seat.job, seat.share)->each - seat.joined;
}

/// Its price may have changed before it was heard to be up.
void Ledger::come_up(const InstanceRow& row, const InstanceUp& up, Instant heard) {
  if (settled_until_.contains(row.id)) return;
  Instant from = up.billed_from.value_or(heard);
  if (!row.earlier_prices.empty()) {
    const Instant since = std::max(from, row.earlier_prices.back().until);
    const Money earlier = charge(row.earlier_prices, row.price, from, since);
    total_ += earlier;
    book_idle(row.released ? OverheadKind::drain : OverheadKind::boot, earlier);
    from = since;
  }
  begin_bill(row, {from - up.ahead, up.ahead});
}

/// From the change's instant on the new price counts. Sums booked at the old price since then,
/// because the change was heard late, are corrected at the cost of the present occupants.
void Ledger::reprice(const OfferingChange& change, const ClusterState& before) {
  if (!before.is_news(change)) return;
  for (Slot slot : before.repriced_by(change)) {
    const InstanceRow& row = before.instance(slot);
    const auto bill = settled_until_.find(row.id);
    if (bill == settled_until_.end()) continue;
    const Instant from =
        std::max(start_of_price(row.earlier_prices, change.at), row.up_at) - bill->second.ahead;
    settle(row, before, from);
    const Instant until = bill->second.until;
    const Price more =
        Price::from_nano_usd_h(change.offering.price.nano_usd_h() - row.price.nano_usd_h());
    up_rate_ += more.nano_usd_h();
    settled_at_rates_ += Money::of(more, until.time_since_epoch()).units();
    if (from >= until) continue;
    const Money late = Money::of(more, until - from);
    total_ += late;
    share_out(row, before, late);
  }
}

void Ledger::begin_bill(const InstanceRow& row, const SettledBill& bill) {
  if (!settled_until_.emplace(row.id, bill).second) return;
  up_rate_ += row.price.nano_usd_h();
  settled_at_rates_ += Money::of(row.price, bill.until.time_since_epoch()).units();
  newest_settled_ = std::max(newest_settled_, bill.until);
}

// All changes of a bill's time go through here, so that the sums of accrued() follow.
void Ledger::set_settled(const InstanceRow& row, Instant& settled, Instant until) {
  settled_at_rates_ += Money::of(row.price, until - settled).units();
  settled = until;
  newest_settled_ = std::max(newest_settled_, until);
}

/// Gives back sums that were booked for the time after the end of the bill, which the master heard
/// of late.
void Ledger::give_back(const InstanceRow& row, Instant until) {
  const Instant booked = settled_until_.at(row.id).until;
  if (booked <= until) return;
  const Duration ahead = settled_until_.at(row.id).ahead;
  const Money surplus = charge(row.earlier_prices, row.price, until + ahead, booked + ahead);
  total_ -= surplus;
  idle_[static_cast<std::size_t>(OverheadKind::drain)] -= surplus;
}

void Ledger::settle(const InstanceRow& row, const ClusterState& state, Instant now) {
  Instant& since = settled_until_.at(row.id).until;
  if (now <= since) return;  // the cloud's clock may be ahead
  const Money amount = Money::of(row.price, now - since);
  set_settled(row, since, now);
  total_ += amount;
  share_out(row, state, amount);
}

/// Books the amount, which may be negative, by what the instance is used for at present.
void Ledger::share_out(const InstanceRow& row, const ClusterState& state, Money amount) {
  if (row.phase == InstancePhase::booting) {
    book_idle(OverheadKind::boot, amount);
  } else if (!row.occupants.empty()) {
    split(row, state, amount);
  } else {
    book_idle(row.released ? OverheadKind::drain : OverheadKind::idle, amount);
  }
}

Money Ledger::unsettled(TaskId id, const InstanceRow& on, Instant now) const {
  const auto seat = seats_.find(id);
  const auto bill = settled_until_.find(on.id);
  if (seat == seats_.end() || seat->second.on != on.id || bill == settled_until_.end()) return {};
  const Duration since = now - bill->second.until;
  if (since <= Duration::zero() || on.phase == InstancePhase::booting) return {};
  const Money amount = Money::of(on.price, since);
  return amount.part(seat->second.share * scale_of(groups_.at(on.id)));
}

// Occupants pay by their dominant shares, and the rest of the instance is fragmentation.
void Ledger::split(const InstanceRow& row, const ClusterState& state, Money amount) {
  std::vector<ShareGroup>& groups = groups_[row.id];
  const double scale = scale_of(groups);
  Money left = amount;
  for (ShareGroup& group : groups) {
    Money part = amount.part(group.share * scale);
    Money together = Money{part.units() * group.tasks};
    // Parts are rounded: the last ones must not be more than what is left, whatever the sign.
    if (amount < Money{} ? together < left : left < together) {
      part = Money{left.units() / group.tasks};
      together = Money{part.units() * group.tasks};
    }
    group.each += part;
    book(group.job, state, together);
    left -= together;
  }
  book_idle(OverheadKind::fragmentation, left);
}

void Ledger::book_idle(OverheadKind kind, Money amount) {
  idle_[static_cast<std::size_t>(kind)] += amount;
}

void Ledger::book(Slot slot, const ClusterState& state, Money amount) {
  open_tasks_ += amount;
  // By slot, so that a slot's sums are those of the job that has it.
  if (slot >= by_job_.size()) by_job_.resize(slot + std::size_t{1});
  JobSum& job = by_job_[slot];
  job.usd += amount;
  if (job.user == kNoUser) {
    const std::string& name = state.job(slot).job.user;
    const auto fresh = static_cast<std::uint32_t>(users_.size());
    const auto [entry, is_new] =
        // Numbers of users without jobs are used again, so that users_ stays small.
        user_numbers_.emplace(name, free_users_.empty() ? fresh : free_users_.back());
    if (is_new && free_users_.empty()) users_.emplace_back();
    if (is_new && entry->second != fresh) free_users_.pop_back();
    job.user = entry->second;
    users_[job.user].name = name;
    ++users_[job.user].jobs;
  }
  users_[job.user].usd += amount;
}

void Ledger::close_job(Slot slot) {
  // A job to which nothing was booked has no sums.
  if (slot >= by_job_.size() || by_job_[slot].user == kNoUser) return;
  const JobSum job = std::exchange(by_job_[slot], {});
  UserSum& user = users_[job.user];
  user.usd -= job.usd;
  if (--user.jobs > 0) return;
  user_numbers_.erase(user.name);
  free_users_.push_back(job.user);
  user = {};
}

std::map<std::string, Money> Ledger::by_user() const {
  std::map<std::string, Money> sums;
  for (const UserSum& user : users_) {
    if (user.jobs > 0) sums.emplace(user.name, user.usd);
  }
  return sums;
}

/// Computes the sums from what was booked to tasks and instances.
void Ledger::derive(const ClusterState& state) {
  for (const auto& [id, amount] : by_task_) {
    if (const TaskRow* task = state.find(id)) {
      book(task->job, state, amount);  // exact, so the order does not matter
    } else {
      open_tasks_ += amount;
    }
  }
  for (const InstanceRow& row : state.instances()) {
    for (Slot slot : row.occupants) {
      const TaskRow& task = state.task(slot);
      seat(task, row, share_of(task.held, row, state));
    }
  }
  for (const auto& [id, bill] : std::unordered_map(std::exchange(settled_until_, {}))) {
    if (const InstanceRow* row = state.find(id)) begin_bill(*row, bill);
  }
}

Money Ledger::accrued(const ClusterState& state, Instant now) const {
  Money sum = total_;
  // Sum of price x (now - settled) over all that is up, from two sums that events keep: O(1). Only
  // valid when nothing is settled beyond `now`.
  if (now >= newest_settled_) {
    return sum + Money{up_rate_ * now.time_since_epoch().count() - settled_at_rates_};
  }
  for (const InstanceRow& row : state.instances()) {
    sum += accrued_by(row, now);
  }
  return sum;
}

/// Charge of an instance that is up for the time since its last event.
Money Ledger::accrued_by(const InstanceRow& row, Instant now) const {
  const auto settled = settled_until_.find(row.id);
  if (settled == settled_until_.end() || settled->second.until >= now) return {};
  return Money::of(row.price, now - settled->second.until);
}

void Ledger::close(TaskId id) {
  const auto found = by_task_.find(id);
  if (found == by_task_.end()) return;
  closed_tasks_ += found->second;
  open_tasks_ -= found->second;
  by_task_.erase(found);
}

Money Ledger::task(TaskId id) const {
  const auto found = by_task_.find(id);
  return (found == by_task_.end() ? Money{} : found->second) + running(id);
}

/// For a snapshot, which knows no seats.
std::unordered_map<TaskId, Money> Ledger::all_tasks() const {
  std::unordered_map<TaskId, Money> all = by_task_;
  for (const auto& [id, seat] : seats_) {
    const Money since = running(id);
    if (!(since == Money{})) all[id] += since;
  }
  return all;
}

}  // namespace muster
