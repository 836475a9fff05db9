#include "model/state_snapshot.hpp"

#include <algorithm>
#include <optional>

// A snapshot holds rows and orders; counts, sums and indexes follow from them (derive). A
// snapshot that is read is checked before anything is built, since the state's own code trusts its
// links.

namespace muster {

/// The one that may look into a state and a ledger, and put one together.
struct StateSnapshotAccess {
  static StateSnapshot take(ClusterState state);
  static ClusterState build(StateSnapshot snapshot, const Catalog& catalog);
  static LedgerSnapshot take(const Ledger& ledger);
  static Ledger build(const LedgerSnapshot& snapshot, const ClusterState& state);
};

namespace {

/// Moves the rows out of the table: the caller's copy of the state is used up.
/// The rows in use, in the order of their slots.
template <class Row>
std::vector<Row> take_live(std::vector<Row>& table, const std::vector<Slot>& free) {
  std::vector<bool> is_free(table.size());
  for (Slot slot : free) is_free[slot] = true;
  std::vector<Row> live;
  live.reserve(table.size() - free.size());
  for (Slot slot = 0; slot < table.size(); ++slot) {
    if (!is_free[slot]) live.push_back(std::move(table[slot]));
  }
  return live;
}

template <class Range>
std::vector<Slot> slots_of(const Range& rows) {
  std::vector<Slot> slots;
  slots.reserve(rows.size());
  for (const auto& row : rows) slots.push_back(row.slot);
  return slots;
}

// Slots of the table that no row takes stay default rows: they are on the free list.
template <class Row>
std::vector<Row> table_of(std::vector<Row> live, const std::vector<Slot>& free) {
  std::vector<Row> table(live.size() + free.size());
  for (Row& row : live) {
    const Slot slot = row.slot;
    table[slot] = std::move(row);
  }
  return table;
}

template <class Row, SlotLinks Row::*kLinks>
void link(SlotList<Row, kLinks>& list, std::vector<Row>& table, const std::vector<Slot>& order) {
  for (Slot slot : order) list.append(table, slot);
}

/// A hash map's order differs from run to run; snapshots of equal states have equal bytes.
template <class Key, class Value>
std::vector<std::pair<Key, Value>> sorted(const std::unordered_map<Key, Value>& map) {
  std::vector<std::pair<Key, Value>> pairs(map.begin(), map.end());
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return pairs;
}

/// Looks for what no state can have, before anything is built that relies on it.
class SnapshotCheck {
 public:
  SnapshotCheck(const StateSnapshot& snapshot, const Catalog& catalog)
      : snapshot_(snapshot), catalog_(catalog) {}

  /// The fault of the snapshot; nothing when a state can be built from it.
  std::optional<std::string> problem() {
    // In this order: the later checks follow slots that the earlier ones have found inside the
    // tables.
    if (!tables_fit() || !rows_fit() || !lists_fit()) return problem_;
    return std::nullopt;
  }

 private:
  bool wrong(std::string what) {
    problem_ = std::move(what);
    return false;
  }

  /// Every slot of a table belongs to one row or is free, once; ids are used once.
  template <class Row, class IdOf>
  bool table_fits(const std::vector<Row>& live, const std::vector<Slot>& free, IdOf id_of,
                  std::vector<const Row*>& by_slot) {
    // Live and free slots together are the table: its size follows and is not trusted to a number.
    by_slot.assign(live.size() + free.size(), nullptr);
    std::vector<bool> seen(by_slot.size());
    const auto claim = [&](Slot slot) {
      if (slot >= seen.size() || seen[slot]) return false;
      seen[slot] = true;
      return true;
    };
    // Sorted once, which costs less than a set of as many ids.
    std::vector<std::uint64_t> ids;
    for (const Row& row : live) {
      if (!claim(row.slot)) return wrong("two rows share a slot, or one is outside of its table");
      by_slot[row.slot] = &row;
      ids.push_back(id_of(row));
    }
    for (Slot slot : free) {
      if (!claim(slot)) return wrong("a slot is free twice, or free and in use");
    }
    std::sort(ids.begin(), ids.end());
    const bool once = std::adjacent_find(ids.begin(), ids.end()) == ids.end();
    return once || wrong("two rows have the same id");
  }

