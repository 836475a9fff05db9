#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/cloud/machine_backend.hpp"
#include "tests/simulation/keepers.hpp"
#include "tests/simulation/network.hpp"
#include "workers/executor.hpp"

// The machines of the simulated cloud and what runs on them. A machine keeps its attempts when its
// worker dies, as shims do; only the end of the machine ends them.

namespace muster::ring {

class MachinePark;

/// One attempt on a machine, from its order until its outcome is settled.
struct MachineAttempt {
  enum class Phase { loading, running, stopping, uploading, left, finished, failed };
  FoundExecution found;
  TaskOrder execution;
  Phase phase = Phase::loading;
  Instant since;        ///< it has been running
  Duration progress{};  ///< when it began to run

  bool over() const { return phase >= Phase::left; }
};

/// A rented machine, which has at most one worker.
struct Machine {
  InstanceId instance;
  TypeId type;
  Resources capacity;
  NodeIndex node = 0;
  std::map<std::pair<TaskId, Attempt>, MachineAttempt> attempts;
  std::set<std::pair<TaskId, Attempt>> acknowledged;
  ExecutorHost* worker = nullptr;  ///< null: none runs
  WorkerActor actor;
  bool ended = false;
  bool lost = false;       ///< it ended, and nobody has been told
  bool disturbed = false;  ///< something was done to it, to its worker or to the wire between
};

/// How long things take on machines, and what goes wrong there.
struct WorkRules {
  std::uint64_t seed = 1;
  Duration shortest = std::chrono::seconds{20}, longest = std::chrono::seconds{900};
  double fails = 0;   ///< share of attempts that fail by themselves
  bool wild = false;  ///< throughputs are measured at both ends of what is taken

  Duration work_of(TaskId task) const;
  bool attempt_fails(TaskId task, Attempt attempt) const;
};

/// Runs the machines that the simulated cloud rents out.
class MachinePark final : public MachineBackend {
 public:
  /// Starts the worker of a machine as a node.
  using Starter = std::function<WorkerActor(Machine&)>;
  /// Says what must not be: two attempts of a task at once, a machine that is overfilled.
  using Complain = std::function<void(const std::string&)>;

  MachinePark(Network& network, const Catalog& catalog, WorkRules rules, Starter start,
              Complain complain);

  /// There are that many machines of the type.
  void bound(TypeId type, std::uint32_t most) { most_of_[type] = most; }

  // What a connector asks for.
  Expected<std::string, MachineError> boot(const MachineOrder& order) override;
  bool halt(InstanceId instance, const std::string& machine, Duration grace,
            std::function<void()> done) override;
  bool adopt(const RentedRecord& record) override;
  void keep_only(const std::set<InstanceId>& instances) override;
  /// Likewise, of the machines of those types alone.
  void keep_only(const std::set<InstanceId>& instances, const std::function<bool(TypeId)>& of);

  /// The worker's process dies; another one begins after a while.
  void kill_worker(Machine& machine, Duration down);
  /// The machine is gone with all that ran there; nobody is told.
  void lose(Machine& machine);

  /// Those that are not ended, by rising instances.
  std::vector<Machine*> running();
  /// Attempts that have been started and are neither over nor lost.
  std::size_t busy() const;
  std::uint64_t failures(TaskId task) const;
  const Keepers& keepers() const { return keepers_; }
  /// Something was done to the machine, ever: its instance may be given up for that.
  bool was_disturbed(InstanceId instance) const;
  void end_all();

 private:
  friend class MachineExecutor;
  using Key = AttemptKey;

  Timeline& timeline() { return network_.timeline(); }
  void start_worker(Machine& machine);
  void begin(Machine& machine, const TaskOrder& execution);
  void stop(Machine& machine, TaskId task, Attempt attempt);
  void step(Machine& machine, Key key, MachineAttempt::Phase from, Duration wait);
  void pass(Machine& machine, Key key, MachineAttempt::Phase from);
  void keep(Machine& machine, Key key);
  void tell(Machine& machine, Key key, const ReplicaState& word);
  void save(const MachineAttempt& attempt);
  void report(Machine& machine, Key key);
  void check_room(const Machine& machine);
  void check_count(const Machine& booted);
  void end(Machine& machine);

  Network& network_;
  const Catalog& catalog_;
  WorkRules rules_;
  Starter start_;
  Complain complain_;
  Keepers keepers_;
  std::map<TypeId, std::uint32_t> most_of_;
  std::map<InstanceId, std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Machine>> replaced_;  ///< lost; what was to happen there may yet come
  std::map<TaskId, std::pair<InstanceId, Attempt>> executing_;
  std::map<TaskId, Duration> saved_;  ///< work that checkpoints hold
  std::map<TaskId, std::uint64_t> failures_;
  std::set<TaskId> done_;  ///< an attempt has finished it, and its master has taken note
};

/// What a worker's process knows of its machine: goes when the process does.
class MachineExecutor final : public Executor {
 public:
  MachineExecutor(MachinePark& park, Machine& machine, ExecutorHost host);
  ~MachineExecutor() override;
  MachineExecutor(const MachineExecutor&) = delete;
  MachineExecutor& operator=(const MachineExecutor&) = delete;

  void start(const TaskOrder& execution) override { park_.begin(machine_, execution); }
  void stop(TaskId task, Attempt attempt) override { park_.stop(machine_, task, attempt); }
  std::vector<ExecutionSample> sample() override;
  void repeat_reports() override;
  std::vector<FoundExecution> adopt() override;
  void acknowledged(TaskId task, Attempt attempt) override;

 private:
  MachinePark& park_;
  Machine& machine_;
  ExecutorHost host_;
};

}  // namespace muster::ring
