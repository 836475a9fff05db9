#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/expected.hpp"
#include "model/ledger.hpp"

namespace muster {

/// A cluster state as plain data: living rows with their slots, and every order that later changes
/// depend on. The links of the rows mean nothing here; the lists have that information.
struct StateSnapshot {
  std::vector<JobRow> jobs;  ///< by rising slots, as all rows
  std::vector<TaskRow> tasks;
  std::vector<InstanceRow> instances;
  std::vector<Slot> free_jobs, free_tasks, free_instances;  ///< the last one is used first
  std::vector<Slot> active;                                 ///< jobs, in the order of the list
  std::vector<Slot> pending, assigned;                      ///< tasks, likewise
  std::vector<Slot> live;                                   ///< instances, likewise
  std::vector<std::string> class_names;
  std::vector<std::uint32_t> idle_classes;  ///< positions in these; see ClassTable::Snapshot
  std::vector<Shape> shapes;
  std::uint64_t offerings_known = 0;     ///< number of the newest change
  std::vector<OfferingRow> offerings{};  ///< those that changes have told of
};

/// A ledger as plain data, by rising ids.
struct LedgerSnapshot {
  Money total;
  std::array<Money, kOverheadKinds> idle{};
  Money closed_tasks;
  std::vector<std::pair<TaskId, Money>> by_task;
  std::vector<std::pair<InstanceId, SettledBill>> settled_until;
};

enum class SnapshotError : std::uint8_t { inconsistent };

/// All that restore() needs to make an equal one.
StateSnapshot snapshot_of(ClusterState state);
LedgerSnapshot snapshot_of(const Ledger& ledger);

/// The state that snapshot_of() was given, row by row and order by order. A snapshot that no state
/// can have is refused; the message names what is wrong with it. The catalog has to outlive the
/// state.
Expected<ClusterState, SnapshotError> restore(StateSnapshot snapshot, const Catalog& catalog);
/// The ledger of the state.
Ledger restore(const LedgerSnapshot& snapshot, const ClusterState& state);

}  // namespace muster