  bool tables_fit() {
    return table_fits(
               snapshot_.jobs, snapshot_.free_jobs,
               [](const JobRow& row) { return row.job.id.value; }, jobs_) &&
           table_fits(
               snapshot_.tasks, snapshot_.free_tasks,
               [](const TaskRow& row) { return row.id.value; }, tasks_) &&
           table_fits(
               snapshot_.instances, snapshot_.free_instances,
               [](const InstanceRow& row) { return row.id.value; }, instances_);
  }

  bool rows_fit() {
    std::size_t tasks_of_jobs = 0;
    for (const JobRow& job : snapshot_.jobs) {
      if (!job_fits(job)) return false;
      tasks_of_jobs += job.tasks.size();
    }
    if (tasks_of_jobs != snapshot_.tasks.size()) return wrong("a task belongs to no job");
    std::size_t at = 0;
    std::size_t targeted = 0;
    for (const TaskRow& task : snapshot_.tasks) {
      at += task.at != kNoSlot;
      targeted += task.target != kNoSlot;
    }
    for (const InstanceRow& row : snapshot_.instances) {
      if (row.type.value >= catalog_.size()) return wrong("an instance is of no known type");
      if (!are_on(row, row.occupants, &TaskRow::at)) return false;
      if (!are_on(row, row.planned, &TaskRow::target)) return false;
      // As many tasks say that they are here as instances say that they have: with are_on() above,
      // which looks from the instances' side, the two agree.
      at -= row.occupants.size();
      targeted -= row.planned.size();
    }
    return (at == 0 && targeted == 0) || wrong("a task is at an instance that does not know it");
  }

  bool job_fits(const JobRow& job) {
    const std::string name = "job " + std::to_string(job.job.id.value);
    if (job.tasks.empty() || job.tasks.size() != job.job.tasks.size()) {
      return wrong(name + " has another number of tasks than its specification");
    }
    const bool elastic = std::holds_alternative<ElasticSpec>(job.job.kind);
    if (elastic != (job.width > 0) || job.width > job.tasks.size()) {
      return wrong(name + " has a width that it cannot have");
    }
    const bool is_service = job.job.service() != nullptr;
    if (job.replicas > (is_service ? job.tasks.size() : 0)) {
      return wrong(name + " has a number of replicas that it cannot have");
    }
    for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
      const TaskRow* task = job.tasks[i] < tasks_.size() ? tasks_[job.tasks[i]] : nullptr;
      // Links are checked both ways: the job names its task and the task its job.
      if (task == nullptr || task->job != job.slot || task->index != i ||
          task->id != job.job.tasks[i].id) {
        return wrong(name + " does not have the tasks of its specification");
      }
      const bool waits = task->phase == TaskPhase::pending || task->target != kNoSlot;
      const bool leaves = task->at != kNoSlot && task->target == task->at;
      if (is_service ? !task->wanted && waits && !leaves : task->wanted) {
        return wrong(name + " has a replica that it does not want, or is no service");
      }
      if (task->awaits && (waits || task->at != kNoSlot || !waits_by_index(job.job))) {
        return wrong(name + " has a task that waits for a counterpart and for a place");
      }
      if (task->cls.value >= snapshot_.class_names.size() ||
          snapshot_.class_names[task->cls.value] != job.job.workload_class ||
          task->shape.value >= snapshot_.shapes.size() ||
          snapshot_.shapes[task->shape.value].demands != job.job.tasks[i].demands) {
        return wrong(name + " has a task of another class, or with other demands");
      }
    }
    return true;
  }

