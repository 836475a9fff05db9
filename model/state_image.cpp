#include "model/state_image.hpp"

#include <algorithm>
#include <optional>

namespace muster {

/// The one that may look into a state and a ledger, and put one together.
struct StateImageAccess {
  static StateImage take(ClusterState state);
  static ClusterState build(StateImage image, const Catalog& catalog);
  static LedgerImage take(const Ledger& ledger);
  static Ledger build(const LedgerImage& image, const ClusterState& state);
};

namespace {

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

template <class Key, class Value>
std::vector<std::pair<Key, Value>> sorted(const std::unordered_map<Key, Value>& map) {
  std::vector<std::pair<Key, Value>> pairs(map.begin(), map.end());
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return pairs;
}

/// Looks for what no state can have, before anything is built that relies on it.
class ImageCheck {
 public:
  ImageCheck(const StateImage& image, const Catalog& catalog) : image_(image), catalog_(catalog) {}

  /// What is wrong; nothing when a state can be built.
  std::optional<std::string> problem() {
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
    by_slot.assign(live.size() + free.size(), nullptr);
    std::vector<bool> seen(by_slot.size());
    const auto claim = [&](Slot slot) {
      if (slot >= seen.size() || seen[slot]) return false;
      seen[slot] = true;
      return true;
    };
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
               image_.jobs, image_.free_jobs, [](const JobRow& row) { return row.job.id.value; },
               jobs_) &&
           table_fits(
               image_.tasks, image_.free_tasks, [](const TaskRow& row) { return row.id.value; },
               tasks_) &&
           table_fits(
               image_.instances, image_.free_instances,
               [](const InstanceRow& row) { return row.id.value; }, instances_);
  }

