#include "replay/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/check.hpp"
#include "model/live_ids.hpp"

// The simulated truth. Tasks that progress together are a unit, with a rate that is constant
// between two changes of its surroundings: settle() books the progress until now at the old rate,
// pace() finds the new rate and the time of its end. Nothing is simulated step by step, so the cost
// is by the number of changes.

namespace muster::replay {
namespace {

/// A number of quanta this little above a whole one is rounding error, not work left: with fine
/// quanta the number is so large that its last bits are more than the first slack.
constexpr double kQuotientSlack = 1e-9;
constexpr double kRelativeSlack = 4 * std::numeric_limits<double>::epsilon();

double whole_quanta(double quanta) {
  return std::max(1.0, std::ceil(quanta - std::max(kQuotientSlack, quanta * kRelativeSlack)));
}

/// Most jobs number their tasks one after the other.
std::size_t position_in(const std::vector<TaskSpec>& tasks, TaskId id) {
  const std::size_t guess = id.value - tasks.front().id.value;
  if (guess < tasks.size() && tasks[guess].id == id) return guess;
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [id](const TaskSpec& task) { return task.id == id; });
  MUSTER_CHECK(found != tasks.end(), "a part has no tasks but those of its job");
  return static_cast<std::size_t>(found - tasks.begin());
}

/// How many such tasks an instance of the type holds: at least the one that is there.
std::uint32_t room_for(const Demands& demands, const InstanceType& type) {
  const Resources& one = demands.on(type.family)->amount;
  double room = std::numeric_limits<std::uint32_t>::max();
  for (const Resource kind : kAllResources) {
    if (one[kind] > 0) room = std::min(room, type.capacity[kind] / one[kind]);
  }
  return static_cast<std::uint32_t>(std::max(1.0, std::floor(room + kQuotientSlack)));
}

}  // namespace

World::World(WorldSetup setup) : setup_(std::move(setup)) {}

void World::add(std::size_t rank, const WorkloadJob& job, const Job& part) {
  const std::uint32_t interference = setup_.interference->index_of(job.truth.interference);
  Duration init{};
  for (const TaskSpec& spec : job.job.tasks) init = std::max(init, spec.delays.init);
  for (const TaskSpec& spec : part.tasks) {
    const auto [entry, is_new] = tasks_.try_emplace(spec.id);
    if (!is_new) continue;
    const std::size_t index = position_in(job.job.tasks, spec.id);
    Unit& unit = unit_for(rank, job, index);
    Task& task = entry->second;
    task.unit = &unit;
    task.interference = interference;
    task.demands = job.job.tasks[index].demands;
    unit.init = init;
    unit.tasks.push_back(&task);
  }
}

World::Unit& World::unit_for(std::size_t rank, const WorkloadJob& job, std::size_t index) {
  const bool gang = job.job.gang;
  const std::uint64_t unit_rank = (std::uint64_t{rank} << kTaskIndexBits) | (gang ? 0 : index);
  const auto [entry, is_new] = units_.try_emplace(unit_rank);
  Unit& unit = entry->second;
  if (!is_new) return unit;
  unit.rank = unit_rank;
  unit.iterations = gang ? job.truth.iterations : job.truth.work_of(index);
  unit.iterations_per_s = job.truth.iterations_per_s;
  if (gang) unit.size = job.job.tasks.size();
  if (job.truth.elastic) {
    unit.elastic = std::make_unique<Elastic>();
    unit.elastic->truth = job.truth.elastic;
    unit.elastic->first = job.job.tasks.front().id;
    unit.elastic->pace = job.truth.elastic->begin();
    unit.iterations = job.truth.elastic->ends().back();
  }
  return unit;
}

