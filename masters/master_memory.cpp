#include "masters/master_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "masters/view/cell_pieces.hpp"
#include "model/rounded_text.hpp"

namespace muster {
namespace {

/// Jobs given up of which sites may still have to be told.
constexpr std::size_t kMaxTerminalParts = 1000;
/// Likewise, of parts of jobs whose number of failures is bounded.
constexpr std::size_t kMaxFailedParts = 1000;

/// Sites add up what has failed of its parts.
bool is_counted(const Job& job) {
  return job.total_tasks > 0 && job.max_fails.has_value();
}

/// The policy is told what tasks report of themselves; a memory without a policy is told nothing.
bool is_told_metrics(const Policy* policy, bool fixed_fleet) {
  if (policy == nullptr) return false;
  return (fixed_fleet ? policy->fleet_cadence() : policy->cadence()).wants_metrics;
}

/// Of a process; nothing without a process that could give a code.
std::optional<std::int32_t> code_of(const ProcessEnd& end) {
  return end.exit_code != 0 ? std::optional(end.exit_code) : std::nullopt;
}

/// The last that is known of why the replica does not serve.
std::string trouble_of(const TaskRow& task) {
  if (task.phase == TaskPhase::pending) return "it waits, " + cell::sentence(task.reason);
  if (task.replica == nullptr) return "its program has not been started yet";
  const ReplicaState& said = *task.replica;
  std::string text = said.trouble;
  if (said.restarts > 0) {
    if (!text.empty()) text += "; ";
    text += fmt::format("its program has ended {}, the last time with exit code {}",
                        count_text(said.restarts, "time"), said.exit_code);
  }
  return text.empty() ? "its program runs and is not ready" : text;
}

}  // namespace

/// Changes of an event besides the state, the gangs and the ledger; called before these.
struct MasterMemory::Fold {
  MasterMemory& memory;
  MasterFacts& m;
  Instant at;

  void operator()(const JobAccepted& e) {
    m.accepted.add(e.job.id.value);
    m.listed.insert(list_place(e.job));
    if (is_counted(e.job)) m.counted.insert(e.job.id);
    if (e.job.service() != nullptr) m.services.insert(e.job.id);
    if (waits_by_index(e.job)) m.awaiting.insert(e.job.id);
  }
  void operator()(const LaunchRequested& e) {
    m.next_instance = std::max(m.next_instance, e.instance.value + 1);
  }
  void operator()(const LaunchRefused& e) {
    const InstanceRow& row = *m.state.find(e.instance);
    memory.rest(row.offering(), e.refusal.code, at);
  }
  void operator()(const RoundDecided& e) {
    m.rounds = e.round + 1;
    m.quiet = 0;
    if (e.settled) m.calm = Calm{at - e.took, m.measured};
    m.measured = {};
  }
  void operator()(const ReleaseDecided& e) {
    if (e.cause.code != CauseCode::spend_cap) return;
    m.capped_day = e.capped_day >= 0 ? e.capped_day : day_of(at);
    m.capped_usd = e.capped_usd;
  }
  void operator()(const InstanceUp& e) {
    const InstanceRow& row = *m.state.find(e.instance);
    if (!memory.is_owned(row)) m.spend.up(row, e.billed_from.value_or(at));
    memory.ease_rest(row.offering(), at);
  }
  void operator()(const InstanceGone& e) {
    const InstanceRow& row = *m.state.find(e.instance);
    for (const Slot slot : row.occupants) {
      end_attempt(m.tasks[m.state.task(slot).id], {AttemptEnd::lost, e.reason, {}, {}, {}}, at);
    }
    m.spend.gone(row, e.billed_until.value_or(at));
    memory.ease_rest(row.offering(), at);
    // It has emptied so that a cloud that was full has room for something else.
    if (const KeptRoom* kept = m.claims.kept(); kept != nullptr && kept->is_closed(e.instance)) {
      memory.end_rests_of_room();
    }
  }
  void operator()(const OfferingChanged& e) {
    m.spend.reprice(e.change, m.state);
    const Offering& now = e.change.offering;
    const auto type = m.state.is_news(e.change) ? memory.catalog_->find(now.type) : std::nullopt;
    if (!type || !now.available || now.free == 0u) return;
    const OfferingKey key{*type, now.market, now.zone};
    const OfferingRow* before = m.state.offerings().find(key);
    if (before == nullptr) return;
    if (!before->available || left_of(m.state, *before) == 0u) m.rests.erase(key);
  }

