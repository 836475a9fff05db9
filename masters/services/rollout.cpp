#include "masters/services/rollout.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "model/setbacks.hpp"

namespace muster {
namespace {

/// Time in which the workers of a master that has just begun say hello.
constexpr Duration kTakeover = std::chrono::seconds{10};

/// Looks at the revisions once, and decides by what was counted.
class Step {
 public:
  Step(const ClusterState& state, std::span<const JobId> revisions, const RolloutClock& clock)
      : s_(state), now_(clock.now), began_(clock.began) {
    for (const JobId id : revisions) {
      const JobRow* job = state.find(id);
      if (job != nullptr && !job->terminal_outcome) jobs_.push_back(job);
    }
    // The newest that is not given up; a revision is given up only where there is an earlier one.
    for (const JobRow* job : jobs_) {
      if (job->replicas > 0) target_ = job;
    }
  }

  Rollout decide() {
    if (target_ == nullptr) {
      // The one that was to have the service again has ended meanwhile.
      for (const JobRow* job : jobs_) out_.over.emplace_back(job->job.id, JobOutcome::failed);
      return out_;
    }
    service_ = target_->job.service();
    count();
    replace_failed();
    keep_instead();
    if (!out_.unwant.empty() || !out_.stay.empty() || !out_.placeless.empty()) return out_;
    want_replicas();
    let_others_go();
    stop_those_that_may();
    settle_or_give_up();
    end_others();
    return out_;
  }

 private:
  /// It leaves since nothing is heard of it: see ReplicaWanted.
  static bool is_silent(const TaskRow& task) {
    return !task.wanted && task.target != kNoSlot && task.target == task.at;
  }
  bool is_healthy(const TaskRow& task) const {
    return !is_silent(task) && muster::is_healthy(task, *service_, now_);
  }
  void look_again(Instant when) {
    if (!out_.look_again || when < *out_.look_again) out_.look_again = when;
  }
  template <class Take>
  void each_task(const JobRow& job, const Take& take) const {
    for (const Slot slot : job.tasks) take(s_.task(slot));
  }

  void count() {
    for (const JobRow* job : jobs_) {
      if (job != target_) others_wanted_ += job->wanted;
      each_task(*job, [&](const TaskRow& task) {
        if (is_endpoint(task) && !is_silent(task) && !is_healthy(task)) {
          look_again(task.ready_since + service_->healthy_for);
        }
        if (!is_healthy(task)) return;
        ++healthy_;
        healthy_of_target_ += job == target_ && task.wanted;
      });
    }
  }

  /// Tasks of the job that are `wanted` or are not, the first to choose first.
  template <class Rank>
  std::vector<TaskId> chosen(const std::vector<const JobRow*>& jobs, bool wanted, std::size_t most,
                             const Rank& rank) const {
    std::vector<std::pair<decltype(rank(std::declval<const TaskRow&>())), TaskId>> found;
    for (const JobRow* job : jobs) {
      each_task(*job, [&](const TaskRow& task) {
        // A task that still leaves is of no use as another replica.
        const bool free = task.phase == TaskPhase::capped || task.phase == TaskPhase::held;
        if (task.wanted == wanted && (wanted || free)) found.emplace_back(rank(task), task.id);
      });
    }
    most = std::min(most, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most),
                      found.end());
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < most; ++i) ids.push_back(found[i].second);
    return ids;
  }
  /// Those that serve no client go first, then those of earlier revisions, then the last ones.
  std::vector<TaskId> first_to_leave(const std::vector<const JobRow*>& jobs,
                                     std::size_t most) const {
    return chosen(jobs, true, most, [this](const TaskRow& task) {
      const JobRow& job = s_.job(task.job);
      return std::tuple(task.at != kNoSlot, is_endpoint(task), job.accepted_at, ~task.index);
    });
  }

