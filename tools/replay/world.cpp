#include "tools/replay/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/check.hpp"

namespace muster::replay {
namespace {

/// A number of quanta this little above a whole one is rounding error, not work left: with fine
/// quanta the number is so large that its last bits are more than the first slack.
constexpr double kQuotientSlack = 1e-9;
constexpr double kRelativeSlack = 4 * std::numeric_limits<double>::epsilon();

double whole_quanta(double quanta) {
  return std::max(1.0, std::ceil(quanta - std::max(kQuotientSlack, quanta * kRelativeSlack)));
}

}  // namespace

World::World(WorldSetup setup, const Workload& workload) : setup_(std::move(setup)) {
  std::size_t tasks = 0;
  for (const WorkloadJob& job : workload.jobs) tasks += job.job.tasks.size();
  tasks_.reserve(tasks);
  index_.reserve(tasks);
  for (const WorkloadJob& job : workload.jobs) add_job(job);
}

void World::add_job(const WorkloadJob& job) {
  const std::uint32_t interference = setup_.interference->index_of(job.truth.interference);
  Duration init{};
  for (const TaskSpec& spec : job.job.tasks) init = std::max(init, spec.delays.init);
  std::size_t unit = 0;
  for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
    const TaskSpec& spec = job.job.tasks[i];
    if (i == 0 || !job.job.gang) {
      const double work = job.job.gang ? job.truth.iterations : job.truth.work_of(i);
      unit = add_unit(work, job.truth.iterations_per_s, init);
    }
    Task task;
    task.id = spec.id;
    task.unit = unit;
    task.interference = interference;
    task.demands = &spec.demands;
    index_.emplace(spec.id, tasks_.size());
    units_[unit].tasks.push_back(tasks_.size());
    tasks_.push_back(std::move(task));
  }
}

std::size_t World::add_unit(double iterations, double iterations_per_s, Duration init) {
  Unit& unit = units_.emplace_back();
  unit.iterations = iterations;
  unit.iterations_per_s = iterations_per_s;
  unit.init = init;
  return units_.size() - 1;
}

void World::load(TaskId id, InstanceId instance, TypeId type, std::function<void()> on_done) {
  const Instant now = instant(now_());
  Task& task = tasks_[index_.at(id)];
  MUSTER_CHECK(!task.loaded, "a task is loaded in one place at a time");
  task.loaded = true;
  task.instance = instance;
  task.speed = task.demands->on((*setup_.catalog)[type].family)->speed;
  task.on_done = std::move(on_done);
  on_instance_[instance].push_back(index_.at(id));
  Unit& unit = units_[task.unit];
  if (++unit.loaded == unit.tasks.size()) unit.progress_from = now + unit.init;
  refresh(instance, now);
}

void World::unload(TaskId id) {
  take_off(id, setup_.checkpoints);
}

void World::lose(TaskId id) {
  take_off(id, false);
}

void World::take_off(TaskId id, bool saved) {
  Task& task = tasks_[index_.at(id)];
  if (!task.loaded) return;
  const Instant now = instant(now_());
  Unit& unit = units_[task.unit];
  settle(unit, now);
  if (saved) {
    unit.saved = unit.done;
  } else {
    lost_s_ += (unit.done - unit.saved) / unit.iterations_per_s;
    unit.done = unit.saved;
  }
  --unit.loaded;
  detach(task);
  refresh(task.instance, now);
  pace(task.unit, now);
}

void World::detach(Task& task) {
  task.loaded = false;
  task.on_done = nullptr;
  std::vector<std::size_t>& there = on_instance_[task.instance];
  std::erase(there, index_.at(task.id));
}

double World::throughput(TaskId id) const {
  const Unit& unit = units_[tasks_[index_.at(id)].unit];
  double slowest = 1;
  for (std::size_t index : unit.tasks) {
    if (tasks_[index].loaded) slowest = std::min(slowest, tasks_[index].normalized);
  }
  return slowest;
}

/// Something was loaded on the instance or taken off it: all its tasks may run at another pace.
void World::refresh(InstanceId instance, Instant now) {
  const auto found = on_instance_.find(instance);
  if (found->second.empty()) {
    on_instance_.erase(found);
    return;
  }
  std::vector<std::uint32_t> together;
  for (std::size_t index : found->second) together.push_back(tasks_[index].interference);
  const std::vector<double> normalized = setup_.interference->throughput(together);
  for (std::size_t i = 0; i < together.size(); ++i) {
    tasks_[found->second[i]].normalized = normalized[i];
  }
  for (std::size_t index : found->second) pace(tasks_[index].unit, now);
}

void World::settle(Unit& unit, Instant now) const {
  const Instant since = std::max(unit.settled_at, unit.progress_from);
  if (unit.loaded == unit.tasks.size() && now > since) {
    unit.done += unit.rate * to_seconds(now - since);
  }
  unit.settled_at = now;
}

/// Works out anew how fast the unit goes and when it will be done.
void World::pace(std::size_t index, Instant now) {
  Unit& unit = units_[index];
  settle(unit, now);
  if (unit.deadline) deadlines_.erase({*unit.deadline, index});
  unit.deadline.reset();
  if (unit.loaded < unit.tasks.size()) return;
  double slowest = 1e300;
  for (std::size_t task : unit.tasks) {
    slowest = std::min(slowest, tasks_[task].normalized * tasks_[task].speed);
  }
  unit.rate = unit.iterations_per_s * slowest;
  const double quantum_s = setup_.quantum > Duration::zero() ? to_seconds(setup_.quantum) : 1e-9;
  const double left = std::max(0.0, unit.iterations - unit.done);
  const double quanta = whole_quanta(left / unit.rate / quantum_s);
  unit.deadline = std::max(now, unit.progress_from) + from_seconds(quanta * quantum_s);
  deadlines_.insert({*unit.deadline, index});
  arm();
}

void World::arm() {
  if (deadlines_.empty()) return;
  const Instant next = deadlines_.begin()->first + setup_.settle;
  if (armed_ && *armed_ <= next) return;
  armed_ = next;
  setup_.wake_at(next);
}

void World::wake(Instant now) {
  if (armed_ && *armed_ <= now) armed_.reset();
  while (!deadlines_.empty() && deadlines_.begin()->first + setup_.settle <= now) {
    finish(deadlines_.begin()->second, instant(now));
  }
  arm();
}

void World::finish(std::size_t index, Instant now) {
  Unit& unit = units_[index];
  deadlines_.erase({*unit.deadline, index});
  unit.deadline.reset();
  unit.done = unit.iterations;
  unit.loaded = 0;
  const std::vector<std::size_t> tasks = unit.tasks;
  for (std::size_t task : tasks) {
    const std::function<void()> on_done = std::move(tasks_[task].on_done);
    detach(tasks_[task]);
    refresh(tasks_[task].instance, now);
    on_done();
  }
}

}  // namespace muster::replay