void World::forget(const Job& part) {
  std::vector<Unit*> units;
  for (const TaskSpec& spec : part.tasks) {
    const auto task = tasks_.find(spec.id);
    if (task == tasks_.end()) continue;
    // Takes a task off its instance, so that the others there go on at their new pace.
    lose(spec.id);
    task->second.over = true;
    // Tasks of a gang stand side by side and share one unit.
    if (units.empty() || units.back() != task->second.unit) units.push_back(task->second.unit);
  }
  for (Unit* unit : units) {
    std::erase_if(unit->tasks, [](const Task* task) { return task->over; });
    if (!unit->tasks.empty()) continue;
    if (unit->deadline) deadlines_.erase({*unit->deadline, unit->rank});
    units_.erase(unit->rank);
  }
  for (const TaskSpec& spec : part.tasks) tasks_.erase(spec.id);
}

void World::load(const LoadedTask& loaded) {
  const Instant now = instant(now_());
  const auto found = tasks_.find(loaded.task);
  if (found == tasks_.end()) return;  // its job is over, which its worker has not heard yet
  Task& task = found->second;
  MUSTER_CHECK(!task.loaded, "a task is loaded in one place at a time");
  task.loaded = true;
  task.instance = loaded.instance;
  task.type = loaded.type;
  task.speed = task.demands.on((*setup_.catalog)[loaded.type].family)->speed;
  if (task.unit->elastic) task.room = room_for(task.demands, (*setup_.catalog)[loaded.type]);
  task.caller = loaded.caller;
  task.unit->slowest.reset();
  on_instance_[loaded.instance].push_back(&task);
  Unit& unit = *task.unit;
  // All tasks of an elastic job leave before the first one of the new number comes.
  if (unit.elastic && unit.loaded == 0) unit.size = loaded.together;
  if (++unit.loaded == unit.size) begin_together(unit, now);
  refresh(loaded.instance, now);
  if (unit.loaded == unit.size) refresh_all(unit, now);
}

/// A gang begins when its last task is there, and after the longest initialisation among all.
void World::begin_together(Unit& unit, Instant now) {
  unit.progress_from = now + unit.init;
  if (!unit.elastic) return;
  Elastic& elastic = *unit.elastic;
  const std::string& family = (*setup_.catalog)[unit.tasks.front()->type].family;
  if (!elastic.family.empty() && elastic.family != family) {
    unit.progress_from = now + std::max(unit.init, elastic.truth->cold_start());
  }
  elastic.family = family;
  std::map<InstanceId, std::uint32_t> workers;
  for (const Task* task : unit.tasks) workers[task->instance] += task->loaded ? 1 : 0;
  std::vector<std::uint32_t> counts;
  for (const auto& [instance, count] : workers) {
    if (count > 0) counts.push_back(count);
  }
  elastic.pace->place(counts, unit.tasks.front()->room);
  const auto ends = elastic.truth->ends();
  // Lost work may be of an earlier epoch. The last one is not left: the job is done then.
  const auto open = std::upper_bound(ends.begin(), ends.end() - 1, unit.done);
  elastic.epoch = static_cast<std::size_t>(open - ends.begin());
  elastic.paced = elastic.pace->rate_per_s(elastic.epoch);
  await_rechoice(elastic, unit.progress_from);
}

void World::await_rechoice(Elastic& elastic, Instant after) {
  const Duration every = elastic.pace->rechoose_every();
  elastic.rechoice.reset();
  if (every > Duration::zero()) elastic.rechoice = floor_to(after, every) + every;
}

void World::unload(TaskId id) {
  take_off(id, setup_.checkpoints);
}

void World::lose(TaskId id) {
  take_off(id, false);
}

void World::take_off(TaskId id, bool saved) {
  // A worker may hear of its end after its job's.
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || !found->second.loaded) return;
  Task& task = found->second;
  const Instant now = instant(now_());
  Unit& unit = *task.unit;
  settle(unit, now);
  if (saved) {
    unit.saved = unit.done;
  } else {
    // In seconds of a task that runs alone on the family of speed 1.
    lost_s_ += (unit.done - unit.saved) / unit.alone();
    // For a gang too: it goes back to its last checkpoint as a whole.
    unit.done = unit.saved;
  }
  --unit.loaded;
  detach(task);
  refresh(task.instance, now);
  pace(unit, now);
  refresh_all(unit, now);
}