  /// Programs that could not be started are not tried again: other tasks are.
  void replace_failed() {
    for (const JobRow* job : jobs_) {
      if (job->failed == 0) continue;
      each_task(*job, [&](const TaskRow& task) {
        if (task.wanted && task.phase == TaskPhase::failed) {
          out_.unwant.emplace_back(task.id, CauseCode::evicted);
        }
      });
    }
  }

  /// The instance has no room for the replica before the one that leaves has left, and that one can
  /// stay there when the former does not come.
  bool waits_behind(const TaskRow& task, const TaskRow& leaves) const {
    const InstanceRow& row = s_.instance(task.target);
    const Resources& capacity = s_.catalog()[row.type].capacity;
    return !(row.used + task.planned.amount).fits_in(capacity) &&
           (row.committed - task.planned.amount + leaves.held.amount).fits_in(capacity);
  }
  /// The program of the replica has ended, or was not ready in its time.
  bool fails(const TaskRow& task) {
    if (task.phase != TaskPhase::running || is_endpoint(task)) return false;
    if (task.replica != nullptr && task.replica->restarts > 0) return true;
    const Instant late = std::max(task.started_at, began_) + service_->update_within;
    if (now_ < late) look_again(late);
    return now_ >= late;
  }
  bool has_room_to_stay(const TaskRow& leaves) const {
    const InstanceRow& row = s_.instance(leaves.at);
    const Resources& capacity = s_.catalog()[row.type].capacity;
    return (row.committed + leaves.held.amount).fits_in(capacity);
  }

  /// One that leaves and serves clients stops when another one is healthy. If that one waits for
  /// the room of the former, neither would ever come about. Nor would one that fails with the size
  /// that it was given.
  void keep_instead() {
    std::vector<const TaskRow*> leaving;
    std::multimap<Slot, const TaskRow*> waiting;  // by the instance that they are to run on
    std::vector<const TaskRow*> failing;
    for (const JobRow* job : jobs_) {
      const bool resizes = job->job.service()->size.is_there() && job->leaving > 0;
      each_task(*job, [&](const TaskRow& task) {
        const bool leaves = task.phase == TaskPhase::running && task.target == kNoSlot;
        const bool runs = leaves && !s_.instance(task.at).released;
        if (runs && task.wanted) out_.placeless.push_back(task.id);
        if (leaves && !task.wanted && is_endpoint(task)) leaving.push_back(&task);
        if (task.wanted && task.phase == TaskPhase::assigned) waiting.emplace(task.target, &task);
        if (resizes && task.wanted && fails(task)) failing.push_back(&task);
      });
    }
    if (may_stop_one()) return;
    for (const TaskRow* task : leaving) {
      const bool is_released = s_.instance(task->at).released;
      const auto there = waiting.find(task->at);
      if (!is_released && there != waiting.end() && waits_behind(*there->second, *task)) {
        out_.stay.emplace_back(task->id, there->second->id);
        waiting.erase(there);
        continue;
      }
      const auto other = std::ranges::find_if(failing, [&](const TaskRow* one) {
        return one->job == task->job && one->held != task->held;
      });
      if (other == failing.end()) continue;
      if (!is_released && has_room_to_stay(*task)) {
        out_.stay.emplace_back(task->id, (*other)->id);
      } else {
        // It serves on until yet another one is healthy.
        out_.unwant.emplace_back((*other)->id, CauseCode::evicted);
      }
      failing.erase(other);
    }
  }

  std::uint32_t least_healthy() const {
    return target_->replicas - std::min(target_->replicas, service_->max_unavailable);
  }
  bool may_stop_one() const { return healthy_ > least_healthy(); }

