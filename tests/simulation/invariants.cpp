#include "tests/simulation/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "actors/cloud/rented.hpp"
#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"
#include "replay/metrics/run_check.hpp"
#include "storage/events/event_json.hpp"

namespace muster::ring {
namespace {

constexpr std::size_t kMostKept = 8;

/// What the cloud does about an instance takes at most so much longer than its type says: there are
/// disks, and workers' processes that have to end.
constexpr Duration kCloudSlack = std::chrono::minutes{1};

/// When nothing goes wrong any more, a cancel that a site has promised comes to everybody in time.
constexpr Duration kCancelTime = std::chrono::minutes{5};

/// A regular round may be late by so much: workers are asked for samples, and disks are waited for.
constexpr Duration kRoundSlack = std::chrono::minutes{1};

bool is_over(const RentedRecord& record) {
  return record.refused || record.gone_at.has_value();
}

/// What the cloud has yet to do about the instance by itself; empty: nothing.
std::string work_on(const RentedRecord& record) {
  if (is_over(record)) return {};
  if (record.ending) return "ended";
  if (!record.up_at) return "brought up";
  return record.machine.empty() ? "booted" : std::string{};
}

/// Tasks of the job that the handoffs of a site's disk still have, or that ended there.
std::size_t handed_tasks(const SiteDisk& disk, JobId job, std::set<TaskId>& found) {
  auto it = disk.handoffs.lower_bound({job, HandoffTarget{}});
  for (; it != disk.handoffs.end() && it->first.first == job; ++it) {
    for (const TaskSpec& task : it->second.tasks) found.insert(task.id);
  }
  const auto ended = disk.ended_tasks.find(job);
  if (ended != disk.ended_tasks.end()) found.insert(ended->second.begin(), ended->second.end());
  return found.size();
}

}  // namespace

Invariants::Invariants(Cluster& cluster, const Users& users)
    : cluster_(cluster),
      users_(users),
      services_({cluster, users, [this](const std::string& text) { broken(text); },
                 [this](std::uint32_t master) { return able_since(master); }}) {
  const Scenario& scenario = cluster.scenario();
  period_ = make_policy(scenario.policy, scenario.catalog).value()->cadence().period;
  for (std::uint32_t i = 0; i < cluster.scenario().masters; ++i) {
    cells_.emplace_back(cluster.scenario().catalog);
    master_at_[cluster.node_of(NodeKind::master, i)] = i;
    cluster.master_disk(i).on_durable = [this, i](const Event& event) { durable(i, event); };
  }
  cluster.network().watch([this](NodeIndex from, NodeIndex to, const caf::message& content) {
    said(from, to, content);
  });
}

Invariants::~Invariants() {
  cluster_.network().watch({});
  for (std::uint32_t i = 0; i < cells_.size(); ++i) cluster_.master_disk(i).on_durable = {};
}

void Invariants::broken(const std::string& text) {
  if (violations_.size() >= kMostKept) {
    ++more_;
    return;
  }
  violations_.push_back(fmt::format("at {:.3f} s, message {}: {}", to_seconds(cluster_.now()),
                                    cluster_.messages(), text));
}

void Invariants::durable(std::uint32_t master, const Event& event) {
  ++events_;
  if (traced_) {
    std::string text;
    append_json(event, cluster_.scenario().catalog, text);
    std::printf("%.3f master %u: %s", to_seconds(cluster_.now()), master, text.c_str());
  }
  Cell& cell = cells_[master];
  if (event.at < cell.newest) {
    broken(fmt::format("master {} wrote an event of {:.3f} s before the last one", master,
                       to_seconds(cell.newest - event.at)));
  }
  cell.newest = std::max(cell.newest, event.at);
  absorb(master, cell, event);
  services_.before(master, event, cell.state);
  cell.ledger.observe(event, cell.state);
  cell.state.apply(event);
  note_turn(cell, event);
  if (std::holds_alternative<RoundDecided>(event.body)) cell.last_round = cluster_.now();
  if (cell.state.pending().empty()) {
    cell.waits_since.reset();
  } else if (!cell.waits_since) {
    cell.waits_since = cluster_.now();
  }
}

/// What is looked up later, as it is before the event.
void Invariants::absorb(std::uint32_t master, Cell& cell, const Event& event) {
  if (const auto* e = std::get_if<JobAccepted>(&event.body)) accepted(master, e->job);
  if (const auto* e = std::get_if<LaunchRequested>(&event.body)) cell.launched.insert(e->instance);
  if (const auto* e = std::get_if<TerminateIssued>(&event.body))
    cell.ended.emplace(e->instance, cluster_.now());
  if (const auto* e = std::get_if<InstanceGone>(&event.body)) cell.gone.insert(e->instance);
  if (const auto* e = std::get_if<LaunchRefused>(&event.body)) cell.gone.insert(e->instance);
  if (const auto* e = std::get_if<StartIssued>(&event.body)) {
    cell.started.insert({e->task, e->attempt});
    check_cancelled(master, job_of(e->task), "starts a task", true);
  }
  if (const auto* e = std::get_if<TaskAssigned>(&event.body)) check_held(master, *e);
  if (const auto* e = std::get_if<TaskFinished>(&event.body)) ends(cell, e->task, e->attempt);
  if (const auto* e = std::get_if<TaskFailed>(&event.body)) ends(cell, e->task, e->attempt);
  if (const auto* e = std::get_if<TaskCheckpointed>(&event.body)) ends(cell, e->task, e->attempt);
  if (const auto* e = std::get_if<JobFinished>(&event.body)) {
    if (e->outcome == JobOutcome::completed) check_cancelled(master, e->job, "completes it", false);
    if (e->outcome == JobOutcome::expired) check_expired(NodeKind::master, master, e->job);
    if (!cell.finished.emplace(e->job, e->outcome).second) {
      broken(fmt::format("job {} ends twice at master {}", e->job.value, master));
    }
  }
}

void Invariants::ends(Cell& cell, TaskId task, Attempt attempt) {
  Attempt& newest = cell.over[task];
  newest = std::max(newest, attempt);
}

void Invariants::accepted(std::uint32_t master, const Job& job) {
  for (const TaskSpec& task : job.tasks) {
    const auto [known, fresh] = tasks_.emplace(task.id, master);
    if (fresh) continue;
    broken(fmt::format("task {} of job {} is accepted by master {} and by master {}",
                       position_of(task.id), job.id.value, known->second, master));
  }
  const bool begins = !parts_.contains(job.id);
  parts_[job.id].insert(master);
  if (!begins) return;
  for (const Submission& submission : users_.submissions()) {
    if (submission.job == job.id) check_begun(submission);
  }
}

/// A job whose cancel was promised is not gone on with: no task of it `starts` when everybody has
/// confirmed it, and when nothing keeps the site from seeing to it, nothing of it is completed.
void Invariants::check_cancelled(std::uint32_t master, JobId job, const std::string& what,
                                 bool starts) {
  for (const Submission& submission : users_.submissions()) {
    if (submission.job != job || !submission.cancel_kept) continue;
    const Instant due =
        std::max(*submission.cancel_kept, cluster_.scenario().faults_end) + kCancelTime;
    if (cluster_.now() <= due && !(starts && submission.cancelled_everywhere)) continue;
    broken(fmt::format(
        "job {} is cancelled, {}, and master {} {}", job.value,
        submission.cancelled_everywhere ? "as everybody has confirmed" : "as a site has promised",
        master, what));
  }
}

/// What was confirmed to users is held against the master.
void Invariants::check_held(std::uint32_t master, const TaskAssigned& place) {
  const JobId job = job_of(place.task);
  const TaskRow* task = cells_[master].state.find(place.task);
  const bool has_none = task != nullptr && task->phase <= TaskPhase::capped;
  if (has_none && users_.holds(master, job)) {
    broken(
        fmt::format("master {} gives a task of job {} a place, and holds it", master, job.value));
  }
  if (users_.drained(place.to)) {
    broken(fmt::format("master {} gives task {} of job {} a place on instance {}, which is drained",
                       master, position_of(place.task), job.value, place.to.value));
  }
}

void Invariants::said(NodeIndex from, NodeIndex to, const caf::message& content) {
  // A longer one would end the connection, and so would the next try.
  if (cluster_.scenario().hard.long_words && encoded_bytes(content) > kLeastMessageBytes) {
    broken(fmt::format("a message of {} bytes goes over a wire", encoded_bytes(content)));
  }
  if (content.match_elements<CloudReport>() && master_at_.contains(to) &&
      content.get_as<CloudReport>(0).kind == CloudReportKind::clock) {
    const auto deaf = deaf_since_.extract(master_at_.at(to));
    if (deaf) deaf_[deaf.key()].push_back({deaf.mapped(), cluster_.now() + kClockLag});
  }
  const auto master = master_at_.find(from);
  if (master != master_at_.end()) said_by_master(master->second, content);
}

/// Whatever leaves a master has been written down before.
void Invariants::said_by_master(std::uint32_t master, const caf::message& content) {
  const Cell& cell = cells_[master];
  if (content.match_elements<end_atom, InstanceId, MasterForCloud>()) {
    cells_[master].ended.emplace(content.get_as<InstanceId>(1), cluster_.now());
  } else if (content.match_elements<launch_atom, LaunchOrder, MasterForCloud>()) {
    const InstanceId id = content.get_as<LaunchOrder>(1).instance;
    if (!cell.launched.contains(id)) {
      broken(fmt::format("instance {} is ordered before that is written down", id.value));
    }
  } else if (content.match_elements<start_atom, TaskOrder>()) {
    const auto& order = content.get_as<TaskOrder>(1);
    if (!cell.started.contains({order.task.id, order.attempt})) {
      broken(fmt::format("attempt {} of task {} is started before that is written down",
                         order.attempt, order.task.id.value));
    }
  } else if (content.match_elements<ack_atom, TaskId, Attempt>()) {
    check_settled(master, content.get_as<TaskId>(1), content.get_as<Attempt>(2));
  } else {
    check_verdicts(master, content);
  }
}

/// Its worker forgets the attempt: that it is over must be known for good.
void Invariants::check_settled(std::uint32_t master, TaskId task, Attempt attempt) {
  const Cell& cell = cells_[master];
  const auto over = cell.over.find(task);
  const bool known = over != cell.over.end() && over->second >= attempt;
  const auto newer = cell.started.lower_bound({task, attempt + 1});
  const bool started_again = newer != cell.started.end() && newer->first == task;
  if (known || started_again || cell.finished.contains(job_of(task))) return;
  broken(fmt::format("attempt {} of task {} of job {} is settled before that is written down",
                     attempt, position_of(task), job_of(task).value));
}

void Invariants::check_verdicts(std::uint32_t master, const caf::message& content) {
  if (!content.match_elements<std::vector<SubmitVerdict>>()) return;
  for (const SubmitVerdict& verdict : content.get_as<std::vector<SubmitVerdict>>(0)) {
    const auto found = parts_.find(verdict.job);
    const bool has = found != parts_.end() && found->second.contains(master);
    if (verdict.accepted && !has) {
      broken(fmt::format("master {} accepts job {} before that is written down", master,
                         verdict.job.value));
    }
  }
}

void Invariants::check() {
  check_promises();
  check_rented();
  check_rounds();
  check_turns();
  check_cloud();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    services_.check(static_cast<std::uint32_t>(i), cells_[i].state);
    for (const std::string& text : cells_[i].state.inconsistencies()) {
      broken(fmt::format("the state of master {}: {}", i, text));
    }
  }
}

