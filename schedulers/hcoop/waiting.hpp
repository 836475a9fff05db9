#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedulers/hcoop/hcoop_params.hpp"
#include "schedulers/packing/complementary.hpp"
#include "schedulers/packing/index/ordered_index.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/feasible_types.hpp"

namespace muster::hcoop {

/// The queues of a master, in the order in which a round serves them: the paper's two (what can
/// only be on regular instances, what may be on spot ones), each for short and for long jobs.
/// Only tasks of one queue are packed together.
enum class QueueKind : std::uint8_t { short_regular, short_spot, long_regular, long_spot };
inline constexpr std::size_t kQueues = 4;

/// The market that the queue's entities go to first.
constexpr Market market_of(QueueKind queue) {
  const bool spot = queue == QueueKind::short_spot || queue == QueueKind::long_spot;
  return spot ? Market::spot : Market::on_demand;
}

/// A place in a queue: interrupted tasks before all others, then those of jobs of a higher
/// priority, each in the order in which they came to wait.
using Order = std::uint64_t;

using PlacementUnitId = std::uint32_t;
inline constexpr PlacementUnitId kNoPlacementUnit = std::numeric_limits<PlacementUnitId>::max();

/// Unit of placement (III-D): tasks packed onto one instance, a single task, or the tasks of a
/// gang, each of which is placed by itself but only with all others.
struct PlacementUnit {
  std::vector<Slot> tasks;  ///< the first one in the queue comes first
  Order order = 0;          ///< of that one
  QueueKind queue = QueueKind::short_regular;
  JobId gang;                  ///< whose tasks they are; not valid: they are packed
  bool may_fall_back = false;  ///< regular instances will do where its market is spot
  bool queued = false;         ///< it was looked at and waits
  bool placed = false;         ///< the last plan has a place for it, or for a part of it
  bool refused = false;        ///< it did not get it: it asks the cloud again at a tick
  double deviation = 0;        ///< DV of what is packed
};

/// Facts of the waiting tasks that do not follow from the state. Equal for equal queues.
struct WaitingSnapshot {
  struct Unit {
    std::vector<TaskId> tasks;  ///< of an entity, in its order
    QueueKind queue = QueueKind::short_regular;
    bool gang = false, may_fall_back = false, queued = false, placed = false, refused = false;
    double deviation = 0;
  };
  Order next_order = 1;
  std::vector<std::pair<TaskId, Order>> orders;  ///< of the tasks that wait, in the state's order
  std::vector<Unit> units;                       ///< in the order of their queues
  std::map<TaskId, std::uint32_t> interruptions;
};

/// Demands of a task.
struct Asks {
  ShapeId shape;
  Apart apart;  ///< from the other tasks of its job
};

/// The waiting tasks of a state and what they are packed into; follows the state's events.
class WaitingTasks {
 public:
  explicit WaitingTasks(const HcoopParams& params) : params_(params) {}

  /// Starts again with the tasks of the state and what is on offer. Waiting tasks keep the state's
  /// order; interruptions are remembered.
  void rebuild(const ClusterState& state, const FeasibleTypes& feasible_types);

  WaitingSnapshot snapshot(const ClusterState& state) const;
  /// Becomes equal to the object that gave the snapshot when the state was equal. False when they
  /// do not fit together: then it has to be rebuilt.
  bool restore(const WaitingSnapshot& snapshot, const ClusterState& state,
               const FeasibleTypes& feasible_types);

  /// The task is as the state has it now. Answers where it was and where it was meant to be.
  std::array<InstanceId, 2> follow(const ClusterState& state, const FeasibleTypes& feasible_types,
                                   Slot slot);
  /// The job is over and its tasks have left the state. Answers where they were meant to be.
  std::vector<InstanceId> forget(JobId job, const FeasibleTypes& feasible_types);
  /// It is in the list of those that wait, as far as is known here.
  bool known_to_wait(const TaskRow& row) const;
  /// Where the task is meant to be, as far as is known here.
  InstanceId planned_at(const TaskRow& row) const;
  /// A spot instance was taken from under the task, or from under its gang.
  void note_interruption(const ClusterState& state, const TaskRow& row);
  std::map<TaskId, std::uint32_t>& interruptions() { return interruptions_; }
  const std::map<TaskId, std::uint32_t>& interruptions() const { return interruptions_; }

  /// Packs what came to wait since the last time, in the order of the queues. A task that fits no
  /// type is refused. Answers the placement units that were not looked at yet, queue by queue, each
  /// in order.
  struct Fresh {
    std::array<std::vector<PlacementUnitId>, kQueues> units;
    std::vector<Refuse> refusals;
  };
  Fresh pack(const ClusterState& state, const FeasibleTypes& feasible_types);

