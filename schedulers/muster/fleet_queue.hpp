#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/kept_room.hpp"
#include "schedulers/muster/fleet_params.hpp"

namespace muster::own {

/// Where a job stands among those that wait: the lower one goes first.
struct FleetKey {
  std::int64_t less_priority = 0;  ///< the opposite of its priority
  bool is_long = false;
  bool patient = true;  ///< it has not waited so long that it goes first in its class
  double rank = 0;      ///< tasks or work still to start; of who is not patient: since when
  Instant accepted{};
  JobId job;

  friend auto operator<=>(const FleetKey&, const FleetKey&) = default;
};

/// Tasks that fit alike: of a class and a shape. Gangs of a class share a list, in which each
/// stands whole.
struct FleetList {
  bool is_long = false;
  bool gang = false;
  ShapeId shape{0};

  friend auto operator<=>(const FleetList&, const FleetList&) = default;
};

/// The jobs of a fixed fleet and the order in which those that wait are served. Follows events: a
/// task that comes to wait or gets a place costs the logarithm of how many jobs wait.
class FleetQueue {
 public:
  explicit FleetQueue(const FleetParams& params) : params_(params) {}

  struct Job {
    Slot slot = kNoSlot;
    std::vector<Slot> tasks;  ///< all of them
    FleetKey key;             ///< in the lists while some task waits
    bool gang = false;
    /// Only probably long, and none of its tasks has shown yet how long they take.
    bool doubted = false;
    std::optional<Instant> since{};  ///< some task has waited all the time
    std::uint32_t passes = 0;  ///< tasks started that stood behind it while it was a list's first
    std::uint64_t done = 0;    ///< tasks that have finished
    Duration done_for{};       ///< and how long they ran together
    /// Waiting tasks, by shape, in the order of the job.
    std::map<ShapeId, std::map<std::uint32_t, Slot>> waiting{};
    std::uint32_t waits = 0;  ///< how many
  };
  /// Memory of a class of jobs.
  struct Class {
    std::uint32_t jobs = 0;  ///< that wait
    Instant last_start{};    ///< of a task of it; not before one came to wait
    std::uint64_t done = 0;  ///< as of a job
    Duration done_for{};

    friend bool operator==(const Class&, const Class&) = default;
  };

  /// The job has come; its predicted length decides its class, its rank its place there.
  void add(const JobRow& row, const QueuePlace& rank);
  /// It is over, and with it whatever of it waits.
  void remove(JobId id);
  /// The task, of a job that is known, waits, or waits no longer.
  void wait(const ClusterState& state, const TaskRow& row, Instant now);
  void leave(const ClusterState& state, const TaskRow& row);
  /// A task of the job has got a place, before it leaves the queue. Jobs before it are passed.
  void note_start(JobId id, Instant now);
  /// A task of the job has run to its end. True when that shows a doubted job to be short.
  bool learn(const ClusterState& state, JobId id, Duration ran);
  /// The number of its tasks without a place may be another.
  void rank(const ClusterState& state, JobId id);
  /// The job turns out to be long.
  void outlive(const ClusterState& state, JobId id);
  /// Jobs that have waited for too long go first from here on.
  void pass_time(Instant now);

  const Job* find(JobId id) const;
  const std::map<JobId, Job>& jobs() const { return jobs_; }
  /// By list, the jobs with something in it.
  const std::map<FleetList, std::set<FleetKey>>& lists() const { return lists_; }
  const Class& of_class(bool is_long) const { return classes_[is_long ? 1 : 0]; }
  /// The first of the class; nothing when none of its jobs waits.
  std::optional<std::pair<FleetKey, FleetList>> first_of(bool is_long) const;
  /// The class has something waiting and has started nothing for too long.
  bool kept_out(bool is_long, Instant now) const;
  /// Of the job only the task that shows what it is goes with short ones.
  bool on_trial(const Job& job) const { return job.doubted && !job.key.is_long; }
  /// Room may be kept for the job's tasks.
  bool starves(const Job& job) const;
  bool empty() const { return lists_.empty(); }

  /// Takes back what another queue knew of a job that is in this one and of the classes.
  void restore(JobId id, const Job& known);
  void restore(bool is_long, const Class& known);

 private:
  void list(const Job& job);
  void unlist(const Job& job);
  void rekey(Job& job, const FleetKey& key);
  void turn(Job& job, bool is_long, const ClusterState& state);
  FleetKey key_of(const ClusterState& state, const Job& job) const;
  double rank_of(const JobRow& row, const Job& job) const;
  double task_s(const muster::Job& asked, const Job& job) const;

  FleetParams params_;
  std::map<JobId, Job> jobs_;
  std::map<FleetList, std::set<FleetKey>> lists_;
  std::array<Class, 2> classes_;
  std::set<std::pair<Instant, JobId>> patient_;  ///< jobs that wait, by since when
};

}  // namespace muster::own