/// Every job that was acknowledged is on the disk of a site or of a master, with all its tasks.
void Invariants::check_promises() {
  for (const Submission& submission : users_.submissions()) {
    if (!submission.job || safe_.contains(*submission.job)) continue;
    const std::size_t tasks = submission.wish->job.tasks.size();
    std::set<TaskId> found;
    std::size_t taken = 0;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      const TaskId task = task_id_of(*submission.job, i);
      if (tasks_.contains(task)) found.insert(task), ++taken;
    }
    if (taken == tasks) {
      safe_.insert(*submission.job);
      continue;
    }
    for (std::uint32_t i = 0; i < cluster_.scenario().sites; ++i) {
      handed_tasks(cluster_.site_disk(i), *submission.job, found);
    }
    if (found.size() == tasks) continue;
    broken(fmt::format("job {} was acknowledged, and {} of its {} tasks are nowhere",
                       submission.job->value, tasks - found.size(), tasks));
    safe_.insert(*submission.job);  // said once
  }
}

/// What the cloud rents out, its master knows of; what a master takes for gone is gone.
void Invariants::check_rented() {
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    const Cell& cell = cells_[master_of(id)];
    if (is_over(record)) continue;
    if (!cell.launched.contains(id)) {
      broken(fmt::format("instance {} is rented, and master {} does not know of it", id.value,
                         master_of(id)));
    } else if (cell.gone.contains(id)) {
      broken(fmt::format("instance {} is rented, and master {} takes it for gone", id.value,
                         master_of(id)));
    }
  }
}

