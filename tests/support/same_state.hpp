#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/state_snapshot.hpp"

// Compares states member by member; a member that is added to a row stops the compilation here.

namespace muster::test {

inline bool same(const JobRow& a, const JobRow& b) {
  const auto& [job, slot, accepted_at, tasks, pending, held, capped, running, finished,
               held_by_user, terminal_outcome, held_from, links, gang, starting, stopping, counted,
               failed, width, done, confined, replicas, settled, progressed_at, failed_update,
               last_revision, wanted, leaving, awaiting, started] = a;
  static_cast<void>(links);
  return job == b.job && slot == b.slot && accepted_at == b.accepted_at && tasks == b.tasks &&
         pending == b.pending && held == b.held && capped == b.capped && running == b.running &&
         finished == b.finished && held_by_user == b.held_by_user &&
         terminal_outcome == b.terminal_outcome && held_from == b.held_from && gang == b.gang &&
         starting == b.starting && stopping == b.stopping && counted == b.counted &&
         failed == b.failed && width == b.width && done == b.done && confined == b.confined &&
         replicas == b.replicas && settled == b.settled && progressed_at == b.progressed_at &&
         failed_update == b.failed_update && last_revision == b.last_revision &&
         wanted == b.wanted && leaving == b.leaving && awaiting == b.awaiting &&
         started == b.started;
}

inline bool same(const TaskRow& a, const TaskRow& b) {
  const auto& [id, slot, job, index, cls, shape, phase, attempt, at, target, held, planned, reason,
               seen_load, seen_upload, links, queued, blocks_gang, told, started_at, ran, fruitless,
               metrics, replica, setbacks, rests_until, wanted, ready_since, awaits] = a;
  static_cast<void>(links);
  static_cast<void>(queued);  // rises along the list; its values mean nothing
  return id == b.id && slot == b.slot && job == b.job && index == b.index && cls == b.cls &&
         shape == b.shape && phase == b.phase && attempt == b.attempt && at == b.at &&
         target == b.target && held == b.held && planned == b.planned && reason == b.reason &&
         seen_load == b.seen_load && seen_upload == b.seen_upload && blocks_gang == b.blocks_gang &&
         told == b.told && started_at == b.started_at && ran == b.ran && fruitless == b.fruitless &&
         metrics == b.metrics && (replica == nullptr) == (b.replica == nullptr) &&
         (replica == nullptr || *replica == *b.replica) && setbacks == b.setbacks &&
         rests_until == b.rests_until && wanted == b.wanted && ready_since == b.ready_since &&
         awaits == b.awaits;
}

inline bool same(const InstanceRow& a, const InstanceRow& b) {
  const auto& [id, slot, type, market, price, phase, up, released, requested_at, up_at, occupants,
               planned, used, committed, links, zone, max_price, earlier, same_offering, owned,
               own_checkpoints] = a;
  static_cast<void>(links);
  static_cast<void>(same_offering);
  return id == b.id && slot == b.slot && type == b.type && market == b.market && price == b.price &&
         phase == b.phase && up == b.up && released == b.released &&
         requested_at == b.requested_at && up_at == b.up_at && occupants == b.occupants &&
         planned == b.planned && used == b.used && committed == b.committed && zone == b.zone &&
         max_price == b.max_price && earlier == b.earlier_prices && owned == b.owned &&
         own_checkpoints == b.own_checkpoints;
}

template <class Row>
bool same(const std::vector<Row>& a, const std::vector<Row>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Row& x, const Row& y) { return same(x, y); });
}

/// What differs first; empty when nothing does.
inline std::string difference(const ClusterState& one, const ClusterState& other) {
  const StateSnapshot a = snapshot_of(one);
  const StateSnapshot b = snapshot_of(other);
  if (!same(a.jobs, b.jobs)) return "jobs";
  if (!same(a.tasks, b.tasks)) return "tasks";
  if (!same(a.instances, b.instances)) return "instances";
  if (a.free_jobs != b.free_jobs) return "free jobs";
  if (a.free_tasks != b.free_tasks) return "free tasks";
  if (a.free_instances != b.free_instances) return "free instances";
  if (a.active != b.active) return "order of jobs";
  if (a.pending != b.pending) return "order of pending tasks";
  if (a.assigned != b.assigned) return "order of assigned tasks";
  if (a.live != b.live) return "order of instances";
  if (a.class_names != b.class_names) return "classes";
  if (a.idle_classes != b.idle_classes) return "classes that no task has";
  if (a.shapes != b.shapes) return "shapes";
  if (a.offerings_known != b.offerings_known) return "number of the newest change of an offering";
  if (one.offerings().rows() != other.offerings().rows()) return "offerings";
  return {};
}

inline std::string difference(const Ledger& one, const Ledger& other) {
  const LedgerSnapshot a = snapshot_of(one);
  const LedgerSnapshot b = snapshot_of(other);
  if (!(a.total == b.total)) return "total";
  if (a.idle != b.idle) return "idleness";
  if (!(a.closed_tasks == b.closed_tasks)) return "closed tasks";
  if (a.by_task != b.by_task) return "amounts of tasks";
  if (a.settled_until != b.settled_until) return "times of settlement";
  return {};
}

}  // namespace muster::test