  void want_replicas() {
    const std::uint32_t most = target_->replicas;
    const std::uint32_t room = most + service_->surge;
    std::uint32_t wish = most;
    if (others_wanted_ > 0) {
      const std::uint32_t rest = room > others_wanted_ ? room - others_wanted_ : 0;
      // It keeps those that it has, as after another revision was given up.
      wish = std::max(std::min(most, rest), std::min(most, target_->wanted));
    }
    if (target_->wanted < wish) {
      const CauseCode why = target_->leaving > 0 ? CauseCode::stand_in
                            : others_wanted_ > 0 ? CauseCode::revision
                                                 : CauseCode::scaled;
      const auto by_index = [](const TaskRow& task) { return task.index; };
      for (const TaskId id : chosen({target_}, false, wish - target_->wanted, by_index)) {
        out_.want.emplace_back(id, why);
      }
    }
    if (target_->wanted <= wish) return;
    for (const TaskId id : first_to_leave({target_}, target_->wanted - wish)) {
      out_.unwant.emplace_back(id, CauseCode::scaled);
    }
  }

  /// Earlier revisions keep as many replicas as the newest one lacks.
  void let_others_go() {
    if (others_wanted_ == 0) return;
    const std::uint32_t have = std::min(target_->replicas, healthy_of_target_) +
                               std::min(target_->replicas, service_->max_unavailable);
    const std::uint32_t keep = target_->replicas > have ? target_->replicas - have : 0;
    if (others_wanted_ <= keep) return;
    std::vector<const JobRow*> others = jobs_;
    std::erase(others, target_);
    for (const TaskId id : first_to_leave(others, others_wanted_ - keep)) {
      out_.unwant.emplace_back(id, CauseCode::revision);
    }
  }

  void stop_those_that_may() {
    std::uint32_t left = healthy_;
    const std::uint32_t least = least_healthy();
    for (const JobRow* job : jobs_) {
      if (job->leaving == 0) continue;
      each_task(*job, [&](const TaskRow& task) {
        if (task.wanted || task.phase != TaskPhase::running) return;
        const std::uint32_t without = is_healthy(task) ? left - 1 : left;
        const bool serves = is_endpoint(task);
        if (serves && without < least) return;
        // Which of those that were ready still are is heard first.
        if (serves && now_ < began_ + kTakeover) return look_again(began_ + kTakeover);
        left = without;
        out_.stop.push_back(task.id);
      });
    }
  }

  void settle_or_give_up() {
    if (target_->settled) return;
    if (healthy_of_target_ >= target_->replicas) {
      out_.settles = true;
      return;
    }
    const bool has_earlier = std::ranges::any_of(
        jobs_, [this](const JobRow* job) { return job != target_ && job->replicas > 0; });
    if (!has_earlier || target_->held_by_user) return;
    const Instant late = std::max(target_->progressed_at, began_) + service_->update_within;
    // A program that is not there does not come with time.
    if (now_ >= late || target_->failed > 0) {
      out_.gives_up = target_->job.id;
    } else {
      look_again(late);
    }
  }

  void end_others() {
    for (const JobRow* job : jobs_) {
      const bool empty = job->wanted == 0 && job->gang.holding == 0;
      if (job == target_ || !empty) continue;
      const bool given_up = job->replicas == 0;
      // An earlier one has the service again if the newest does not come about.
      if (given_up || target_->settled) {
        out_.over.emplace_back(job->job.id, given_up ? JobOutcome::failed : JobOutcome::replaced);
      }
    }
  }

  const ClusterState& s_;
  Instant now_;
  Instant began_;
  std::vector<const JobRow*> jobs_;  ///< the oldest first
  const JobRow* target_ = nullptr;
  const ServiceSpec* service_ = nullptr;
  std::uint32_t healthy_ = 0;  ///< of all revisions, also of those that leave
  std::uint32_t healthy_of_target_ = 0;
  std::uint32_t others_wanted_ = 0;
  Rollout out_;
};

}  // namespace

Rollout next_step(const ClusterState& state, std::span<const JobId> revisions, RolloutClock clock) {
  return Step(state, revisions, clock).decide();
}

bool is_steady(const ClusterState& state, std::span<const JobId> revisions) {
  if (revisions.size() != 1) return revisions.empty();
  const JobRow* job = state.find(revisions.front());
  return job == nullptr || (job->settled && job->wanted == job->replicas && job->leaving == 0);
}

}  // namespace muster