/// While tasks wait regular rounds take place, whatever was done to clocks.
void Invariants::check_rounds() {
  if (period_ <= Duration::zero()) return;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    if (!cell.waits_since || !cluster_.runs(NodeKind::master, i)) continue;
    Instant since = std::max(cell.last_round, *cell.waits_since);
    for (const auto& [from, until] : unable_[i]) since = std::max(since, until);
    const Duration passed = cluster_.now() - since;
    if (passed <= period_ + kRoundSlack) continue;
    broken(fmt::format("tasks wait, and master {} has held no round for {:.0f} s", i,
                       to_seconds(passed)));
  }
}

/// What the cloud has to do it does in time, whatever was done to its clock.
void Invariants::check_cloud() {
  const Instant now = cluster_.now();
  const bool runs = cluster_.runs(NodeKind::cloud, 0);
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    const std::string work = work_on(record);
    if (work.empty()) {
      in_work_.erase(id);
      continue;
    }
    auto& [known, since] = in_work_[id];
    if (known != work) {
      known = work;
      since = now;
    }
    const InstanceType& type =
        cluster_.scenario().catalog[*cluster_.scenario().catalog.find(record.type)];
    const Duration allowed = std::max({type.acquire, type.setup, type.terminate}) + kCloudSlack;
    Instant able = std::max(since, cloud_unable_);
    // A record of which the store said that it is not there, and is: the cloud knows nothing of it
    // before its master orders the instance again.
    if (!record.up_at) {
      for (const auto& [from, until] : unable_[master_of(id)]) able = std::max(able, until);
    }
    if (!runs || now - able <= allowed) continue;
    broken(fmt::format("instance {} is to be {} for {:.0f} s already", id.value, work,
                       to_seconds(now - since)));
  }
}

