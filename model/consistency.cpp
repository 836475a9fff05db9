#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/task_wanted.hpp"

// Computes from the rows themselves what the state counts along with its events. O(rows).

namespace muster {
namespace {

// Sums of doubles depend on the order of their terms; fits_in() allows for that.
bool nearly_equal(const Resources& a, const Resources& b) {
  return a.fits_in(b) && b.fits_in(a);
}

/// On which instance's lists each task is, by its slot.
struct Listed {
  explicit Listed(const ClusterState& state) {
    for (const InstanceRow& row : state.instances()) {
      for (Slot slot : row.occupants) note(occupant, slot, row.slot);
      for (Slot slot : row.planned) note(planned, slot, row.slot);
    }
  }
  static void note(std::vector<Slot>& by_slot, Slot task, Slot instance) {
    if (task >= by_slot.size()) by_slot.resize(task + std::size_t{1}, kNoSlot);
    by_slot[task] = instance;
  }
  static Slot of(const std::vector<Slot>& by_slot, Slot task) {
    return task < by_slot.size() ? by_slot[task] : kNoSlot;
  }

  std::vector<Slot> occupant, planned;
};

void check_task(const TaskRow& task, const ClusterState& state, const Listed& listed,
                std::vector<std::string>& out) {
  const std::string name = "task " + std::to_string(task.id.value);
  const bool holds = task.phase == TaskPhase::starting || task.phase == TaskPhase::running ||
                     task.phase == TaskPhase::stopping;
  // Three phases hold an instance's resources and no other does.
  if (holds != (task.at != kNoSlot)) out.push_back(name + " holds an instance in the wrong phase");
  if (task.at != kNoSlot && Listed::of(listed.occupant, task.slot) != task.at) {
    out.push_back(name + " is not among its instance's occupants");
  }
  if (task.target != kNoSlot && Listed::of(listed.planned, task.slot) != task.target) {
    out.push_back(name + " is not among those planned for its target");
  }
  // The pending and the assigned tasks are linked in a queue; all others are not.
  const bool queued = task.phase == TaskPhase::pending || task.phase == TaskPhase::assigned;
  if (queued != task.queue.linked) out.push_back(name + " is in a queue in the wrong phase");
  const JobRow& job = state.job(task.job);
  const bool waits = task.phase == TaskPhase::pending || task.target != kNoSlot;
  if (is_beyond_width(task, job) && waits) {
    out.push_back(name + " has or wants a place that its job is too narrow for");
  }
  const bool is_service = job.job.service() != nullptr;
  const bool leaves = holds && task.target == task.at;
  if (is_service ? !task.wanted && waits && !leaves : task.wanted) {
    out.push_back(name + " has or wants a place without being wanted, or is of no service");
  }
  if (task.ready_since > Instant{} && (task.replica == nullptr || !task.replica->ready)) {
    out.push_back(name + " is ready since a time, and is not ready");
  }
  const bool has_no_place = task.phase == TaskPhase::capped || task.phase == TaskPhase::held;
  if (task.awaits && (!has_no_place || !waits_by_index(job.job))) {
    out.push_back(name + " has or wants a place before its counterpart is over");
  }
  if (task.ran < Duration{}) out.push_back(name + " has run for less than no time");
}

bool blocks(const ClusterState& state, const TaskRow& task) {
  // The same rule as blocks_gang() of the applier, computed here without what it has stored.
  if (task.phase == TaskPhase::stopping) return true;
  return task.phase == TaskPhase::assigned && !state.instance(task.target).up;
}

GangCounts gang_counts(const ClusterState& state, const JobRow& job) {
  GangCounts counts;
  for (Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    counts.holding += task.at != kNoSlot;
    // Tasks go by index, so the first that blocks has the lowest one.
    if (blocks(state, task) && counts.blockers++ == 0) counts.first_blocker = task.index;
    if (task.phase != TaskPhase::assigned) continue;
    ++counts.assigned;
    counts.told_peers += task.reason.code == RefusalCode::awaiting_peers;
    counts.told_instance += task.reason.code == RefusalCode::awaiting_instance;
  }
  return counts;
}

void check_job(const JobRow& job, const ClusterState& state, const Listed& listed,
               std::vector<std::string>& out) {
  std::uint32_t pending = 0;
  std::uint32_t held = 0;
  std::uint32_t capped = 0;
  std::uint32_t running = 0;
  std::uint32_t finished = 0;
  std::uint32_t starting = 0;
  std::uint32_t stopping = 0;
  std::uint32_t failed = 0;
  std::uint32_t confined = 0;
  std::uint32_t wanted = 0;
  std::uint32_t leaving = 0;
  std::uint32_t awaiting = 0;
  for (Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    pending += task.phase == TaskPhase::pending;
    held += task.phase == TaskPhase::held;
    capped += task.phase == TaskPhase::capped;
    running += task.phase == TaskPhase::running;
    finished += task.phase == TaskPhase::finished;
    starting += task.phase == TaskPhase::starting;
    stopping += task.phase == TaskPhase::stopping;
    failed += task.phase == TaskPhase::failed;
    const std::uint32_t most = state.max_interruptions();
    confined += most > 0 && task.fruitless >= most;
    wanted += task.wanted;
    awaiting += task.awaits;
    leaving += job.job.service() != nullptr && !task.wanted && task.at != kNoSlot;
    check_task(task, state, listed, out);
  }
  if (pending != job.pending || held != job.held || capped != job.capped ||
      running != job.running || finished != job.finished || starting != job.starting ||
      stopping != job.stopping || failed != job.failed || job.counted != job.standing() ||
      confined != job.confined || wanted != job.wanted || leaving != job.leaving ||
      awaiting != job.awaiting || job.gang != gang_counts(state, job)) {
    out.push_back("job " + std::to_string(job.job.id.value) + " counts its tasks wrongly");
  }
  const bool elastic = std::holds_alternative<ElasticSpec>(job.job.kind);
  if (elastic != (job.width > 0) || job.width > job.tasks.size()) {
    out.push_back("job " + std::to_string(job.job.id.value) + " has a width that it cannot have");
  }
}

Resources sum_of(const ClusterState& state, const std::vector<Slot>& tasks, Grant TaskRow::*grant) {
  Resources sum;
  for (Slot slot : tasks) sum += (state.task(slot).*grant).amount;
  return sum;
}

void check_instance(const ClusterState& state, const InstanceRow& row,
                    std::vector<std::string>& out) {
  const std::string name = "instance " + std::to_string(row.id.value);
  if (!nearly_equal(row.used, sum_of(state, row.occupants, &TaskRow::held))) {
    out.push_back(name + " counts what is used wrongly");
  }
  if (!nearly_equal(row.committed, sum_of(state, row.planned, &TaskRow::planned))) {
    out.push_back(name + " counts what is committed wrongly");
  }
  // Of most jobs nothing has to be counted: the wish is rare.
  std::map<Slot, std::set<Slot>> bounded;  // tasks of jobs with a bound; one may be on both lists
  for (const auto* list : {&row.occupants, &row.planned}) {
    for (Slot slot : *list) {
      const Slot job = state.task(slot).job;
      if (state.job(job).job.most_an_instance > 0) bounded[job].insert(slot);
    }
  }
  for (const auto& [job, tasks] : bounded) {
    if (tasks.size() <= state.job(job).job.most_an_instance) continue;
    out.push_back(name + " has more of a job's tasks than it may");
  }
  // Together with the sums above: the resources in use fit as well.
  if (!row.used.fits_in(state.catalog()[row.type].capacity)) {
    out.push_back(name + " is over its capacity");
  }
}

}  // namespace

std::vector<std::string> ClusterState::inconsistencies() const {
  std::vector<std::string> out;
  const Listed places(*this);
  for (const JobRow& job : jobs()) check_job(job, *this, places, out);
  WorkSums work;
  for (const JobRow& job : jobs()) {
    ++work.jobs[static_cast<std::size_t>(job.standing())];
    for (Slot slot : job.tasks) ++work.tasks[static_cast<std::size_t>(tasks_[slot].phase)];
    for (Slot slot : job.job.service() != nullptr ? job.tasks : std::vector<Slot>{}) {
      work.beyond_width += tasks_[slot].phase == TaskPhase::capped && !tasks_[slot].wanted;
    }
    if (job.width == 0) continue;
    work.beyond_width += job.capped;
    ++work.elastic_jobs;
    work.widths += job.width;
  }
  if (work != work_) out.emplace_back("jobs and tasks are counted wrongly");
  FleetSums sums;
  std::size_t counted = 0, otherwise = 0;
  for (const InstanceRow& row : instances()) {
    check_instance(*this, row, out);
    otherwise += is_priced_otherwise(row);
    for (Slot slot : row.occupants) sums.used += tasks_[slot].held.amount;
    for (Slot slot : row.planned) sums.committed += tasks_[slot].planned.amount;
    sums.capacity += (*catalog_)[row.type].capacity;
    if (!row.released) sums.open_capacity += (*catalog_)[row.type].capacity;
    sums.nano_usd_h += row.price.nano_usd_h();
    if (row.up) sums.up_nano_usd_h += row.price.nano_usd_h();
  }
  // by_offer and by_offering_ have each instance once.
  for (std::uint32_t count : sums_.by_offer) counted += count;
  std::size_t listed = 0;
  for (const auto& [key, of] : by_offering_) {
    listed += of.rows.size();
    otherwise -= of.otherwise;
  }
  if (!(sums.used == sums_.used) || !(sums.committed == sums_.committed) ||
      !(sums.capacity == sums_.capacity) || !(sums.open_capacity == sums_.open_capacity) ||
      sums.nano_usd_h != sums_.nano_usd_h || sums.up_nano_usd_h != sums_.up_nano_usd_h ||
      counted != instances().size() || listed != counted || otherwise != 0) {
    out.emplace_back("the sums over the instances are wrong");
  }
  // A shape is free exactly when no task has it.
  std::vector<std::uint32_t> having(shapes_.size());
  for (const JobRow& job : jobs()) {
    for (Slot slot : job.tasks) ++having[tasks_[slot].shape.value];
  }
  for (std::uint32_t id = 0; id < shapes_.size(); ++id) {
    const bool is_free = shapes_.made(ShapeId{id}) == 0;
    if (shapes_.tasks(ShapeId{id}) != having[id] || is_free != (having[id] == 0)) {
      out.emplace_back("the tasks of shape " + std::to_string(id) + " are counted wrongly");
    }
  }
  std::map<std::uint32_t, std::uint32_t> of_class;
  for (const JobRow& job : jobs()) {
    for (Slot slot : job.tasks) ++of_class[tasks_[slot].cls.value];
  }
  if (!classes_.counts(of_class)) out.emplace_back("the tasks of classes are counted wrongly");
  // Every shape is either free or found by what it is.
  if (!shapes_.is_consistent()) {
    out.emplace_back("shapes are not found by what they are");
  }
  ResourceSum waiting;
  // ResourceSum is exact, so that the order of the terms does not matter.
  for (const TaskRow& row : pending()) waiting += nominal_demand(row.shape);
  if (!(waiting == waiting_demand_))
    out.emplace_back("the demand of waiting tasks is counted wrongly");
  return out;
}

}  // namespace muster
