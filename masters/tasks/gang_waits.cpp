#include "masters/tasks/gang_waits.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "masters/room_rules.hpp"

namespace muster {
namespace {

bool is_gang(const Job& job) {
  return job.gang && job.tasks.size() > 1;
}

bool is_gang(const JobRow& job) {
  return is_gang(job.job);
}

/// Of each resource the least that the demands ask for on any family.
Resources least_of(const Demands& demands) {
  Resources least;
  const std::vector<FamilyDemand>& entries = demands.entries();
  for (Resource kind : kAllResources) {
    double amount = entries.empty() ? 0 : entries.front().amount[kind];
    for (const FamilyDemand& entry : entries) amount = std::min(amount, entry.amount[kind]);
    least[kind] = amount;
  }
  return least;
}

std::optional<Refusal> over_fleet(const Resources& least, const ClusterState& state) {
  const Resources capacity = state.sums().open_capacity.value();
  const auto binding = least.first_exceeding(capacity);
  if (!binding) return std::nullopt;
  return Refusal{RefusalKind::not_now, RefusalCode::fixed_fleet, binding, least[*binding],
                 capacity[*binding]};
}

}  // namespace

GangDemand GangDemand::of(const Job& job) {
  GangDemand demand;
  demand.elastic = std::holds_alternative<ElasticSpec>(job.kind);
  if (demand.elastic) {
    demand.of_worker = least_of(job.tasks.front().demands);
    return demand;
  }
  Resources each;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const Demands& demands = job.tasks[i].demands;
    // Tasks of an array share their demands.
    if (i == 0 || !demands.shares_with(job.tasks[i - 1].demands)) each = least_of(demands);
    demand.whole += each;
  }
  return demand;
}

Resources GangDemand::at(const JobRow& job) const {
  if (!elastic) return whole;
  Resources sum = of_worker;
  for (Resource kind : kAllResources) sum[kind] *= static_cast<double>(job.size());
  return sum;
}

std::optional<Refusal> gang_over_fleet(const JobRow& job, const ClusterState& state) {
  if (!is_gang(job)) return std::nullopt;
  return over_fleet(GangDemand::of(job.job).at(job), state);
}

struct GangWaits::Fold {
  GangWaits& w;
  const ClusterState& state;
  Instant at;

  GangWait& wait_of(JobId id) {
    return w.book_.waits.try_emplace(id, GangWait{at, {}, 0, 0, false}).first->second;
  }

  bool is_for_room(RefusalCode code) const {
    return ends_in_a_turn(lack_of(code), {w.settings_.caps.any(), w.fixed_fleet_});
  }

  void operator()(const PlanPartRefused& e) {
    const TaskRow* task = e.task.valid() ? state.find(e.task) : nullptr;
    if (task == nullptr || task->phase != TaskPhase::pending) return;
    const JobRow& job = state.job(task->job);
    if (!is_gang(job) || !is_for_room(e.refusal.code)) return;
    if (w.fixed_fleet_) return refused_on_fleet(job);
    GangWait& wait = wait_of(job.job.id);
    if (const auto cap = cap_of(e.refusal.code, w.settings_.caps)) {
      wait.hopeless = e.refusal.asked > *cap;
    }
    if (wait.hopeless && w.turn(at) == job.job.id) w.end_turn(at);
    // A gang that is too large even for all of a cap is not tried again and again: policies plan
    // for others as they would without it. Each of its tasks is refused: that counts once.
    if (wait.hopeless && at >= wait.unavailable_until) {
      wait.unavailable_until = at + w.grown(w.settings_.launch_backoff, ++wait.refusals);
    }
  }

  /// A policy that places gangs whole says so, and asks for nothing.
  void operator()(const TaskRefused& e) {
    const TaskRow* task = state.find(e.task);
    if (!w.fixed_fleet_ || task == nullptr || task->phase != TaskPhase::pending) return;
    const JobRow& job = state.job(task->job);
    if (!is_gang(job) || !is_for_room(e.refusal.code)) return;
    GangWait& wait = wait_of(job.job.id);
    wait.hopeless = wait.hopeless || has_all(job);
  }

  /// It rests, so that others may have what it could not have whole.
  void refused_on_fleet(const JobRow& job) {
    GangWait& wait = wait_of(job.job.id);
    if (at < wait.unavailable_until || w.turn(at) == job.job.id) return;
    wait.hopeless = has_all(job);
    wait.unavailable_until = at + w.grown(w.settings_.launch_backoff, ++wait.refusals);
  }

  /// No other job has anything of the fleet, or it is too small for the job.
  bool has_all(const JobRow& job) const {
    const FleetSums& sums = state.sums();
    return sums.committed.value() == Resources{} || w.over_fleet(job, state).has_value();
  }

  void operator()(const LaunchRefused& e) {
    std::set<Slot> jobs;
    for (Slot slot : state.find(e.instance)->planned) jobs.insert(state.task(slot).job);
    for (Slot slot : jobs) {
      if (is_gang(state.job(slot))) refused(state.job(slot));
    }
  }

