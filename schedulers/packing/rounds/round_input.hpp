#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/plan.hpp"
#include "schedulers/market_view.hpp"
#include "schedulers/packing/backlog.hpp"
#include "schedulers/packing/index/open_tasks.hpp"
#include "schedulers/packing/rounds/assignment.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/tnrp.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster {

/// Numbers the different task kinds that a policy has met.
class TaskKinds {
 public:
  /// `gangs`: multi-task jobs count as such; otherwise each of their tasks is on its own.
  explicit TaskKinds(bool gangs) : gangs_(gangs) {}

  /// The kind of a task; the state's shapes have to be known to `prices`.
  std::uint32_t of(const TaskRow& task, const ClusterState& state, const ReservationPrices& prices);
  std::span<const TaskKind> all() const { return kinds_; }
  /// Forgets all where gangs were numbered at other prices than the present ones.
  void keep_up(const ReservationPrices& prices);

 private:
  struct Hash {
    std::size_t operator()(const TaskKind& kind) const noexcept;
  };
  struct Known {
    TaskId task;
    std::uint32_t kind = 0;
  };
  double worth_usd_h(const JobRow& gang, const ClusterState& state,
                     const ReservationPrices& prices);

  bool gangs_;
  std::uint64_t prices_ = 0;  ///< their version
  std::vector<TaskKind> kinds_;
  std::unordered_map<TaskKind, std::uint32_t, Hash> ids_;
  std::vector<Known> by_slot_;
  JobId summed_{};  ///< the gang whose worth was added up last: its tasks come together
  double summed_usd_h_ = 0;
};

/// Inputs of a packing policy for one round: flat lists of tasks that may be placed, and of places.
class RoundInput {
 public:
  /// A task that is meant to run: it may be placed anew, or is on its way and stays as planned.
  struct Task {
    Slot slot = kNoSlot;
    TaskId id;
    std::uint32_t kind = 0;
    std::uint32_t job = 0;             ///< in jobs()
    std::uint32_t home = kUnassigned;  ///< in instances(): where it is meant to be
    bool movable = true;               ///< it, or its gang, is not on its way, and it need not stay
    bool held = false;                 ///< it runs and is not moved whatever a plan says
    double unsaved_usd = 0;  ///< worth of what it, or all of its gang, would lose by a move
    Apart apart;             ///< from the other tasks of its job
  };
  /// A task of a job whose tasks are kept apart is on the instance, or is to come there, or has
  /// still to leave it. Listed once an instance, of jobs some of whose tasks may be placed.
  struct Peer {
    std::uint32_t instance = 0;  ///< in instances()
    Apart apart;                 ///< from the other tasks of its job
  };
  /// An instance that is wanted and not going away.
  struct Instance {
    Slot slot = kNoSlot;
    InstanceId id;
    TypeId type;
    double price_usd_h = 0;  ///< with the surcharge of the prices; of an owned one 0
    bool owned = false;      ///< it is not given back
    bool ready = false;
    bool closed = false;                     ///< it takes nothing more (ClusterView::is_closed())
    bool pinned = false;                     ///< a task that is on its way is meant to be here
    bool held = false;                       ///< a task that has to stay is here
    double unsaved_usd = 0;                  ///< loss when all tasks here are moved
    std::uint32_t first = 0, residents = 0;  ///< its tasks, in residents()
  };
  struct Job {
    Slot slot = kNoSlot;
    double worth_usd_h = 0;  ///< of a gang: sum of its tasks' reservation prices
    int priority = 0;        ///< by its rank
    bool gang = false;
  };

  RoundInput() = default;
  /// `moves_apart`: the policy moves tasks that are kept apart only to where they may be beside all
  /// peers that are there or have still to leave. For others those that run have to stay.
  explicit RoundInput(bool moves_apart) : moves_apart_(moves_apart) {}

  /// Looks at all of the view, which is of the prices' market, but for what Backlog leaves out of
  /// equal tasks that wait. Jobs with a task that no type holds are left out and listed.
  void gather(const MarketView& view, ReservationPrices& prices, TaskKinds& kinds);

  /// In the order of their jobs: the highest priority first, then the first accepted.
  std::span<const Task> tasks() const { return tasks_; }
  std::span<const Instance> instances() const { return instances_; }  ///< in the order of request
  std::span<const Job> jobs() const { return jobs_; }
  std::span<const std::uint32_t> residents(const Instance& instance) const {
    return std::span(residents_).subspan(instance.first, instance.residents);
  }
  std::span<const Peer> peers() const { return peers_; }
  /// As rooms, which are the round's instances by their number.
  PeerRooms peer_rooms() const;
  /// A task that may be placed is of a job whose tasks are kept apart.
  bool any_apart() const { return any_apart_; }
  /// Refusals that are news to their tasks.
  const std::vector<Refuse>& refusals() const { return refusals_; }
  bool any_movable() const { return any_movable_; }
  /// Time alone changes what may be moved, or what a move would cost.
  bool changes_with_time() const { return changes_with_time_; }
  /// Number of tasks that it looked at.
  std::uint32_t looks() const { return looks_; }
  /// The cloud does not have the type on the market now.
  bool rests(TypeId type) const { return rests_[type.value] != 0; }
  /// Instances of the type that the cloud has left on demand; nothing: it does not count them.
  std::optional<std::uint32_t> left(TypeId type) const { return left_[type.value]; }

 private:
  /// State of a walk over the jobs.
  struct Walk {
    const ClusterView& view;
    const ReservationPrices& prices;
    TaskKinds& kinds;
    Backlog backlog;
    std::uint32_t may_tell = 0;  ///< number of tasks left out that may still be told why
  };
  /// Facts that the tasks of a job share.
  struct Tasks {
    const JobRow& job;
    const ReservationPrice* impossible = nullptr;  ///< of a gang: that of a task that fits nowhere
    bool gang_moves = false;
  };

  void gather_instances(const MarketView& market, Price surcharge);
  void gather_jobs(const MarketView& market, const ReservationPrices& prices, TaskKinds& kinds);
  void gather_job(const JobRow& job, Walk& walk);
  static double look_at_gang(const JobRow& gang, const Walk& walk,
                             const ReservationPrice*& impossible);
  bool refuse(const TaskRow& row, const Tasks& of, const Walk& walk);
  void gather_task(const TaskRow& row, const Tasks& of, Walk& walk);
  static bool may_tell(const TaskRow& row, const JobRow& job, Walk& walk);
  void tell_left_out(const TaskRow& row, const JobRow& job, Walk& walk);
  void list_peer(const TaskRow& row, const JobRow& job);
  void tie_down(const TaskRow& row, const ClusterView& view, Task& task);
  void list_residents();
  void add_up_unsaved();

  bool moves_apart_ = false;
  std::vector<Task> tasks_;
  std::vector<Instance> instances_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> residents_;
  std::vector<Peer> peers_;
  bool any_apart_ = false;
  std::vector<Refuse> refusals_;
  std::vector<std::uint32_t> instance_of_slot_;
  std::vector<char> rests_;  ///< of each type
  std::vector<std::optional<std::uint32_t>> left_;
  std::vector<Slot> order_;  ///< of jobs, where their priorities differ
  WideJobs wide_;
  std::uint32_t looks_ = 0;
  bool any_movable_ = false;
  bool changes_with_time_ = false;
};

}  // namespace muster
