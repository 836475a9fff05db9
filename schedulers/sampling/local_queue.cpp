#include "schedulers/sampling/local_queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/check.hpp"

// Room is taken when a request goes out, not when the task comes: two answers under way never meet
// on the same room.

namespace muster::sampling {

LocalQueue::LocalQueue(WorkerIndex self, TypeId type, const Resources& capacity,
                       const QueueRules& rules)
    : self_(self), type_(type), capacity_(capacity), rules_(rules), free_(capacity) {}

std::optional<Rejection> LocalQueue::add(const Reservation& reservation) {
  const SampledJob& job = *reservation.job;
  // News of other workers, to be passed on with rejections.
  const bool newer = reservation.bits && (!bits_ || bits_->stamp < reservation.bits->stamp);
  if (newer) bits_ = reservation.bits;
  if (rules_.reject_behind_long && !job.is_long && !reservation.force && long_here_ > 0) {
    return Rejection{self_, job.id, reservation.round, bits_};
  }
  if (job.is_long) {
    ++long_here_;
  } else {
    ++count_.taken;
  }
  entries_.push_back({next_number_++, reservation.job, reservation.task, 0, false});
  return std::nullopt;
}

bool LocalQueue::cancel(JobId job) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    // One that asks already gets its answer first: the scheduler finds nothing left then.
    return entry.job->id == job && !entry.asking;
  });
  if (found == entries_.end()) return false;
  entries_.erase(found);
  ++count_.cancelled;
  return true;
}

bool LocalQueue::may_take_now(const Entry& entry) const {
  return amount_of(*entry.job).fits_in(free_);
}

double LocalQueue::allowance_s(const Entry& entry) const {
  // May be negative: an overtaken entry is not overtaken any further.
  return rules_.starvation_cap * entry.job->estimate_s - entry.delay_s;
}

std::optional<TaskRequest> LocalQueue::next() {
  if (rules_.shortest_first) drop_served();
  const Place chosen = rules_.shortest_first ? shortest_in_line() : first_in_line();
  if (chosen == entries_.end() || !may_take_now(*chosen)) return std::nullopt;
  return ask(chosen);
}

/// Probes of jobs without a task left go without asking.
void LocalQueue::drop_served() {
  count_.dropped += std::erase_if(entries_, [](const Entry& entry) {
    return !entry.is_long() && !entry.asking && entry.job->unlaunched == 0;
  });
}

LocalQueue::Place LocalQueue::first_in_line() {
  return std::find_if(entries_.begin(), entries_.end(), [this](const Entry& entry) {
    return !entry.asking && (!rules_.skip_blocked || may_take_now(entry));
  });
}

/// A long task that is first; else the short one of the job with the least remaining time that may
/// overtake every older one.
LocalQueue::Place LocalQueue::shortest_in_line() {
  Place best = entries_.end();
  double best_remaining_s = std::numeric_limits<double>::infinity();
  double allowed_s = std::numeric_limits<double>::infinity();
  bool first = true;
  for (Place entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const bool candidate = !entry->asking && (!rules_.skip_blocked || may_take_now(*entry));
    if (entry->is_long()) {
      if (candidate && first) return entry;
    } else {
      const double estimate_s = entry->job->estimate_s;
      const double remaining_s = estimate_s * entry->job->unlaunched;
      if (candidate && estimate_s <= allowed_s && remaining_s < best_remaining_s) {
        best = entry;
        best_remaining_s = remaining_s;
      }
      allowed_s = std::min(allowed_s, allowance_s(*entry));
    }
    if (candidate) first = false;
  }
  return best;
}

TaskRequest LocalQueue::ask(const Place& entry) {
  const TaskRequest request{self_, next_ticket_++, entry->job->id, entry->task};
  const bool is_long = entry->is_long();
  const Resources amount = amount_of(*entry->job);
  free_ -= amount;
  asking_.push_back({request.ticket, entry->number, entry->job, amount});
  // Charged when asking, for the order to be the same whether the answer comes at once or not.
  if (rules_.shortest_first && !is_long) charge_older(entry->number, entry->job->estimate_s);
  if (rules_.sticky && !is_long) {
    entry->asking = true;
  } else {
    if (!is_long) ++count_.answered;
    entries_.erase(entry);
  }
  return request;
}

/// The short entries older than this one are overtaken by a task of that estimate.
void LocalQueue::charge_older(std::uint64_t number, double estimate_s) {
  for (Entry& older : entries_) {
    if (older.number >= number) return;
    if (older.is_long()) continue;
    older.delay_s += estimate_s;
    const double allowed_s = rules_.starvation_cap * older.job->estimate_s;
    if (allowed_s > 0) worst_delay_ = std::max(worst_delay_, older.delay_s / allowed_s);
  }
}

void LocalQueue::answered(std::uint32_t ticket, std::optional<TaskId> task) {
  const auto found = std::find_if(asking_.begin(), asking_.end(),
                                  [&](const Asking& asking) { return asking.ticket == ticket; });
  MUSTER_CHECK(found != asking_.end(), "every answer belongs to a request");
  const Asking asked = std::move(*found);
  asking_.erase(found);
  SampledJob& job = *asked.job;
  if (task) {
    --job.unlaunched;
    running_.push_back({*task, asked.amount, {job.id, job.is_long}});
  } else {
    give_room_back(asked.amount);
    // No task came: no entry was overtaken.
    if (rules_.shortest_first) charge_older(asked.number, -job.estimate_s);
  }
  if (!rules_.sticky || job.is_long) return;
  const auto probe = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.number == asked.number; });
  // Sticky: the probe stays at its place and asks again until its job has no task left.
  probe->asking = false;
  if (task) return;
  entries_.erase(probe);
  ++count_.answered;
}

void LocalQueue::pushed(TaskId task, JobId job, const Resources& amount) {
  // Taken without asking: the group's master counts this worker's room itself.
  free_ -= amount;
  running_.push_back({task, amount, {job, false}});
}

std::optional<LocalQueue::Ended> LocalQueue::over(TaskId task) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const Running& running) { return running.task == task; });
  if (found == running_.end()) return std::nullopt;
  const Ended end = found->end;
  const Resources amount = found->amount;
  running_.erase(found);
  if (end.is_long) --long_here_;
  give_room_back(amount);
  return end;
}

void LocalQueue::give_room_back(const Resources& amount) {
  free_ += amount;
  if (asking_.empty() && running_.empty()) free_ = capacity_;  // no rounding error outlives them
}

}  // namespace muster::sampling