void World::detach(Task& task) {
  task.loaded = false;
  task.caller = {};
  task.unit->slowest.reset();
  std::erase(on_instance_[task.instance], &task);
}

double World::throughput(TaskId id) const {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return 1;
  const Unit& unit = *found->second.unit;
  // Each task of a gang is asked for it at once: they look for it together.
  if (!unit.slowest) {
    unit.slowest = 1;
    for (const Task* task : unit.tasks) {
      if (task->loaded) unit.slowest = std::min(*unit.slowest, task->normalized);
    }
  }
  return *unit.slowest;
}

std::optional<ExecutionProgress> World::progress(TaskId id) const {
  const auto found = tasks_.find(id);
  // The first task speaks for its job.
  if (found == tasks_.end() || !found->second.unit->elastic) return std::nullopt;
  const Unit& unit = *found->second.unit;
  if (unit.elastic->first != id || unit.loaded < unit.size) return std::nullopt;
  const Instant now = instant(now_());
  const Instant since = std::max(unit.settled_at, unit.progress_from);
  ExecutionProgress said{unit.done, {}};
  if (now <= since) return said;  // it is still being initialised and has measured nothing
  said.done = std::min(unit.next_end(), unit.done + unit.rate * to_seconds(now - since));
  said.training = unit.elastic->pace->sample();
  return said;
}

/// Something was loaded on the instance or taken off it: all its tasks may run at another pace.
void World::refresh(InstanceId instance, Instant now) {
  const auto found = on_instance_.find(instance);
  if (found->second.empty()) {
    on_instance_.erase(found);
    return;
  }
  if (!setup_.interference->is_harmless()) {
    std::vector<std::uint32_t> together;
    for (const Task* task : found->second) together.push_back(task->interference);
    const std::vector<double> normalized = setup_.interference->throughput(together);
    for (std::size_t i = 0; i < together.size(); ++i) {
      found->second[i]->normalized = normalized[i];
      found->second[i]->unit->slowest.reset();
    }
  }
  // The tasks of a wide job lie side by side: its pace is worked out once.
  const Unit* paced = nullptr;
  for (Task* task : found->second) {
    if (std::exchange(paced, task->unit) != task->unit) pace(*task->unit, now);
  }
}

bool World::Unit::is_distributed() const {
  const Task* first = nullptr;
  for (const Task* task : tasks) {
    if (!task->loaded) continue;
    if (first != nullptr && task->instance != first->instance) return true;
    if (first == nullptr) first = task;
  }
  return false;
}

/// Some other gang on several instances shares one of its instances with it.
bool World::is_disturbed(const Unit& unit) const {
  if (setup_.distributed_slowdown <= 0 || !unit.is_distributed()) return false;
  for (const Task* task : unit.tasks) {
    if (!task->loaded) continue;
    for (const Task* beside : on_instance_.at(task->instance)) {
      if (beside->unit != &unit && beside->unit->is_distributed()) return true;
    }
  }
  return false;
}

/// Whether the unit is on several instances may have changed, which others feel on each of them.
void World::refresh_all(const Unit& unit, Instant now) {
  if (setup_.distributed_slowdown <= 0) return;
  for (const Task* task : unit.tasks) {
    if (!task->loaded) continue;
    for (Task* beside : on_instance_.at(task->instance)) pace(*beside->unit, now);
  }
}

void World::settle(Unit& unit, Instant now) const {
  const Instant since = std::max(unit.settled_at, unit.progress_from);
  if (unit.loaded == unit.size && now > since) {
    unit.done += unit.rate * to_seconds(now - since);
  }
  unit.settled_at = now;
}