  bool rows_fit() {
    std::size_t tasks_of_jobs = 0;
    for (const JobRow& job : image_.jobs) {
      if (!job_fits(job)) return false;
      tasks_of_jobs += job.tasks.size();
    }
    if (tasks_of_jobs != image_.tasks.size()) return wrong("a task belongs to no job");
    std::size_t at = 0;
    std::size_t targeted = 0;
    for (const TaskRow& task : image_.tasks) {
      at += task.at != kNoSlot;
      targeted += task.target != kNoSlot;
    }
    for (const InstanceRow& row : image_.instances) {
      if (row.type.value >= catalog_.size()) return wrong("an instance is of no known type");
      if (!are_on(row, row.occupants, &TaskRow::at)) return false;
      if (!are_on(row, row.planned, &TaskRow::target)) return false;
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
    for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
      const TaskRow* task = job.tasks[i] < tasks_.size() ? tasks_[job.tasks[i]] : nullptr;
      if (task == nullptr || task->job != job.slot || task->index != i ||
          task->id != job.job.tasks[i].id) {
        return wrong(name + " does not have the tasks of its specification");
      }
      if (task->cls.value >= image_.class_names.size() ||
          image_.class_names[task->cls.value] != job.job.workload_class ||
          task->shape.value >= image_.shapes.size() ||
          !(image_.shapes[task->shape.value] == job.job.tasks[i].demands)) {
        return wrong(name + " has a task of another class or with other demands");
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
      if (image_.shapes[task->shape.value].on(catalog_[row.type].family) == nullptr) {
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
    return list_fits("jobs", image_.active, jobs_, any) &&
           list_fits("pending tasks", image_.pending, tasks_, in_phase(TaskPhase::pending)) &&
           list_fits("assigned tasks", image_.assigned, tasks_, in_phase(TaskPhase::assigned)) &&
           list_fits("instances", image_.live, instances_, any);
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

  const StateImage& image_;
  const Catalog& catalog_;
  std::vector<const JobRow*> jobs_;  ///< by slot; null: free
  std::vector<const TaskRow*> tasks_;
  std::vector<const InstanceRow*> instances_;
  std::string problem_;
};

}  // namespace

StateImage StateImageAccess::take(ClusterState s) {
  StateImage image;
  image.active = slots_of(s.jobs());
  image.pending = slots_of(s.pending());
  image.assigned = slots_of(s.assigned());
  image.live = slots_of(s.instances());
  image.jobs = take_live(s.jobs_, s.free_jobs_);
  image.tasks = take_live(s.tasks_, s.free_tasks_);
  image.instances = take_live(s.instances_, s.free_instances_);
  image.free_jobs = std::move(s.free_jobs_);
  image.free_tasks = std::move(s.free_tasks_);
  image.free_instances = std::move(s.free_instances_);
  image.class_names = std::move(s.class_names_);
  for (ClusterState::ShapeRow& row : s.shapes_) image.shapes.push_back(std::move(row.demands));
  image.offerings_known = s.offerings_.known();
  for (const OfferingRow& row : s.offerings_.rows()) {
    if (row.told) image.offerings.push_back(row);
  }
  return image;
}

ClusterState StateImageAccess::build(StateImage image, const Catalog& catalog) {
  ClusterState s(catalog);
  for (JobRow& row : image.jobs) {
    row.active = {};
    row.gang = {};
    row.starting = row.stopping = 0;
    row.counted = JobStanding::waiting;
    s.job_slots_.emplace(row.job.id, row.slot);
  }
  for (TaskRow& row : image.tasks) {
    row.queue = {};
    row.blocks_gang = false;
    row.told = ToldReason::not_assigned;
    s.task_slots_.emplace(row.id, row.slot);
  }
  for (InstanceRow& row : image.instances) {
    row.live = {};
    row.same_offering = {};
    s.instance_slots_.emplace(row.id, row.slot);
  }
  s.jobs_ = table_of(std::move(image.jobs), image.free_jobs);
  s.tasks_ = table_of(std::move(image.tasks), image.free_tasks);
  s.instances_ = table_of(std::move(image.instances), image.free_instances);
  s.free_jobs_ = std::move(image.free_jobs);
  s.free_tasks_ = std::move(image.free_tasks);
  s.free_instances_ = std::move(image.free_instances);
  link(s.active_, s.jobs_, image.active);
  link(s.pending_, s.tasks_, image.pending);
  link(s.assigned_, s.tasks_, image.assigned);
  link(s.live_, s.instances_, image.live);
  for (std::uint32_t i = 0; i < image.class_names.size(); ++i) {
    s.class_ids_.emplace(image.class_names[i], ClassId{i});
  }
  s.class_names_ = std::move(image.class_names);
  s.offerings_.restore(image.offerings_known, image.offerings);
  for (Demands& demands : image.shapes) s.shapes_.push_back({std::move(demands)});
  for (TaskRow& row : s.tasks_) {
    // Images of earlier versions meant what the task demands.
    const auto fill = [&](Slot place, Grant& grant) {
      if (place == kNoSlot || grant.width > 0) return;
      grant = Grant::of(s.demand(row, s.instances_[place].type)->amount);
    };
    fill(row.at, row.held);
    fill(row.target, row.planned);
  }
  s.derive();
  return s;
}

LedgerImage StateImageAccess::take(const Ledger& ledger) {
  return {ledger.total_, ledger.idle_, ledger.closed_tasks_, sorted(ledger.by_task_),
          sorted(ledger.settled_until_)};
}

Ledger StateImageAccess::build(const LedgerImage& image, const ClusterState& state) {
  Ledger ledger;
  ledger.total_ = image.total;
  ledger.idle_ = image.idle;
  ledger.closed_tasks_ = image.closed_tasks;
  ledger.by_task_.insert(image.by_task.begin(), image.by_task.end());
  ledger.settled_until_.insert(image.settled_until.begin(), image.settled_until.end());
  ledger.derive(state);
  return ledger;
}

StateImage image_of(ClusterState state) {
  return StateImageAccess::take(std::move(state));
}
LedgerImage image_of(const Ledger& ledger) {
  return StateImageAccess::take(ledger);
}

Expected<ClusterState, ImageError> restore(StateImage image, const Catalog& catalog) {
  if (auto problem = ImageCheck(image, catalog).problem()) {
    return Failure<ImageError>{ImageError::inconsistent, *std::move(problem)};
  }
  ClusterState state = StateImageAccess::build(std::move(image), catalog);
  const auto problems = state.inconsistencies();
  if (!problems.empty()) return Failure<ImageError>{ImageError::inconsistent, problems.front()};
  return state;
}

Ledger restore(const LedgerImage& image, const ClusterState& state) {
  return StateImageAccess::build(image, state);
}

}  // namespace muster
