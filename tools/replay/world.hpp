#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "tools/replay/interference.hpp"
#include "tools/replay/workload/workload.hpp"
#include "workers/execution_model.hpp"

namespace muster::replay {

struct WorldSetup {
  const Catalog* catalog = nullptr;
  Interference* interference = nullptr;
  Duration quantum{};                    ///< things happen at multiples of it
  Duration settle{};                     ///< how long after its instant a completion is told
  bool checkpoints = true;               ///< what is unloaded is saved
  std::function<void(Instant)> wake_at;  ///< asks for a call of wake() at that time
};

/// The simulated world: knows how long jobs really take and how tasks on one instance slow each
/// other, and advances what is loaded. Schedulers see of it only what a live system would show.
/// A gang progresses when all its tasks are loaded and initialised, at the pace of its slowest
/// task.
class World : public ExecutionModel {
 public:
  /// The workload has to outlive the world.
  World(WorldSetup setup, const Workload& workload);

  Instant instant(Instant now) const override { return floor_to(now, setup_.quantum); }
  void load(TaskId task, InstanceId instance, TypeId type, std::function<void()> on_done) override;
  void unload(TaskId task) override;
  void lose(TaskId task) override;
  double throughput(TaskId task) const override;

  /// Moves on to `now`, which is what wake_at asked for: ends what is done by then.
  void wake(Instant now);

  /// Something progresses or will, once it is initialised.
  bool busy() const { return !deadlines_.empty(); }

  /// Work that was done and lost, in seconds of a task that runs alone.
  double lost_s() const { return lost_s_; }

  /// The time that load and unload happen at; set by whoever lets the world run.
  void set_clock(std::function<Instant()> now) { now_ = std::move(now); }

 private:
  /// What progresses as one: a gang, or a single task of any other job.
  struct Unit {
    double iterations = 0;
    double iterations_per_s = 1;
    Duration init{};
    std::vector<std::size_t> tasks;
    std::size_t loaded = 0;
    double done = 0;   ///< iterations, as of settled_at
    double saved = 0;  ///< of these, what survives whatever happens
    double rate = 0;   ///< iterations per second since then
    Instant settled_at;
    Instant progress_from;            ///< once all tasks are loaded
    std::optional<Instant> deadline;  ///< when it will be done if nothing changes
  };
  struct Task {
    TaskId id;
    std::size_t unit = 0;
    std::uint32_t interference = 0;
    const Demands* demands = nullptr;
    bool loaded = false;
    InstanceId instance;
    double speed = 1;       ///< of the family it is on
    double normalized = 1;  ///< throughput on its instance, as interference leaves it
    std::function<void()> on_done;
  };

  void add_job(const WorkloadJob& job);
  std::size_t add_unit(double iterations, double iterations_per_s, Duration init);
  void take_off(TaskId id, bool saved);
  void detach(Task& task);
  void refresh(InstanceId instance, Instant now);
  void pace(std::size_t unit, Instant now);
  void settle(Unit& unit, Instant now) const;
  void finish(std::size_t unit, Instant now);
  void arm();

  WorldSetup setup_;
  std::function<Instant()> now_;
  std::vector<Unit> units_;
  std::vector<Task> tasks_;
  std::unordered_map<TaskId, std::size_t> index_;
  std::unordered_map<InstanceId, std::vector<std::size_t>> on_instance_;  ///< in order of loading
  std::set<std::pair<Instant, std::size_t>> deadlines_;
  std::optional<Instant> armed_;
  double lost_s_ = 0;
};

}  // namespace muster::replay
