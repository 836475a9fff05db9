#include "tests/simulation/machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/simulation/draws.hpp"
#include "tests/simulation/scenario.hpp"

namespace muster::ring {
namespace {

using Phase = MachineAttempt::Phase;

constexpr Duration kUpload = std::chrono::seconds{3};

/// Exit codes of a replica whose keeper was killed, and of one that was asked to stop.
constexpr std::int32_t kKilled = 137;
constexpr std::int32_t kStopped = 143;

/// Of throughputs the least that there is, the least that is not denormal, and the most.
double wild_of(double share) {
  if (share < 0.3) return std::numeric_limits<double>::denorm_min();
  return share < 0.6 ? std::numeric_limits<double>::min() : 1;
}

}  // namespace

Duration WorkRules::work_of(TaskId task) const {
  const double share = draw(seed, task.value, 0);
  return shortest + from_seconds(to_seconds(longest - shortest) * share * share);
}

bool WorkRules::attempt_fails(TaskId task, Attempt attempt) const {
  return draw(seed, task.value, attempt) < fails;
}

MachinePark::MachinePark(Network& network, const Catalog& catalog, WorkRules rules, Starter start,
                         Complain complain)
    : network_(network),
      catalog_(catalog),
      rules_(rules),
      start_(std::move(start)),
      complain_(std::move(complain)),
      keepers_(network.timeline(), rules.seed) {}

Expected<std::string, MachineError> MachinePark::boot(const MachineOrder& order) {
  std::unique_ptr<Machine>& machine = machines_[order.instance];
  // A cloud that had not written down yet that it booted the machine boots another one.
  if (machine && machine->lost) replaced_.push_back(std::move(machine));
  if (!machine) {
    machine = std::make_unique<Machine>();
    machine->instance = order.instance;
    machine->type = *catalog_.find(order.type.name);
    machine->capacity = order.type.capacity;
    start_worker(*machine);
    check_count(*machine);
  } else if (machine->ended) {
    complain_(
        fmt::format("instance {} is booted after its machine was ended", order.instance.value));
  }
  return fmt::format("machine {}", order.instance.value);
}

void MachinePark::check_count(const Machine& booted) {
  const auto most = most_of_.find(booted.type);
  if (most == most_of_.end()) return;
  std::uint32_t count = 0;
  for (const Machine* machine : running()) count += machine->type == booted.type;
  if (count > most->second) {
    complain_(fmt::format("instance {} is booted, and all {} machines of its type are in use",
                          booted.instance.value, most->second));
  }
}

bool MachinePark::halt(InstanceId instance, const std::string&, Duration,
                       std::function<void()> done) {
  const auto found = machines_.find(instance);
  if (found == machines_.end()) return true;
  Machine& machine = *found->second;
  machine.lost = false;
  if (machine.ended || draw(rules_.seed, instance.value, 7) < 0.5) {
    end(machine);
    return true;
  }
  timeline().after(std::chrono::seconds{2}, [this, &machine, done = std::move(done)] {
    end(machine);
    done();
  });
  return false;
}

bool MachinePark::adopt(const RentedRecord& record) {
  const auto found = machines_.find(record.instance);
  return found != machines_.end() && !found->second->ended;
}

void MachinePark::keep_only(const std::set<InstanceId>& instances) {
  keep_only(instances, [](TypeId) { return true; });
}

void MachinePark::keep_only(const std::set<InstanceId>& instances,
                            const std::function<bool(TypeId)>& of) {
  for (const auto& [id, machine] : machines_) {
    if (!instances.contains(id) && of(machine->type)) end(*machine);
  }
}

void MachinePark::start_worker(Machine& machine) {
  machine.actor = start_(machine);
  network_.bring_up(machine.node, caf::actor_cast<caf::strong_actor_ptr>(machine.actor));
}

void MachinePark::kill_worker(Machine& machine, Duration down) {
  if (machine.ended || !machine.actor) return;
  machine.disturbed = true;
  network_.take_down(machine.node);
  machine.worker = nullptr;
  caf::anon_send_exit(std::exchange(machine.actor, nullptr), caf::exit_reason::kill);
  timeline().after(down, [this, &machine] {
    if (!machine.ended && !machine.actor) start_worker(machine);
  });
}

void MachinePark::lose(Machine& machine) {
  machine.lost = !machine.ended;
  machine.disturbed = true;
  end(machine);
}

void MachinePark::end(Machine& machine) {
  if (std::exchange(machine.ended, true)) return;
  for (const auto& [key, attempt] : machine.attempts) {
    if (!attempt.over()) executing_.erase(key.first);
    keepers_.end(key);
  }
  machine.worker = nullptr;
  network_.take_down(machine.node);
  if (machine.actor) {
    caf::anon_send_exit(std::exchange(machine.actor, nullptr), caf::exit_reason::kill);
  }
}

void MachinePark::end_all() {
  for (const auto& [id, machine] : machines_) end(*machine);
}

std::vector<Machine*> MachinePark::running() {
  std::vector<Machine*> all;
  for (const auto& [id, machine] : machines_) {
    if (!machine->ended) all.push_back(machine.get());
  }
  return all;
}

std::size_t MachinePark::busy() const {
  return executing_.size();
}

std::uint64_t MachinePark::failures(TaskId task) const {
  const auto found = failures_.find(task);
  return found == failures_.end() ? 0 : found->second;
}

bool MachinePark::was_disturbed(InstanceId instance) const {
  const auto found = machines_.find(instance);
  return found == machines_.end() || found->second->disturbed;
}

void MachinePark::begin(Machine& machine, const TaskOrder& execution) {
  const TaskId task = execution.task.id;
  const Key key{task, execution.attempt};
  if (machine.attempts.contains(key) || machine.acknowledged.contains(key)) {
    return complain_(fmt::format("attempt {} of task {} starts twice on instance {}", key.second,
                                 task.value, machine.instance.value));
  }
  if (done_.contains(task)) {
    complain_(fmt::format("attempt {} of task {} starts, and an earlier one had finished it",
                          key.second, task.value));
  }
  const auto other = executing_.find(task);
  if (other != executing_.end()) {
    complain_(fmt::format("attempt {} of task {} runs on instance {} beside attempt {} on {}",
                          key.second, task.value, machine.instance.value, other->second.second,
                          other->second.first.value));
  }
  executing_[task] = {machine.instance, key.second};
  MachineAttempt& attempt = machine.attempts[key];
  attempt.found = {task, key.second, execution.granted};
  attempt.execution = execution;
  check_room(machine);
  step(machine, key, Phase::loading, execution.task.delays.fetch);
}

void MachinePark::check_room(const Machine& machine) {
  Resources used;
  for (const auto& [key, attempt] : machine.attempts) {
    if (!attempt.over()) used += attempt.found.granted;
  }
  if (!used.fits_in(machine.capacity)) {
    complain_(fmt::format("instance {} is overfilled", machine.instance.value));
  }
}

void MachinePark::stop(Machine& machine, TaskId task, Attempt number) {
  const auto found = machine.attempts.find({task, number});
  if (found == machine.attempts.end()) return;
  MachineAttempt& attempt = found->second;
  if (attempt.phase == Phase::loading) {
    attempt.phase = Phase::uploading;
    step(machine, found->first, Phase::uploading, Duration::zero());
  } else if (attempt.phase == Phase::running) {
    attempt.phase = Phase::stopping;
    const Duration drain = keepers_.stop(found->first);
    step(machine, found->first, Phase::stopping, drain + attempt.execution.task.delays.stop);
  }
}

/// What follows the phase, after a while.
void MachinePark::step(Machine& machine, Key key, Phase from, Duration wait) {
  timeline().after(wait, [this, &machine, key, from] { pass(machine, key, from); });
}

void MachinePark::pass(Machine& machine, Key key, Phase from) {
  const auto found = machine.attempts.find(key);
  if (machine.ended || found == machine.attempts.end()) return;
  MachineAttempt& attempt = found->second;
  if (attempt.phase != from) return;
  const TaskId task = key.first;
  switch (from) {
    case Phase::loading: {
      attempt.phase = Phase::running;
      attempt.since = timeline().now();
      if (attempt.execution.service) {
        report(machine, key);
        return keep(machine, key);
      }
      attempt.progress = saved_[task];
      const Duration left = rules_.work_of(task) - attempt.progress;
      report(machine, key);
      return step(machine, key, Phase::running, std::max(left, Duration::zero()));
    }
    case Phase::running:
      executing_.erase(task);
      if (attempt.execution.task.image == kFailingImage || rules_.attempt_fails(task, key.second)) {
        attempt.phase = Phase::failed;
        ++failures_[task];
      } else {
        attempt.phase = Phase::finished;
      }
      return report(machine, key);
    case Phase::stopping:
      keepers_.end(key);
      save(attempt);
      attempt.phase = Phase::uploading;
      return step(machine, key, Phase::uploading, kUpload);
    case Phase::uploading:
      attempt.phase = Phase::left;
      executing_.erase(task);
      return report(machine, key);
    default:
      return;
  }
}

/// A replica runs until its keeper is killed, or asked to stop.
void MachinePark::keep(Machine& machine, Key key) {
  Keepers::Listener listener;
  listener.tell = [this, &machine, key](const ReplicaState& word) { tell(machine, key, word); };
  listener.died = [this, &machine, key] {
    executing_.erase(key.first);
    // Some end as if they had done what they were for.
    const bool as_done = draw(rules_.seed, key.first.value, key.second + 0x5E41) < 0.3;
    machine.attempts.at(key).phase = as_done ? Phase::finished : Phase::failed;
    failures_[key.first] += as_done ? 0 : 1;
    report(machine, key);
  };
  keepers_.begin(key, *machine.attempts.at(key).execution.service, machine.instance,
                 std::move(listener));
}

/// As the executor of processes does it: at once, and again after each hello.
void MachinePark::tell(Machine& machine, Key key, const ReplicaState& word) {
  if (machine.worker == nullptr) return;
  machine.worker->post([this, &machine, key, word] {
    const auto found = machine.attempts.find(key);
    if (machine.worker == nullptr || found == machine.attempts.end()) return;
    AttemptMetrics said{{key.first, {}}, key.second, word};
    const ServiceGoal& goal = found->second.execution.service->goal;
    if (goal.is_there()) {
      // A ready replica does as much as it has cores, more or less.
      const double luck = 0.8 + 0.4 * draw(rules_.seed, key.first.value, key.second + 0x512E5);
      const double cores = found->second.execution.granted[Resource::cpu];
      said.said.values.emplace_back(goal.metric, word.ready ? cores * luck : 0);
    }
    machine.worker->reported({std::move(said)});
  });
}

/// A checkpoint whose upload takes no time holds nothing.
void MachinePark::save(const MachineAttempt& attempt) {
  if (attempt.execution.task.delays.upload <= Duration::zero()) return;
  Duration& saved = saved_[attempt.found.task];
  saved = std::max(saved, attempt.progress + (timeline().now() - attempt.since));
}

/// Tells the worker, when one runs, how the attempt stands.
void MachinePark::report(Machine& machine, Key key) {
  if (machine.worker == nullptr) return;
  machine.worker->post([&machine, key] {
    const auto found = machine.attempts.find(key);
    if (machine.worker == nullptr || found == machine.attempts.end()) return;
    const Delays& delays = found->second.execution.task.delays;
    const bool is_replica = found->second.execution.service.has_value();
    switch (found->second.phase) {
      case Phase::running:
        return machine.worker->started(key.first, key.second, delays.fetch, {});
      case Phase::left:
        return machine.worker->checkpointed(key.first, key.second, kUpload,
                                            {is_replica ? kStopped : 0, {}, {}});
      case Phase::finished:
        return machine.worker->finished(key.first, key.second, {});
      case Phase::failed:
        return machine.worker->failed(key.first, key.second, "it has ended",
                                      {is_replica ? kKilled : 1, {}, {}});
      default:
        return;
    }
  });
}

MachineExecutor::MachineExecutor(MachinePark& park, Machine& machine, ExecutorHost host)
    : park_(park), machine_(machine), host_(std::move(host)) {
  machine_.worker = &host_;
}

MachineExecutor::~MachineExecutor() {
  if (machine_.worker == &host_) machine_.worker = nullptr;
}

std::vector<FoundExecution> MachineExecutor::adopt() {
  std::vector<FoundExecution> found;
  for (const auto& [key, attempt] : machine_.attempts) {
    found.push_back(attempt.found);
    park_.timeline().after({}, [&park = park_, &machine = machine_, key = key] {
      park.report(machine, key);
      const ReplicaState* word = park.keepers_.state(key);
      if (word != nullptr) park.tell(machine, key, *word);
    });
  }
  return found;
}

void MachineExecutor::repeat_reports() {
  std::vector<AttemptMetrics> said;
  for (const auto& [key, attempt] : machine_.attempts) {
    const ReplicaState* word = park_.keepers_.state(key);
    if (word != nullptr) said.push_back({{key.first, {}}, key.second, *word});
  }
  if (!said.empty()) host_.reported(std::move(said));
}

std::vector<ExecutionSample> MachineExecutor::sample() {
  std::vector<ExecutionSample> samples;
  for (const auto& [key, attempt] : machine_.attempts) {
    if (attempt.phase != Phase::running && attempt.phase != Phase::stopping) continue;
    const double share = draw(1, key.first.value, key.second);
    samples.push_back(
        {key.first, key.second, park_.rules_.wild ? wild_of(share) : 0.5 + 0.5 * share});
  }
  return samples;
}

void MachineExecutor::acknowledged(TaskId task, Attempt attempt) {
  const auto found = machine_.attempts.find({task, attempt});
  if (found == machine_.attempts.end()) return;
  if (!found->second.over()) {
    park_.complain_(
        fmt::format("attempt {} of task {} is settled while it runs", attempt, task.value));
    return;
  }
  const bool is_replica = found->second.execution.service.has_value();
  if (found->second.phase == Phase::finished && !is_replica) park_.done_.insert(task);
  machine_.acknowledged.insert(found->first);
  machine_.attempts.erase(found);
}

}  // namespace muster::ring