  bool are_on(const InstanceRow& row, const std::vector<Slot>& list, Slot TaskRow::*place) {
    const std::string name = "instance " + std::to_string(row.id.value);
    std::vector<Slot> once = list;
    std::sort(once.begin(), once.end());
    if (std::adjacent_find(once.begin(), once.end()) != once.end()) {
      return wrong(name + " has a task twice");
    }
    for (Slot slot : list) {
      const TaskRow* task = slot < tasks_.size() ? tasks_[slot] : nullptr;
      if (task == nullptr || task->*place != row.slot) {
        return wrong(name + " has a task that is elsewhere");
      }
      // Grants of older snapshots are filled in from these demands, which therefore have to exist.
      if (snapshot_.shapes[task->shape.value].demands.on(catalog_[row.type].family) == nullptr) {
        return wrong(name + " has a task that cannot run on its family");
      }
    }
    return true;
  }

  bool lists_fit() {
    const auto in_phase = [](TaskPhase phase) {
      return [phase](const TaskRow& row) { return row.phase == phase; };
    };
    const auto any = [](const auto&) { return true; };
    return list_fits("jobs", snapshot_.active, jobs_, any) &&
           list_fits("pending tasks", snapshot_.pending, tasks_, in_phase(TaskPhase::pending)) &&
           list_fits("assigned tasks", snapshot_.assigned, tasks_, in_phase(TaskPhase::assigned)) &&
           list_fits("instances", snapshot_.live, instances_, any);
  }

  /// The list holds every row that belongs to it, once, and no other.
  template <class Row, class Belongs>
  bool list_fits(const char* name, const std::vector<Slot>& list,
                 const std::vector<const Row*>& table, Belongs belongs) {
    std::vector<bool> listed(table.size());
    for (Slot slot : list) {
      if (slot >= table.size() || table[slot] == nullptr || listed[slot] ||
          !belongs(*table[slot])) {
        return wrong(std::string("the list of ") + name + " holds something that it should not");
      }
      listed[slot] = true;
    }
    const auto expected = std::count_if(table.begin(), table.end(), [&](const Row* row) {
      return row != nullptr && belongs(*row);
    });
    return static_cast<std::size_t>(expected) == list.size() ||
           wrong(std::string("the list of ") + name + " is not complete");
  }

  const StateSnapshot& snapshot_;
  const Catalog& catalog_;
  std::vector<const JobRow*> jobs_;  ///< by slot; null: free
  std::vector<const TaskRow*> tasks_;
  std::vector<const InstanceRow*> instances_;
  std::string problem_;
};

}  // namespace

// By value: rows are moved out of the argument, so a caller that goes on with its state passes a
// copy.
StateSnapshot StateSnapshotAccess::take(ClusterState s) {
  StateSnapshot snapshot;
  // The orders first: the rows that the lists link are moved away below.
  snapshot.active = slots_of(s.jobs());
  snapshot.pending = slots_of(s.pending());
  snapshot.assigned = slots_of(s.assigned());
  snapshot.live = slots_of(s.instances());
  snapshot.jobs = take_live(s.jobs_, s.free_jobs_);
  snapshot.tasks = take_live(s.tasks_, s.free_tasks_);
  snapshot.instances = take_live(s.instances_, s.free_instances_);
  snapshot.free_jobs = std::move(s.free_jobs_);
  snapshot.free_tasks = std::move(s.free_tasks_);
  snapshot.free_instances = std::move(s.free_instances_);
  auto [classes, numbers] = s.classes_.snapshot();
  snapshot.class_names = std::move(classes.names);
  snapshot.idle_classes = std::move(classes.idle);
  for (TaskRow& row : snapshot.tasks) row.cls = numbers.at(row.cls.value);
  for (std::uint32_t id = 0; id < s.shapes_.size(); ++id) {
    snapshot.shapes.push_back(s.shapes_[ShapeId{id}]);
  }
  snapshot.offerings_known = s.offerings_.known();
  for (const OfferingRow& row : s.offerings_.rows()) {
    if (row.told) snapshot.offerings.push_back(row);
  }
  return snapshot;
}

