#include "tests/simulation/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "actors/cloud/rented.hpp"
#include "model/live_ids.hpp"
#include "storage/event_json.hpp"
#include "tools/replay/metrics.hpp"

namespace muster::ring {
namespace {

constexpr std::size_t kMostKept = 8;

/// What the cloud does about an instance takes at most so much longer than its type says: there are
/// disks, and workers' processes that have to end.
constexpr Duration kCloudSlack = std::chrono::minutes{1};

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
  auto it = disk.handoffs.lower_bound({job, HandTarget{}});
  for (; it != disk.handoffs.end() && it->first.first == job; ++it) {
    for (const TaskSpec& task : it->second.tasks) found.insert(task.id);
  }
  const auto ended = disk.ended_tasks.find(job);
  if (ended != disk.ended_tasks.end()) found.insert(ended->second.begin(), ended->second.end());
  return found.size();
}

}  // namespace

Invariants::Invariants(Cluster& cluster, const Users& users) : cluster_(cluster), users_(users) {
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
  cell.ledger.observe(event, cell.state);
  cell.state.apply(event);
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
    cell.ended.emplace(e->instance, event.at);
  if (const auto* e = std::get_if<InstanceGone>(&event.body)) cell.gone.insert(e->instance);
  if (const auto* e = std::get_if<LaunchRefused>(&event.body)) cell.gone.insert(e->instance);
  if (const auto* e = std::get_if<StartIssued>(&event.body)) {
    cell.started.insert({e->task, e->attempt});
  }
  if (const auto* e = std::get_if<TaskFinished>(&event.body)) {
    cell.over.insert({e->task, e->attempt});
  }
  if (const auto* e = std::get_if<JobFinished>(&event.body)) {
    if (!cell.finished.emplace(e->job, e->outcome).second) {
      broken(fmt::format("job {} ends twice at master {}", e->job.value, master));
    }
  }
}

void Invariants::accepted(std::uint32_t master, const Job& job) {
  for (const TaskSpec& task : job.tasks) {
    const auto [known, fresh] = tasks_.emplace(task.id, master);
    if (fresh) continue;
    broken(fmt::format("task {} of job {} is accepted by master {} and by master {}",
                       position_of(task.id), job.id.value, known->second, master));
  }
  parts_[job.id].insert(master);
}

void Invariants::said(NodeIndex from, NodeIndex, const caf::message& content) {
  const auto master = master_at_.find(from);
  if (master != master_at_.end()) said_by_master(master->second, content);
}

/// Whatever leaves a master has been written down before.
void Invariants::said_by_master(std::uint32_t master, const caf::message& content) {
  const Cell& cell = cells_[master];
  if (content.match_elements<launch_atom, LaunchOrder, MasterActor>()) {
    const InstanceId id = content.get_as<LaunchOrder>(1).instance;
    if (!cell.launched.contains(id)) {
      broken(fmt::format("instance {} is ordered before that is written down", id.value));
    }
  } else if (content.match_elements<start_atom, StartOrder>()) {
    const auto& order = content.get_as<StartOrder>(1);
    if (!cell.started.contains({order.task.id, order.attempt})) {
      broken(fmt::format("attempt {} of task {} is started before that is written down",
                         order.attempt, order.task.id.value));
    }
  } else {
    check_verdicts(master, content);
  }
}

void Invariants::check_verdicts(std::uint32_t master, const caf::message& content) {
  if (!content.match_elements<std::vector<AcceptVerdict>>()) return;
  for (const AcceptVerdict& verdict : content.get_as<std::vector<AcceptVerdict>>(0)) {
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
  check_cloud();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
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
    if (!runs || now - std::max(since, cloud_unable_) <= allowed) continue;
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
  return fmt::format("job {} ({} tasks{}) has {} tasks at masters and {} parts open; ",
                     submission.job->value, submission.wish->job.tasks.size(),
                     submission.wish->job.gang ? ", a gang" : "", tasks, open);
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
    for (const std::string& text : replay::check_run(events, cluster_.scenario().catalog)) {
      broken(fmt::format("the log of master {}: {}", i, text));
    }
  }
  check_money();
  check_caps();
  if (more_ > 0) violations_.push_back(fmt::format("and {} more", more_));
}

/// Every acknowledged job has ended once, as it had to.
void Invariants::check_job(const Submission& submission) {
  if (!submission.job) return;
  const JobId job = *submission.job;
  bool may_fail = submission.cancelled;
  for (std::uint32_t i = 0; i < submission.wish->job.tasks.size(); ++i) {
    const std::uint64_t failures = cluster_.machines().failures(task_id_of(job, i));
    may_fail = may_fail || failures >= cluster_.scenario().master.max_attempts;
  }
  if (may_fail) return;
  for (const std::uint32_t master : parts_[job]) {
    const auto outcome = cells_[master].finished.find(job);
    if (outcome == cells_[master].finished.end()) continue;
    if (outcome->second == JobOutcome::completed) continue;
    broken(fmt::format("job {} is {} at master {}, and nobody wanted that", job.value,
                       name_of(outcome->second), master));
  }
}