/// An instance as its master and the cloud have it.
std::string Invariants::standing(const InstanceRow& row) const {
  static constexpr const char* kPhases[] = {"requested", "booting", "ready", "terminating"};
  const auto& records = cluster_.cloud_disk().records;
  const auto record = records.find(row.id);
  const std::string state =
      record == records.end() ? "unknown" : std::string(name_of(state_of(record->second)));
  return fmt::format("{}, {} tasks; {} for the cloud", kPhases[static_cast<int>(row.phase)],
                     row.occupants.size(), state);
}

/// A job that a site has on its disk, and why it may still be there.
std::string handoff_of(const Job& job, std::uint32_t site) {
  std::string text =
      fmt::format("site {} has job {}{}", site, job.id.value, job.held ? " held" : "");
  if (job.begin)
    text += fmt::format(" to begin at {:.0f}", to_seconds(job.begin->time_since_epoch()));
  if (job.deadline)
    text += fmt::format(" until {:.0f}", to_seconds(job.deadline->time_since_epoch()));
  for (const AfterJob& after : job.after) {
    text += fmt::format(" after {}:{}{}", after.job.value, name_of(after.end),
                        after.met ? " (met)" : "");
  }
  return text + "; ";
}

std::string Invariants::rest_of(const Submission& submission) const {
  const auto parts = parts_.find(*submission.job);
  std::size_t open = 0, tasks = 0;
  std::set<TaskId> ended;
  for (std::uint32_t i = 0; i < cluster_.scenario().sites; ++i) {
    const auto& there = cluster_.site_disk(i).ended_tasks;
    const auto found = there.find(*submission.job);
    if (found != there.end()) ended.insert(found->second.begin(), found->second.end());
  }
  for (std::uint32_t i = 0; i < submission.wish->job.tasks.size(); ++i) {
    const TaskId task = task_id_of(*submission.job, i);
    tasks += tasks_.contains(task) || ended.contains(task);
  }
  if (parts != parts_.end()) {
    for (const std::uint32_t master : parts->second) {
      open += !cells_[master].finished.contains(*submission.job);
    }
  }
  if (tasks == submission.wish->job.tasks.size() && open == 0) return {};
  std::string text = fmt::format("job {} ({} tasks{}) has {} tasks at masters and {} parts open; ",
                                 submission.job->value, submission.wish->job.tasks.size(),
                                 submission.wish->job.gang ? ", a gang" : "", tasks, open);
  for (std::uint32_t i = 0; i < cluster_.scenario().sites; ++i) {
    for (const auto& [key, job] : cluster_.site_disk(i).handoffs) {
      if (key.first == *submission.job) text += handoff_of(job, i);
    }
  }
  return text;
}