ClusterState StateSnapshotAccess::build(StateSnapshot snapshot, const Catalog& catalog) {
  ClusterState s(catalog);
  // Counts of a row are derived below, like those of a new one.
  for (JobRow& row : snapshot.jobs) {
    row.active = {};
    row.gang = {};
    row.held = row.capped = row.starting = row.stopping = row.failed = 0;
    row.wanted = row.leaving = row.awaiting = 0;
    row.counted = JobStanding::waiting;
    s.job_slots_.emplace(row.job.id, row.slot);
  }
  for (TaskRow& row : snapshot.tasks) {
    row.queue = {};
    row.blocks_gang = false;
    row.told = ToldReason::not_assigned;
    s.task_slots_.emplace(row.id, row.slot);
  }
  for (InstanceRow& row : snapshot.instances) {
    row.live = {};
    row.same_offering = {};
    s.instance_slots_.emplace(row.id, row.slot);
  }
  s.jobs_ = table_of(std::move(snapshot.jobs), snapshot.free_jobs);
  s.tasks_ = table_of(std::move(snapshot.tasks), snapshot.free_tasks);
  s.instances_ = table_of(std::move(snapshot.instances), snapshot.free_instances);
  s.free_jobs_ = std::move(snapshot.free_jobs);
  s.free_tasks_ = std::move(snapshot.free_tasks);
  s.free_instances_ = std::move(snapshot.free_instances);
  link(s.active_, s.jobs_, snapshot.active);
  link(s.pending_, s.tasks_, snapshot.pending);
  link(s.assigned_, s.tasks_, snapshot.assigned);
  link(s.live_, s.instances_, snapshot.live);
  s.classes_.restore({std::move(snapshot.class_names), std::move(snapshot.idle_classes)});
  s.offerings_.restore(snapshot.offerings_known, snapshot.offerings);
  s.shapes_.restore(std::move(snapshot.shapes));
  // After the links and tables: demand() looks up the instance's type.
  for (TaskRow& row : s.tasks_) {
    // Snapshots of earlier versions meant what the task demands.
    const auto fill = [&](Slot place, Grant& grant) {
      if (place == kNoSlot || !grant.is_empty()) return;
      grant = Grant::of(s.demand(row, s.instances_[place].type)->amount);
    };
    fill(row.at, row.held);
    fill(row.target, row.planned);
  }
  s.derive();
  return s;
}

LedgerSnapshot StateSnapshotAccess::take(const Ledger& ledger) {
  return {ledger.total_, ledger.idle_, ledger.closed_tasks_, sorted(ledger.all_tasks()),
          sorted(ledger.settled_until_)};
}

Ledger StateSnapshotAccess::build(const LedgerSnapshot& snapshot, const ClusterState& state) {
  Ledger ledger;
  ledger.total_ = snapshot.total;
  ledger.idle_ = snapshot.idle;
  ledger.closed_tasks_ = snapshot.closed_tasks;
  ledger.by_task_.insert(snapshot.by_task.begin(), snapshot.by_task.end());
  ledger.settled_until_.insert(snapshot.settled_until.begin(), snapshot.settled_until.end());
  // The rest follows from the rows of the state and is not in the snapshot.
  ledger.derive(state);
  return ledger;
}

StateSnapshot snapshot_of(ClusterState state) {
  return StateSnapshotAccess::take(std::move(state));
}
LedgerSnapshot snapshot_of(const Ledger& ledger) {
  return StateSnapshotAccess::take(ledger);
}

Expected<ClusterState, SnapshotError> restore(StateSnapshot snapshot, const Catalog& catalog) {
  if (auto problem = SnapshotCheck(snapshot, catalog).problem()) {
    return Failure<SnapshotError>{SnapshotError::inconsistent, *std::move(problem)};
  }
  ClusterState state = StateSnapshotAccess::build(std::move(snapshot), catalog);
  // derive() has rebuilt counts and sums by now: these are compared with the rows once more.
  const auto problems = state.inconsistencies();
  if (!problems.empty())
    return Failure<SnapshotError>{SnapshotError::inconsistent, problems.front()};
  return state;
}

Ledger restore(const LedgerSnapshot& snapshot, const ClusterState& state) {
  return StateSnapshotAccess::build(snapshot, state);
}

}  // namespace muster