/// The instances that their masters' logs bill for another time than the cloud's book.
std::string Invariants::differences() const {
  std::map<InstanceId, Instant> from, until;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    for (const Event& event : cluster_.master_disk(i).events) {
      if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
        from[up->instance] = up->billed_from.value_or(event.at);
      } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
        until[gone->instance] = gone->billed_until.value_or(event.at);
      }
    }
  }
  std::string text;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.up_at || !record.gone_at) continue;
    if (!from.contains(id)) {
      text += fmt::format("instance {} is not billed at its master; ", id.value);
    } else if (until[id] - from[id] != *record.gone_at - *record.up_at) {
      text += fmt::format(
          "instance {} is billed from {:.3f} s to {:.3f} s instead of {:.3f} s to "
          "{:.3f} s; ",
          id.value, to_seconds(from[id]), to_seconds(until[id]), to_seconds(*record.up_at),
          to_seconds(*record.gone_at));
    }
  }
  return text;
}

/// Ledger = bill = log.
void Invariants::check_money() {
  Money ledgers, logs, records;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const Ledger& ledger = cells_[i].ledger;
    ledgers += ledger.total();
    Money parts = ledger.tasks();
    for (const Idleness kind :
         {Idleness::boot, Idleness::idle, Idleness::drain, Idleness::fragmentation}) {
      parts += ledger.idleness(kind);
    }
    if (!(parts == ledger.total())) broken("the parts of a ledger do not add up");
  }
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    records += charge_of(record, record.gone_at.value_or(Instant{}));
  }
  if (!(ledgers == records)) {
    broken(fmt::format("the ledgers say ${:.9f}, the cloud's book ${:.9f}; {}", ledgers.usd(),
                       records.usd(), differences()));
  }
  if (!(cluster_.bill().total == records)) {
    broken(fmt::format("the cloud's bill is ${:.9f}, its book says ${:.9f}",
                       cluster_.bill().total.usd(), records.usd()));
  }
}

void Invariants::excuse(std::uint32_t master, Instant from, Instant until) {
  unable_[master].push_back({from, until});
}

/// When an end of the instance could not be ordered, or was and the cloud took longer for it than
/// it may; by the cloud's clock.
Invariants::Spans Invariants::in_the_way(const RentedRecord& record) const {
  const std::uint32_t master = master_of(record.instance);
  const Duration offset = cluster_.scenario().offsets.back();
  Spans spans;
  if (const auto found = unable_.find(master); found != unable_.end()) {
    for (const auto& [from, until] : found->second)
      spans.push_back({from + offset, until + offset});
  }
  const auto ended = cells_[master].ended.find(record.instance);
  if (ended != cells_[master].ended.end()) {
    Duration allowed{};
    for (const InstanceType& type : cluster_.scenario().catalog.types()) {
      allowed = std::max(allowed, type.terminate);
    }
    allowed += cluster_.scenario().master.end_time;
    spans.push_back({ended->second + allowed, *record.gone_at});
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

/// What the instance cost in the time of the cloud's clock, less what no master could have spared.
Money Invariants::counted(const RentedRecord& record, Instant from, Instant to) const {
  Duration left{};
  for (const auto& [begin, end] : in_the_way(record)) {
    if (end <= begin) continue;
    if (begin > from) left += std::min(begin, to) - from;
    from = std::max(from, end);
    if (from >= to) break;
  }
  return Money::of(record.price, left + std::max(to - from, Duration::zero()));
}

/// No master spends more in a day than it may.
void Invariants::check_caps() {
  const double cap = cluster_.scenario().master.max_usd_day;
  if (cap <= 0) return;
  constexpr Duration kDay = std::chrono::hours{24};
  std::map<std::pair<std::uint32_t, std::int64_t>, Money> spent;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.up_at || !record.gone_at) continue;
    for (Instant from = *record.up_at; from < *record.gone_at;) {
      const std::int64_t day = from.time_since_epoch() / kDay;
      const Instant to = std::min(*record.gone_at, Instant{(day + 1) * kDay});
      spent[{master_of(id), day}] += counted(record, from, to);
      from = to;
    }
  }
  for (const auto& [key, money] : spent) {
    if (money.usd() <= cap) continue;
    broken(fmt::format("master {} spent ${:.6f} of ${:.6f} in a day", key.first, money.usd(), cap));
  }
}

}  // namespace muster::ring