  /// The placement units that the last plan had a place for and that are still there.
  std::vector<PlacementUnitId> placed() const;
  const PlacementUnit& unit(PlacementUnitId id) const { return units_[id]; }
  PlacementUnit& unit(PlacementUnitId id) { return units_[id]; }
  /// The job's tasks when they wait as a gang, else kNoPlacementUnit.
  PlacementUnitId gang_of(JobId job) const;
  /// The waiting task's unit, else kNoPlacementUnit.
  PlacementUnitId unit_with(Slot slot) const {
    return slot < records_.size() ? records_[slot].unit : kNoPlacementUnit;
  }
  Asks asks_of(Slot slot) const { return {records_[slot].shape, records_[slot].apart}; }
  /// It waits, and goes into its queue, where `next` finds it.
  void enqueue(PlacementUnitId id, const FeasibleTypes& feasible_types);
  std::size_t size() const { return waiting_; }

  /// The first entity in the queue not before `from` of which the least demand of its tasks passes
  /// `may`. `may` has to pass whatever is smaller than what it passes.
  template <class May>
  std::optional<PlacementUnitId> next(QueueKind queue, Order from, const May& may) const {
    const Index::Node* found = queues_[static_cast<std::size_t>(queue)].first(
        from, [&](const Least& all) { return may(all.demand); },
        [&](const Queued& one) { return may(one.least); });
    return found == nullptr ? std::nullopt : std::optional(found->item.unit);
  }

 private:
  struct Record {
    TaskId task;
    ShapeId shape;
    TaskPhase phase = TaskPhase::pending;
    Order order = 0;  ///< 0: does not wait
    QueueKind queue = QueueKind::short_regular;
    bool may_fall_back = false;
    bool waits = false;    ///< and is not of a job that is terminating
    bool indexed = false;  ///< among those that wait for company
    PlacementUnitId unit = kNoPlacementUnit;
    InstanceId planned;  ///< where it is meant to be
    InstanceId at;       ///< where it is
    Apart apart;         ///< from the other tasks of its job
  };
  struct JobTasks {
    std::vector<Slot> slots;
    PlacementUnitId gang = kNoPlacementUnit;
  };
  struct Queued {
    PlacementUnitId unit = kNoPlacementUnit;
    Resources least;
  };
  struct Least {
    Least() = default;
    explicit Least(const Queued& one) : demand(one.least) {}
    void add(const Least& other) { demand = least_of(demand, other.demand); }
    friend bool operator==(const Least&, const Least&) = default;
    Resources demand;
  };
  using Index = OrderedIndex<Order, Queued, Least>;

  void reset(const ClusterState& state, const FeasibleTypes& feasible_types);
  Record& record_of(const ClusterState& state, const TaskRow& row);
  bool restore_orders(const WaitingSnapshot& snapshot, const ClusterState& state);
  bool restore_unit(const WaitingSnapshot::Unit& unit, const ClusterState& state,
                    const FeasibleTypes& feasible_types);
  void begin_waiting(const ClusterState& state, const TaskRow& row);
  void stop_waiting(Slot slot, const FeasibleTypes& feasible_types);
  void dissolve(PlacementUnitId id, const FeasibleTypes& feasible_types);
  bool is_long(const Job& job) const;
  bool wants_spot(const ClusterState& state, const TaskRow& row,
                  const FeasibleTypes& feasible_types) const;
  std::vector<Slot> take_arrivals();
  std::optional<Refusal> classify(const ClusterState& state, const FeasibleTypes& feasible_types,
                                  Slot slot);
  bool gather_gang(const ClusterState& state, const FeasibleTypes& feasible_types,
                   const JobRow& job, Fresh& fresh);
  Packable packable_of(Slot slot, const FeasibleTypes& feasible_types) const;
  void pack_queue(QueueKind queue, const std::vector<Slot>& tasks,
                  const FeasibleTypes& feasible_types, std::vector<PlacementUnitId>& fresh);
  std::vector<std::vector<Packable>> groups_of(QueueKind queue, std::vector<Packable> tasks,
                                               const FitsWith& fits);
  PlacementUnitId new_unit(std::vector<Slot> tasks, QueueKind queue);
  PlacementUnitId new_gang(std::vector<Slot> tasks, QueueKind queue, JobId job);
  void remove_unit(PlacementUnitId id);

  HcoopParams params_;
  std::vector<Record> records_;               ///< by the task's slot
  std::unordered_map<JobId, JobTasks> jobs_;  // looked up only, never gone through
  std::vector<PlacementUnit> units_;
  std::vector<PlacementUnitId> free_units_;
  std::array<Index, kQueues> queues_;
  std::array<ComplementaryIndex, kQueues> singles_;
  std::vector<Slot> arrivals_;  ///< to be packed at the next chance
  std::map<TaskId, std::uint32_t> interruptions_;
  Order next_order_ = 1;
  std::size_t waiting_ = 0;
};

}  // namespace muster::hcoop