/// Works out anew how fast the unit goes and when it will be done.
void World::pace(Unit& unit, Instant now) {
  settle(unit, now);
  if (unit.deadline) deadlines_.erase({*unit.deadline, unit.rank});
  unit.deadline.reset();
  if (unit.loaded < unit.size) return;
  double slowest = 1e300;
  for (const Task* task : unit.tasks) {
    if (task->loaded) slowest = std::min(slowest, task->normalized * task->speed);
  }
  if (is_disturbed(unit)) slowest *= 1 - setup_.distributed_slowdown;
  unit.rate = unit.alone() * slowest;
  // Without a quantum things happen at whole nanoseconds, the resolution of time.
  const double quantum_s = setup_.quantum > Duration::zero() ? to_seconds(setup_.quantum) : 1e-9;
  const double left = std::max(0.0, unit.next_end() - unit.done);
  const double quanta = whole_quanta(left / unit.rate / quantum_s);
  const Instant begin = std::max(now, unit.progress_from);
  unit.deadline = begin + from_seconds(quanta * quantum_s);
  // At an end the pace is asked anyway.
  if (unit.elastic) {
    Elastic& elastic = *unit.elastic;
    elastic.rechooses = elastic.rechoice && *elastic.rechoice < *unit.deadline;
    if (elastic.rechooses) unit.deadline = std::max(begin, *elastic.rechoice);
  }
  deadlines_.emplace(std::pair{*unit.deadline, unit.rank}, &unit);
  arm();
}

void World::arm() {
  if (deadlines_.empty()) return;
  const Instant next = deadlines_.begin()->first.first + setup_.settle;
  // Wakeups cannot be taken back: one that comes too early finds nothing to do and arms again.
  if (armed_ && *armed_ <= next) return;
  armed_ = next;
  setup_.wake_at(next);
}

void World::wake(Instant now) {
  if (armed_ && *armed_ <= now) armed_.reset();
  while (!deadlines_.empty() && deadlines_.begin()->first.first + setup_.settle <= now) {
    Unit& unit = *deadlines_.begin()->second;
    if (unit.elastic && unit.elastic->rechooses) {
      rechoose(unit, instant(now));
      continue;
    }
    const bool more = unit.elastic && unit.elastic->epoch + 1 < unit.elastic->truth->ends().size();
    more ? next_epoch(unit, instant(now)) : finish(unit, instant(now));
  }
  arm();
}

void World::next_epoch(Unit& unit, Instant now) {
  settle(unit, *unit.deadline);
  // Exactly: the time of the end was rounded to a quantum.
  unit.done = unit.next_end();
  Elastic& elastic = *unit.elastic;
  const double before = elastic.paced;
  elastic.paced = elastic.pace->rate_per_s(++elastic.epoch);
  // It is told of a little later than it happens: until then, too, the new pace holds.
  unit.rate *= elastic.paced / before;
  pace(unit, now);
  const Task& first = *unit.tasks.front();
  if (first.loaded) first.caller.tell_change();
}

/// The job goes on in its epoch, at what its pace says of it after what was measured since.
void World::rechoose(Unit& unit, Instant now) {
  settle(unit, *unit.deadline);
  Elastic& elastic = *unit.elastic;
  await_rechoice(elastic, *unit.deadline);
  const double before = elastic.paced;
  elastic.paced = elastic.pace->rate_per_s(elastic.epoch);
  unit.rate *= elastic.paced / before;
  pace(unit, now);
}

/// Listeners hear of the end later, so the unit stays as long as this goes on.
void World::finish(Unit& unit, Instant now) {
  deadlines_.erase({*unit.deadline, unit.rank});
  unit.deadline.reset();
  unit.done = unit.iterations;
  unit.loaded = 0;
  for (Task* task : unit.tasks) {
    if (!task->loaded) continue;  // the job was not so wide
    // Taken out first: detach() clears it, and who is told may load the task anew.
    const LoadCaller caller = task->caller;
    detach(*task);
    refresh(task->instance, now);
    refresh_all(unit, now);
    caller.tell_done();
  }
}

}  // namespace muster::replay