  void operator()(const StartIssued& e) {
    const JobRow& job = m.state.job(m.state.find(e.task)->job);
    if (job.job.service() != nullptr) m.metrics.set(e.task, job.job.user, 0);
    TaskHistory& task = m.tasks[e.task];
    const InstanceRow& on = *m.state.find(e.instance);
    task.attempts = e.attempt;
    task.instance = e.instance;
    task.type = on.type;
    AttemptHistory next{e.attempt, e.instance, on.type, on.market, at};
    const Money paid = e.attempt > 1 ? m.ledger.task(e.task) : Money{};
    begin_attempt(task, std::move(next), paid, memory.settings_.kept_attempts);
  }
  void operator()(const TaskStarted& e) {
    TaskHistory& task = m.tasks[e.task];
    if (!task.started_at) task.started_at = at;
    if (task.newest.number == e.attempt) task.newest.started_at = at;
  }
  /// The task has a place from which it may run: one elsewhere is where it is to go.
  void operator()(const TaskAssigned& e) {
    const TaskRow& task = *m.state.find(e.task);
    if (task.at == kNoSlot) return;
    TaskHistory& known = m.tasks[e.task];
    const bool stays = m.state.instance(task.at).id == e.to;
    if (stays && e.cause.code != CauseCode::gang_restart && !known.newest.ended_at) {
      known.newest.leaves.reset();
    } else {
      note_leaving(known, e.cause.code);
    }
  }
  void operator()(const TaskUnassigned& e) {
    if (m.state.find(e.task)->at != kNoSlot) note_leaving(m.tasks[e.task], e.cause.code);
  }
  void operator()(const ReplicaWanted& e) {
    if (!e.wanted && m.state.find(e.task)->at != kNoSlot) {
      note_leaving(m.tasks[e.task], e.cause.code);
    }
  }
  void operator()(const StopIssued& e) {
    const TaskRow& task = *m.state.find(e.task);
    const JobRow& job = m.state.job(task.job);
    // Where its job has another width no event says so of each task.
    if (job.width > 0) note_leaving(m.tasks[e.task], CauseCode::width_plan);
  }
  JobId job_of(TaskId id) const { return m.state.job(m.state.find(id)->job).job.id; }
  TaskHistory& end(TaskId id, const ProcessEnd& end) {
    TaskHistory& task = m.tasks[id];
    task.ended_at = at;
    task.end = end;
    if (end.used().is_known()) m.used[job_of(id)].add(end.used());
    return task;
  }
  void operator()(const TaskCheckpointed& e) {
    const TaskRow& task = *m.state.find(e.task);
    TaskHistory& known = end(e.task, e.end);
    const bool ends = m.state.job(task.job).terminal_outcome.has_value();
    known.moves += !ends && task.target != task.at;
    end_attempt(
        known,
        {ends ? AttemptEnd::stopped : AttemptEnd::moved, {}, code_of(e.end), {}, e.end.used()}, at);
  }
  void operator()(const TaskFinished& e) {
    TaskHistory& task = end(e.task, e.end);
    task.finished = true;
    end_attempt(task, {AttemptEnd::finished, {}, e.end.exit_code, {}, e.end.used()}, at);
    const auto failed = m.failures.find(job_of(e.task));
    if (failed != m.failures.end()) failed->second.open.erase(e.task);
  }
  void operator()(const TaskFailed& e) {
    TaskHistory& task = end(e.task, e.end);
    task.failures += !e.blameless;
    task.losses += e.kind == FailureKind::lost;
    task.reason = e.reason;
    task.failure = e.kind;
    task.failed = e.for_good;
    const bool lost = e.kind == FailureKind::lost;
    const AttemptEnd left = lost ? AttemptEnd::lost : AttemptEnd::failed;
    end_attempt(task, {left, {}, code_of(e.end), e.reason, e.end.used()}, at);
    if (e.blameless && !e.for_good) return;
    JobFailures& job = m.failures[job_of(e.task)];
    job.attempts += !e.blameless;
    if (e.for_good) return note_failed_for_good(e.task, job);
    job.open.insert(e.task);
  }
  /// A task that cannot begin any more has failed without an attempt.
  void operator()(const CounterpartOver& e) {
    const JobId job = job_of(e.task);
    if (m.state.find(job)->awaiting == 1) m.awaiting.erase(job);
    if (e.lost.empty()) return;
    TaskHistory& task = m.tasks[e.task];
    task.ended_at = at;
    task.reason = e.lost;
    task.failed = true;
    note_failed_for_good(e.task, m.failures[job]);
  }
  void note_failed_for_good(TaskId id, JobFailures& job) {
    job.open.insert(id);
    const TaskRow& row = *m.state.find(id);
    job.for_good.emplace(m.state.spec(row).array_index, id);
    const JobId of = m.state.job(row.job).job.id;
    if (m.counted.contains(of)) m.failing.insert(of);
  }
  void operator()(const Measured& e) {
    for (const ThroughputSample& sample : e.samples) {
      const TaskRow* task = m.state.find(sample.task);
      if (task == nullptr) continue;
      ThroughputSum& sum = m.throughput[m.state.job(task->job).job.id];
      sum.sum += sample.normalized * static_cast<double>(e.rounds());
      sum.count += e.rounds();
    }
    m.quiet += e.quiet;
    const bool between_rounds = e.samples.empty() && (!e.progress.empty() || !e.metrics.empty());
    if (e.quiet == 0 && !between_rounds) m.measured = e;
    for (const TaskMetrics& each : e.metrics) {
      const TaskRow* task = m.state.find(each.task);
      if (task == nullptr) continue;
      m.metrics.set(each.task, m.state.job(task->job).job.user, each.values.size());
    }
  }
  /// A revision that is given up: how its replicas do is forgotten as they leave.
  void operator()(const ServiceScaled& e) {
    if (e.replicas > 0) return;
    for (const Slot slot : m.state.find(e.job)->tasks) {
      const TaskRow& row = m.state.task(slot);
      if (!row.wanted || is_endpoint(row)) continue;
      TaskHistory& task = m.tasks[row.id];
      // An attempt that has failed says more.
      if (task.reason.empty()) task.reason = trouble_of(row);
    }
  }
  void operator()(const JobFinished& e) {
    m.throughput.erase(e.job);
    m.failures.erase(e.job);
    m.used.erase(e.job);
    m.services.erase(e.job);
    m.awaiting.erase(e.job);
    // Sites ask for these: the job's other parts are for nothing.
    const JobRow& over = *m.state.find(e.job);
    m.listed.erase(list_place(over.job));
    if (over.job.total_tasks == 0) note_outcome(e);
    memory.note_over(over);
    if (!over.all_ended() && over.job.total_tasks > 0) {
      m.terminal_parts.push_back(e.job);
      if (m.terminal_parts.size() > kMaxTerminalParts) m.terminal_parts.pop_front();
    }
    for (Slot slot : m.state.find(e.job)->tasks) {
      const TaskId id = m.state.task(slot).id;
      m.tasks.erase(id);
      m.metrics.set(id, over.job.user, 0);
      m.ledger.close(id);
    }
  }
  void note_outcome(const JobFinished& e) {
    const bool well = e.outcome == JobOutcome::completed || e.outcome == JobOutcome::replaced;
    const bool badly = e.outcome == JobOutcome::failed || e.outcome == JobOutcome::refused ||
                       e.outcome == JobOutcome::expired;
    if (well) m.completed.add(e.job.value);
    if (badly) m.failed.add(e.job.value);
  }
  template <class Other>
  void operator()(const Other&) {}
};

const TaskHistory* MasterFacts::task_history(TaskId id) const {
  const auto found = tasks.find(id);
  return found == tasks.end() ? nullptr : &found->second;
}

const JobFailures* MasterFacts::failures_of(JobId id) const {
  const auto found = failures.find(id);
  return found == failures.end() ? nullptr : &found->second;
}

Usage MasterFacts::used_by(JobId id) const {
  const auto found = used.find(id);
  return found == used.end() ? Usage{} : found->second;
}

std::vector<FailedPart> MasterFacts::failing_parts() const {
  std::vector<FailedPart> parts;
  for (const JobId id : failing) {
    const JobRow& row = *state.find(id);
    parts.push_back({id, row.failed, *row.job.max_fails});
  }
  return parts;
}

std::optional<JobId> MasterFacts::turn(std::uint64_t round, Instant now) const {
  const auto of_gang = gangs.turn(now);
  return of_gang ? of_gang : claims.turn(state, round);
}

std::optional<Instant> MasterFacts::up_since(InstanceId id) const {
  const InstanceRow* row = state.find(id);
  return row == nullptr || !row->up ? std::nullopt : std::optional(row->up_at);
}

MasterMemory::MasterMemory(const MasterSettings& settings, const MasterDependencies& parts)
    : catalog_(parts.catalog),
      settings_(settings),
      fixed_fleet_(!parts.fleet.empty() && !settings.rent_beyond_fleet),
      owns_fleet_(!parts.fleet.empty() && settings.rent_beyond_fleet),
      wants_metrics_(is_told_metrics(parts.policy.get(), fixed_fleet_)),
      facts_{ClusterState(*parts.catalog),
             {},
             GangWaits(settings, fixed_fleet_),
             Claims(settings, fixed_fleet_, owns_fleet_),
             InstanceLives(settings)} {
  facts_.next_instance = parts.first_instance;
  facts_.state.set_max_interruptions(settings.max_interruptions);
}

void MasterMemory::absorb(const Event& event) {
  ++facts_.events;
  facts_.newest = std::max(facts_.newest, event.at);
  if (ends_calm(event.body)) {
    facts_.calm.reset();
    facts_.last_change = facts_.events;
  }
  std::visit(Fold{*this, facts_, event.at}, event.body);
  facts_.gangs.absorb(event, facts_.state);
  facts_.claims.absorb(event, facts_.state);
  facts_.losses.absorb(event, facts_.state);
  facts_.lives.absorb(event, facts_.state);
  facts_.ledger.observe(event, facts_.state);
  facts_.state.apply(event);
}

bool MasterMemory::ends_calm(const EventBody& body) const {
  // How a replica is doing moves a policy only where that may choose its size.
  if (const auto* changed = std::get_if<ReplicaChanged>(&body)) {
    const TaskRow* task = facts_.state.find(changed->task);
    const ServiceSpec* spec = task != nullptr ? facts_.state.job(task->job).job.service() : nullptr;
    return wants_metrics_ && spec != nullptr && spec->size.is_there();
  }
  const auto* measured = std::get_if<Measured>(&body);
  return wants_metrics_ || measured == nullptr || !measured->is_metrics_alone();
}

void MasterMemory::skip_instances(std::uint64_t below) {
  facts_.next_instance = std::max(facts_.next_instance, below);
}

/// The job's other parts may not be over: the failures of this one count on.
void MasterMemory::note_over(const JobRow& job) {
  MasterFacts& m = facts_;
  if (m.counted.erase(job.job.id) == 0 || m.failing.erase(job.job.id) == 0) return;
  m.failed_parts.push_back({job.job.id, job.failed, *job.job.max_fails});
  if (m.failed_parts.size() > kMaxFailedParts) m.failed_parts.pop_front();
}

void MasterMemory::count_parts() {
  MasterFacts& m = facts_;
  for (const JobRow& row : m.state.jobs()) {
    if (row.job.service() != nullptr) m.services.insert(row.job.id);
    if (row.awaiting > 0) m.awaiting.insert(row.job.id);
    if (!is_counted(row.job)) continue;
    m.counted.insert(row.job.id);
    if (row.failed > 0) m.failing.insert(row.job.id);
  }
  // Earlier versions had unfinished ones among them, and those of which nothing has failed.
  std::erase_if(m.failed_parts, [&m](const FailedPart& part) {
    return part.failed == 0 || m.counted.contains(part.job);
  });
}

void MasterMemory::count_failures() {
  MasterFacts& m = facts_;
  for (const auto& [id, task] : m.tasks) {
    const TaskRow* row = m.state.find(id);
    if (row == nullptr || (task.failures == 0 && !task.failed)) continue;
    JobFailures& job = m.failures[m.state.job(row->job).job.id];
    job.attempts += task.failures;
    if (!task.finished) job.open.insert(id);
    if (task.failed) job.for_good.emplace(m.state.spec(*row).array_index, id);
  }
}

void MasterMemory::count_usage() {
  for (const auto& [id, task] : facts_.tasks) {
    const TaskRow* row = facts_.state.find(id);
    if (row == nullptr || !task.used.is_known()) continue;
    facts_.used[facts_.state.job(row->job).job.id].add(task.used);
  }
}

MasterSnapshot MasterMemory::snapshot() const {
  const MasterFacts& m = facts_;
  MasterSnapshot snapshot{m.state, m.ledger, {}, {}, {}, 0, 0, {}, {}, 0, {}};
  snapshot.tasks = m.tasks;
  snapshot.throughput = m.throughput;
  snapshot.unavailable = m.rests;
  snapshot.spend = m.spend;
  snapshot.next_instance = m.next_instance;
  snapshot.rounds = m.rounds;
  snapshot.newest = m.newest;
  snapshot.capped_day = m.capped_day;
  snapshot.capped_usd = m.capped_usd;
  snapshot.quiet = m.quiet;
  snapshot.calm = m.calm;
  snapshot.gangs = m.gangs.book();
  snapshot.room = m.claims.book();
  snapshot.day_losses = m.losses.book();
  snapshot.instances = m.lives.book();
  snapshot.terminal_parts = m.terminal_parts;
  snapshot.failed_parts = m.failed_parts;
  snapshot.accepted = m.accepted;
  snapshot.completed = m.completed;
  snapshot.failed = m.failed;
  return snapshot;
}

void MasterMemory::restore(MasterSnapshot&& snapshot) {
  MasterFacts& m = facts_;
  m.state = std::move(snapshot.state);
  m.state.set_max_interruptions(settings_.max_interruptions);
  m.ledger = std::move(snapshot.ledger);
  m.tasks = std::move(snapshot.tasks);
  count_failures();
  count_usage();
  m.throughput = std::move(snapshot.throughput);
  m.rests = std::move(snapshot.unavailable);
  m.spend = std::move(snapshot.spend);
  skip_instances(snapshot.next_instance);
  m.rounds = snapshot.rounds;
  m.quiet = snapshot.quiet;
  m.capped_day = snapshot.capped_day;
  m.capped_usd = snapshot.capped_usd;
  m.calm = std::move(snapshot.calm);
  m.newest = snapshot.newest;
  m.gangs.restore(std::move(snapshot.gangs), m.state);
  m.claims.restore(std::move(snapshot.room), m.state);
  m.losses.restore(std::move(snapshot.day_losses));
  m.lives.restore(std::move(snapshot.instances), m.state);
  m.terminal_parts = std::move(snapshot.terminal_parts);
  m.failed_parts = std::move(snapshot.failed_parts);
  count_parts();
  m.metrics.recall(m.state);
  m.accepted = std::move(snapshot.accepted);
  m.completed = std::move(snapshot.completed);
  m.failed = std::move(snapshot.failed);
  for (const JobRow& row : m.state.jobs()) m.listed.insert(list_place(row.job));
}

}  // namespace muster
