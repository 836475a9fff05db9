#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "replay/interference.hpp"
#include "replay/workload/workload.hpp"
#include "workers/execution_model.hpp"

namespace muster::replay {

struct WorldSetup {
  const Catalog* catalog = nullptr;
  Interference* interference = nullptr;
  Duration quantum{};                    ///< things happen at multiples of it
  Duration settle{};                     ///< how long after its instant a completion is told
  bool checkpoints = true;               ///< a task that is unloaded saves its work
  std::function<void(Instant)> wake_at;  ///< asks for a call of wake() at that time
  /// Share of its speed that a gang on several instances loses while it shares one of them with
  /// another.
  double distributed_slowdown = 0;
};

/// The simulated world: knows how long jobs really take and how tasks on one instance slow each
/// other, and advances what is loaded. Schedulers see of it only what a live system would show.
/// Jobs are known from `add` to `forget`. A gang progresses when all its tasks are loaded and
/// initialised, at the pace of its slowest task; an elastic job when as many are as it runs as.
class World : public ExecutionModel {
 public:
  explicit World(WorldSetup setup);

  /// The tasks of `part` can be loaded from now on: those of a job of the workload, or of the part
  /// of it that a master has taken. `rank` is the job's place in the workload: of what is done at
  /// the same instant, what comes first there is ended first.
  void add(std::size_t rank, const WorkloadJob& job, const Job& part);
  void add(std::size_t rank, const WorkloadJob& job) { add(rank, job, job.job); }
  /// The tasks of a part that is over are not known any more.
  void forget(const Job& part);

  Instant instant(Instant now) const override { return floor_to(now, setup_.quantum); }
  void load(const LoadedTask& loaded) override;
  void unload(TaskId task) override;
  void lose(TaskId task) override;
  double throughput(TaskId task) const override;
  std::optional<ExecutionProgress> progress(TaskId task) const override;

  /// Moves on to `now`, which is what wake_at asked for: ends what is done by then.
  void wake(Instant now);

  /// Something progresses or will, once it is initialised.
  bool busy() const { return !deadlines_.empty(); }

  /// Work that was done and lost, in seconds of a task that runs alone.
  double lost_s() const { return lost_s_; }

  /// The time that load and unload happen at; set by whoever lets the world run.
  void set_clock(std::function<Instant()> now) { now_ = std::move(now); }

 private:
  struct Task;
  /// State of elastic jobs only.
  struct Elastic {
    std::shared_ptr<const ElasticTruth> truth;
    TaskId first;                       ///< of the job's tasks: it speaks for the job
    std::unique_ptr<ElasticPace> pace;  ///< not null
    std::string family;                 ///< on which it was last; empty: on no family
    std::size_t epoch = 0;
    double paced = 0;                 ///< result of `pace` for the epoch
    std::optional<Instant> rechoice;  ///< when `pace` is asked again, in the middle of the epoch
    bool rechooses = false;           ///< that is what happens at the deadline
  };
  /// A unit of progress: a gang, or a single task of any other job.
  struct Unit {
    std::uint64_t rank = 0;  ///< by job and, in a job that is no gang, by task
    double iterations = 0;
    double iterations_per_s = 1;
    Duration init{};
    std::vector<Task*> tasks;  ///< those that were added
    std::size_t size = 1;      ///< tasks in all
    std::size_t loaded = 0;
    double done = 0;   ///< iterations, as of settled_at
    double saved = 0;  ///< of these, what survives whatever happens
    double rate = 0;   ///< iterations per second since then
    /// The least normalised throughput of its loaded tasks; nothing: it has to be looked for anew.
    mutable std::optional<double> slowest;
    Instant settled_at;
    Instant progress_from;             ///< once all tasks are loaded
    std::optional<Instant> deadline;   ///< when it, or its epoch, will be done if nothing changes
    std::unique_ptr<Elastic> elastic;  ///< null: its pace is the same all along

    /// Some of its loaded tasks are on another instance than the others.
    bool is_distributed() const;
    /// Its pace where it runs alone.
    double alone() const { return elastic ? elastic->paced : iterations_per_s; }
    /// Where its work ends or changes next.
    double next_end() const {
      return elastic ? elastic->truth->ends()[elastic->epoch] : iterations;
    }
  };
  struct Task {
    Unit* unit = nullptr;
    std::uint32_t interference = 0;
    Demands demands;
    bool loaded = false;
    bool over = false;
    InstanceId instance;
    TypeId type;
    double speed = 1;        ///< of the family it is on
    std::uint32_t room = 1;  ///< of an elastic job: such tasks that its instance could hold
    double normalized = 1;   ///< throughput on its instance, as interference leaves it
    LoadCaller caller;       ///< while it is loaded
  };
  /// In the order in which they are ended when they are done at one instant.
  using Deadlines = std::map<std::pair<Instant, std::uint64_t>, Unit*>;

  Unit& unit_for(std::size_t rank, const WorkloadJob& job, std::size_t index);
  void take_off(TaskId id, bool saved);
  void detach(Task& task);
  void refresh(InstanceId instance, Instant now);
  void refresh_all(const Unit& unit, Instant now);
  bool is_disturbed(const Unit& unit) const;
  void begin_together(Unit& unit, Instant now);
  void next_epoch(Unit& unit, Instant now);
  void rechoose(Unit& unit, Instant now);
  static void await_rechoice(Elastic& elastic, Instant after);
  void pace(Unit& unit, Instant now);
  void settle(Unit& unit, Instant now) const;
  void finish(Unit& unit, Instant now);
  void arm();

  WorldSetup setup_;
  std::function<Instant()> now_;
  std::unordered_map<std::uint64_t, Unit> units_;  ///< by rank
  std::unordered_map<TaskId, Task> tasks_;
  std::unordered_map<InstanceId, std::vector<Task*>> on_instance_;  ///< in order of loading
  Deadlines deadlines_;
  std::optional<Instant> armed_;
  double lost_s_ = 0;
};

}  // namespace muster::replay