  void refused(const JobRow& job) {
    std::set<Slot> own;
    for (Slot slot : job.tasks) {
      if (state.task(slot).target != kNoSlot) own.insert(state.task(slot).target);
    }
    GangWait& wait = wait_of(job.job.id);
    wait.hopeless = own.size() == state.instances().size();
    if (w.book_.turn && w.book_.turn->job == job.job.id && at < w.book_.turn->until) {
      // Room that others leave in its turn is for the gang: it asks as soon as the cloud may be
      // asked.
      wait.unavailable_until = at + w.settings_.launch_backoff;
      if (!wait.hopeless) return;
      wait.since = at;
      w.end_turn(at);
    }
    wait.unavailable_until = at + w.grown(w.settings_.launch_backoff, ++wait.refusals);
  }

  void operator()(const GangTurn& e) {
    GangWait& wait = wait_of(e.job);
    ++wait.turns;
    wait.since = e.until;
    w.book_.turn = e;
    w.book_.turn_began = at;
    w.book_.others_until = e.until + (e.until - at);
  }

  void operator()(const JobAccepted& e) { w.know(e.job); }
  /// A fleet that grows may hold what was too large for it.
  void operator()(const LaunchRequested&) {
    if (!w.fixed_fleet_) return;
    for (auto& [id, wait] : w.book_.waits) wait.hopeless = false;
  }
  void operator()(const StartIssued& e) { w.forget(state.job(state.find(e.task)->job).job.id, at); }
  void operator()(const JobFinished& e) {
    w.forget(e.job, at);
    w.demands_.erase(e.job);
  }
  void operator()(const JobTerminating& e) { w.forget(e.job, at); }
  void operator()(const JobHeld& e) { w.forget(e.job, at); }
  template <class Other>
  void operator()(const Other&) {}
};

void GangWaits::absorb(const Event& event, const ClusterState& state) {
  if (book_.waits.empty() && std::holds_alternative<StartIssued>(event.body)) return;
  std::visit(Fold{*this, state, event.at}, event.body);
}

/// Only a fixed fleet is ever asked whether it holds a gang.
void GangWaits::know(const Job& job) {
  if (!fixed_fleet_ || !is_gang(job)) return;
  demands_.emplace(job.id, GangDemand::of(job));
  tasks_summed_ += job.tasks.size();
}

void GangWaits::restore(GangWaitState book, const ClusterState& state) {
  book_ = std::move(book);
  demands_.clear();
  for (const JobRow& job : state.jobs()) know(job.job);
}

std::optional<Refusal> GangWaits::over_fleet(const JobRow& job, const ClusterState& state) const {
  const auto known = demands_.find(job.job.id);
  if (known == demands_.end()) return std::nullopt;
  return muster::over_fleet(known->second.at(job), state);
}

void GangWaits::forget(JobId id, Instant now) {
  if (book_.waits.erase(id) > 0 && book_.turn && book_.turn->job == id) end_turn(now);
}

/// The others may start for as long as it took, also when it ends early.
void GangWaits::end_turn(Instant now) {
  if (now < book_.turn->until) book_.others_until = now + (now - book_.turn_began);
  book_.turn.reset();
}

/// Doubled that number of times, up to the longest.
Duration GangWaits::grown(Duration first, std::uint32_t times) const {
  Duration length = first;
  if (first == Duration::zero()) return first;
  for (; times > 0 && length < settings_.gangs.longest; --times) length *= 2;
  return std::max(first, std::min(length, settings_.gangs.longest));
}

std::optional<GangTurn> GangWaits::due(const ClusterState& state, Instant now) const {
  if (settings_.gangs.patience <= Duration::zero() || now < book_.others_until) return std::nullopt;
  std::optional<std::pair<Instant, JobId>> first;
  for (const auto& [id, wait] : book_.waits) {
    const JobRow* job = state.find(id);
    if (wait.hopeless || job == nullptr || job->pending == 0) continue;
    // Where no other job wants to start a turn would change nothing.
    if (state.pending().size() == job->pending) continue;
    const Instant due = wait.since + grown(settings_.gangs.patience, wait.turns);
    if (due <= now && (!first || std::pair(due, id) < *first)) first = {due, id};
  }
  if (!first) return std::nullopt;
  const std::uint32_t turns = book_.waits.at(first->second).turns;
  return GangTurn{first->second, now + grown(settings_.gangs.turn, turns)};
}

std::optional<JobId> GangWaits::turn(Instant now) const {
  return book_.turn_at(now);
}

std::vector<JobId> GangWaits::backed_off(const ClusterState& state, std::uint64_t round,
                                         Instant now) const {
  const auto mine = turn(now);
  std::vector<JobId> backed_off, rested;
  for (const auto& [id, wait] : book_.waits) {
    if (now < wait.unavailable_until) {
      // A fleet's instances are there for a job that alone wants them.
      const JobRow* job = state.find(id);
      const bool alone = job != nullptr && state.pending().size() == job->pending;
      if (!fixed_fleet_ || !alone) backed_off.push_back(id);
    } else if (wait.refusals > 0 && id != mine && !fixed_fleet_) {
      rested.push_back(id);
    }
  }
  if (rested.size() > 1) {
    // Two that ask at once may each get a part of what would do for one.
    rested.erase(rested.begin() + static_cast<std::ptrdiff_t>(round % rested.size()));
    backed_off.insert(backed_off.end(), rested.begin(), rested.end());
    std::sort(backed_off.begin(), backed_off.end());
  }
  return backed_off;
}

std::uint32_t GangWaits::refusals(JobId id) const {
  const auto found = book_.waits.find(id);
  return found == book_.waits.end() ? 0 : found->second.refusals;
}

}  // namespace muster
