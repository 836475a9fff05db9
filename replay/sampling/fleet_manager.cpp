#include "replay/sampling/fleet_manager.hpp"

#include <utility>

#include "model/check.hpp"

namespace muster::sampling {

FleetManager::FleetManager(caf::actor_config& config, GroupShared& group, const Fleet& fleet,
                           CloudForMasters cloud)
    : FleetManagerActor::base(config),
      group_(group),
      timer_(this, group.origin),
      fleet_(fleet),
      cloud_(std::move(cloud)) {}

void FleetManager::on_exit() {
  rented_.clear();
  cloud_ = nullptr;
}

FleetManagerActor::behavior_type FleetManager::make_behavior() {
  rent();
  return {
      [this](drain_atom, InstanceId id) { return give_back(id); },
      [this](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
        on_hello(hello.instance, worker);
      },
      [this](const WorkerReport& report) { on_worker(report); },
      [](const SampleAnswer&) {
      },  // a worker may tell of a job's pace unasked; here it counts for nothing
      [](const LogAnswer&) {},      // no output is asked for
      [](const MetricsReport&) {},  // these policies do not look at them
      [](const FilledLogs&) {},     // no output is kept
      [](const ExecAnswer&) {},     // no command is asked about
      [](const UsageAnswer&) {},    // nor is usage
      [this](const CloudReport& report) { on_cloud(report); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

void FleetManager::rent() {
  for (const FleetShare& share : fleet_) {
    for (std::uint32_t i = 0; i < share.count; ++i) {
      const InstanceId id{rented_.size()};
      rented_[id].type = share.type;
      // On record before the order leaves, as with any master.
      const Price price = group_.catalog->price(share.type, share.market);
      group_.event_log->record(
          LaunchRequested{id, share.type, share.market, price, {CauseCode::fleet, 0}, {}, price},
          timer_.now());
      send(cloud_, launch_atom_v,
           LaunchOrder{id,
                       (*group_.catalog)[share.type].name,
                       static_cast<std::uint8_t>(share.market),
                       {},
                       price},
           MasterForCloud{this});
    }
  }
  expected_ = rented_.size();
}

caf::result<InstanceId> FleetManager::give_back(InstanceId id) {
  const auto found = rented_.find(id);
  // While jobs are open the workers are needed: a group cannot do without one.
  if (found == rented_.end() || group_.event_log->open_jobs() > 0) return ActorError::unknown;
  if (!std::exchange(found->second.ended, true)) {
    group_.event_log->record(ReleaseDecided{id, {CauseCode::drained, 0}}, timer_.now());
    group_.event_log->record(TerminateIssued{id}, timer_.now());
    send(cloud_, end_atom_v, id, MasterForCloud{this});
  }
  return id;
}

void FleetManager::on_hello(InstanceId id, const WorkerActor& worker) {
  const auto found = rented_.find(id);
  // A worker may say hello more than once.
  if (found == rented_.end() || found->second.worker) return;
  found->second.worker = worker;
  group_.event_log->record(InstanceReady{id}, timer_.now());
  --expected_;
  open_when_complete();
}

void FleetManager::on_worker(const WorkerReport& report) {
  if (report.kind == WorkerReportKind::started)
    return group_.event_log->started(report, timer_.now());
  MUSTER_CHECK(report.kind == WorkerReportKind::finished,
               "tasks of a group are never stopped, and its workers never overfilled");
  const std::optional<JobId> over = group_.event_log->finished(report, timer_.now());
  // The end is on record: its worker may forget the attempt.
  send(rented_.at(report.instance).worker, ack_atom_v, report.task, report.attempt);
  if (!over || group_.composition->schedulers_end_jobs()) return;
  group_.event_log->close(*over, JobOutcome::completed, timer_.now());
  send(group_.site, over_atom_v, JobEnd{*over, JobOutcome::completed});
}

void FleetManager::on_cloud(const CloudReport& report) {
  const auto found = rented_.find(report.instance);
  if (found == rented_.end()) return;
  // The cloud's own time is recorded where it differs from that of the news.
  const auto said = report.at == timer_.now() ? std::nullopt : std::optional(report.at);
  switch (report.kind) {
    case CloudReportKind::up:
      if (std::exchange(found->second.up, true)) return;
      group_.event_log->record(InstanceUp{report.instance, said}, timer_.now());
      return;
    case CloudReportKind::refused:
      group_.event_log->record(
          LaunchRefused{report.instance,
                        {RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 1, 0},
                        report.reason},
          timer_.now());
      rented_.erase(found);
      --expected_;
      return open_when_complete();
    case CloudReportKind::gone:
      group_.event_log->record(
          InstanceGone{report.instance, said,
                       found->second.ended ? CloudReason::ended : report.reason},
          timer_.now());
      rented_.erase(found);
      return;
    case CloudReportKind::notice:
    case CloudReportKind::clock:
    case CloudReportKind::offerings:
      return;  // its fleet is on demand, and its money is not capped
  }
}

/// From now on the workers have numbers, in the order of their instances.
/// Opens once, when the last instance has come up or was refused: schedulers draw from a roster
/// that does not change any more.
void FleetManager::open_when_complete() {
  if (expected_ > 0) return;
  group_.roster.catalog = group_.catalog;
  for (const auto& [id, rented] : rented_) {
    group_.roster.types.push_back(rented.type);
    // The composer of the group starts GroupMember actors as its workers.
    group_.members.push_back({id, caf::actor_cast<GroupWorker>(rented.worker)});
  }
  if (group_.composition->fault(group_.members.size()).empty()) {
    for (WorkerIndex i = 0; i < group_.members.size(); ++i) {
      send(group_.members[i].worker, group_.membership(i));
    }
    for (const GroupScheduler& scheduler : group_.schedulers) send(scheduler, open_atom_v);
  }
  send(group_.site, open_atom_v);
}

}  // namespace muster::sampling