std::string Invariants::rest(bool all) const {
  std::string text = users_.content() ? "" : users_.trouble() + "users wait; ";
  for (const Submission& submission : users_.submissions()) {
    if (submission.job && (all || !submission.wish->hopeless)) text += rest_of(submission);
  }
  if (!all) return text;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!is_over(record)) text += fmt::format("instance {} is rented; ", id.value);
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    for (const JobRow& row : cells_[i].state.jobs()) {
      text += fmt::format("master {} has job {}; ", i, row.job.id.value);
    }
    for (const InstanceRow& row : cells_[i].state.instances()) {
      text += fmt::format("master {} has instance {} ({}); ", i, row.id.value, standing(row));
    }
  }
  for (const Machine* machine : cluster_.machines().running()) {
    text += fmt::format("a machine of instance {} runs; ", machine->instance.value);
  }
  return text;
}

void Invariants::check_end() {
  check();
  for (const Submission& submission : users_.submissions()) check_job(submission);
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const std::vector<Event>& events = cluster_.master_disk(i).events;
    for (const std::string& text : metrics::check_run(events, cluster_.scenario().catalog)) {
      broken(fmt::format("the log of master {}: {}", i, text));
    }
  }
  for (std::uint32_t i = 0; i < cells_.size(); ++i) check_fold(i);
  check_money();
  check_caps();
  if (more_ > 0) violations_.push_back(fmt::format("and {} more", more_));
}

/// Every acknowledged job has ended once, as it had to. Services have laws of their own.
void Invariants::check_job(const Submission& submission) {
  if (!submission.job || submission.wish->is_service()) return;
  check_after(submission);
  check_told(submission);
  const JobId job = *submission.job;
  const std::uint32_t attempts = submission.wish->job.retries
                                     ? *submission.wish->job.retries + 1
                                     : cluster_.scenario().master.max_attempts;
  bool may_fail = submission.cancelled;
  for (std::uint32_t i = 0; i < submission.wish->job.tasks.size(); ++i) {
    const std::uint64_t failures = cluster_.machines().failures(task_id_of(job, i));
    may_fail = may_fail || failures >= attempts;
  }
  if (may_fail) return;
  // What may run on the spot market alone, and gets nowhere there, is refused, and what has a
  // deadline may expire; with one part of a job the others are over, too.
  const bool spot = submission.wish->job.markets == MarketChoice::spot;
  const bool interrupted = spot && cluster_.scenario().interruptions_per_h > 0;
  const bool may_expire = submission.wish->job.deadline.has_value();
  const bool may_be_over = std::ranges::any_of(parts_[job], [&](std::uint32_t master) {
    const auto outcome = cells_[master].finished.find(job);
    if (outcome == cells_[master].finished.end()) return false;
    return (interrupted && outcome->second == JobOutcome::refused) ||
           (may_expire && outcome->second == JobOutcome::expired);
  });
  if (may_be_over) return;
  for (const std::uint32_t master : parts_[job]) {
    const auto outcome = cells_[master].finished.find(job);
    if (outcome == cells_[master].finished.end()) continue;
    if (outcome->second == JobOutcome::completed) continue;
    broken(fmt::format("job {} is {} at master {}, and nobody wanted that", job.value,
                       name_of(outcome->second), master));
  }
}

}  // namespace muster::ring
