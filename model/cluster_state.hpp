#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/catalog.hpp"
#include "model/class_table.hpp"
#include "model/enum_words.hpp"
#include "model/event.hpp"
#include "model/offering_table.hpp"
#include "model/price_steps.hpp"
#include "model/resource_sum.hpp"
#include "model/shape_table.hpp"
#include "model/slot_list.hpp"

namespace muster {

/// How far a task has come.
enum class TaskPhase : std::uint8_t {
  pending,   ///< has no place
  held,      ///< is without a place, by its user's will
  capped,    ///< is without a place: as many tasks of its job have one as may at once, or as its
             ///< width, or its counterpart in another job is not over
  assigned,  ///< has a place, is not there yet
  starting,  ///< the worker was told to start it
  running,   ///< executes
  stopping,  ///< the worker was told to stop it
  finished,
  failed  ///< for good: it is not tried again
};

/// Last reason for which an assigned task was told to wait.
enum class ToldReason : std::uint8_t { not_assigned, awaiting_peers, awaiting_instance, other };

/// State of one task of an unfinished job.
struct TaskRow {
  TaskId id;
  Slot slot = kNoSlot;
  Slot job = kNoSlot;
  std::uint32_t index = 0;  ///< position in the job
  ClassId cls;              ///< interned workload class of the job
  ShapeId shape;            ///< interned demands and constraint of the job
  TaskPhase phase = TaskPhase::pending;
  Attempt attempt = 0;    ///< number of starts so far
  Slot at = kNoSlot;      ///< instance whose resources it holds
  Slot target = kNoSlot;  ///< instance where it is meant to be
  Grant held;  ///< resources that it holds of its instance; without an instance this and the next
               ///< have no meaning
  Grant planned;             ///< resources that it will hold of the instance that it is assigned to
  Refusal reason;            ///< why it does not run, while it does not
  Duration seen_load{};      ///< fetch + build of the last start; 0 before it
  Duration seen_upload{};    ///< upload of the last stop; 0 before it
  SlotLinks queue;           ///< in the pending or in the assigned list
  std::uint64_t queued = 0;  ///< rises along that list
  bool blocks_gang = false;  ///< derived: see GangCounts
  ToldReason told = ToldReason::not_assigned;  ///< derived from phase and reason
  Instant started_at{};                        ///< of the newest attempt that has started
  Duration ran{};  ///< how long its ended attempts ran, but for those of which all was lost
  /// Number of its last attempts, in a row, that were interrupted or moved without progress.
  std::uint32_t fruitless = 0;
  Metrics metrics{};  ///< all that the last attempt that reported any has reported
  /// Of a service, how its present attempt is doing; null: nothing is known of that.
  std::shared_ptr<const ReplicaState> replica{};
  /// Of a service: attempts in a row that ended before they had stood (kForgetSetbacks).
  std::uint32_t setbacks = 0;
  Instant rests_until{};  ///< it has no place until then, for its setbacks; 0: it does not rest
  bool wanted = false;    ///< of a service: it is one of the replicas
  Instant ready_since{};  ///< of a service: since then clients may be sent to it; 0: they may not
  bool awaits = false;    ///< its counterpart in another job is not over, so that it has no turn
};

/// The setbacks of a replica whose attempt ends at that time.
inline std::uint32_t setbacks_with(const TaskRow& task, Instant ends) {
  const bool stood = task.phase != TaskPhase::starting && ends - task.started_at >= kForgetSetbacks;
  return stood ? 1 : std::min(task.setbacks, ~std::uint32_t{0} - 1) + 1;
}

/// Clients of its service may be sent to it.
inline bool is_endpoint(const TaskRow& task) {
  return task.phase == TaskPhase::running && task.replica != nullptr && task.replica->ready;
}

/// Counts of a job's tasks that decide whether and how its gang starts; derived from their rows, so
/// that a change of one task costs no look at the others.
struct GangCounts {
  std::uint32_t assigned = 0;       ///< tasks in that phase
  std::uint32_t told_peers = 0;     ///< of these, those told to wait for their peers
  std::uint32_t told_instance = 0;  ///< and those told to wait for their instance
  std::uint32_t holding = 0;        ///< tasks that hold an instance's resources
  std::uint32_t blockers = 0;       ///< stopping, or assigned to an instance that is not up
  std::uint32_t first_blocker = 0;  ///< the position of the first one, while there are any

  friend bool operator==(const GangCounts&, const GangCounts&) = default;
};

inline constexpr std::size_t kTaskPhases = kEnumerators<TaskPhase>;

/// An unfinished job in one word.
enum class JobStanding : std::uint8_t {
  waiting,   ///< none of its tasks has a place
  held,      ///< without a place, by its user's will
  starting,  ///< none of its tasks runs, some have a place
  running,   ///< some task runs
  stopping   ///< it will not be completed: over as soon as none of its tasks runs any more
};
constexpr auto words_of(JobStanding) {
  using E = JobStanding;
  return std::to_array<EnumWord<E>>({{E::waiting, "waiting"},
                                     {E::held, "held"},
                                     {E::starting, "starting"},
                                     {E::running, "running"},
                                     {E::stopping, "stopping"}});
}
inline constexpr std::size_t kJobStandings = kEnumerators<JobStanding>;

/// State of an unfinished job.
struct JobRow {
  Job job;
  Slot slot = kNoSlot;
  Instant accepted_at;
  std::vector<Slot> tasks;
  std::uint32_t pending = 0;  ///< how many of the tasks are in the phase
  std::uint32_t held = 0;     ///< this one and the next: derived from their rows
  std::uint32_t capped = 0;
  std::uint32_t running = 0;
  std::uint32_t finished = 0;
  bool held_by_user = false;
  std::optional<JobOutcome> terminal_outcome;  ///< over as soon as none of its tasks runs any more
  std::uint32_t held_from = 0;                 ///< no task before this one is held or capped
  SlotLinks active;
  GangCounts gang;
  std::uint32_t starting = 0;  ///< how many of the tasks are in the phase; derived from their rows
  std::uint32_t stopping = 0;
  JobStanding counted = JobStanding::waiting;  ///< as what it is counted; derived
  std::uint32_t failed = 0;                    ///< how many of the tasks have; derived
  /// Of an elastic job: the number of its first tasks that are to run, while the others are not; 0:
  /// the job is not elastic.
  std::uint32_t width = 0;
  double done = 0;  ///< of its progress, as it was measured last
  /// How many of the tasks have ended without progress too often; derived.
  std::uint32_t confined = 0;
  std::uint32_t replicas = 0;  ///< of a service: that it is to have; 0: its revision is given up
  bool settled = false;        ///< all its replicas have been healthy at once
  Instant progressed_at{};  ///< of a service: when one of them became ready last, or it was scaled
  JobId failed_update{};    ///< the last revision after this one that was given up
  std::uint32_t last_revision = 0;  ///< the highest number of its revisions so far
  std::uint32_t wanted = 0;         ///< how many of its tasks are; this one and the next: derived
  std::uint32_t leaving = 0;        ///< tasks that are not wanted and hold resources
  std::uint32_t awaiting = 0;       ///< tasks whose counterparts are not over; derived
  bool started = false;             ///< an attempt of some task has; derived

  /// Tasks that are without a place for now.
  std::uint32_t withheld() const { return held + capped; }
  /// Tasks that have come to an end by themselves.
  std::uint32_t ended() const { return finished + failed; }
  /// Tasks that have to end for the job to do so.
  std::size_t size() const { return width > 0 ? width : tasks.size(); }
  bool all_ended() const { return ended() == size(); }
  /// Some task is on its way to run or to stop, or has ended: the job's width is left as it is.
  bool in_transit() const { return starting + stopping + ended() > 0; }
  /// Number of tasks of the job that run together, as their processes are told.
  std::uint32_t running_together() const { return width > 0 ? width : job.task_count(); }
  JobStanding standing() const {
    if (terminal_outcome) return JobStanding::stopping;
    if (running + stopping > 0) return JobStanding::running;
    if (gang.assigned + starting > 0) return JobStanding::starting;
    return held_by_user ? JobStanding::held : JobStanding::waiting;
  }

  /// Nothing keeps the tasks of the gang as such from starting.
  bool gang_is_open() const { return pending == 0 && gang.blockers == 0; }

  /// Some task is on its way from or to an instance.
  bool migrating() const { return pending + withheld() + running + ended() < tasks.size(); }
  /// Tasks that may have a place besides those that may already.
  std::uint32_t room_in_flight() const {
    const auto open = static_cast<std::uint32_t>(tasks.size()) - withheld() - ended();
    if (width > 0) return 0;  // which tasks have places is said by the width
    if (job.max_running == 0) return static_cast<std::uint32_t>(tasks.size());
    return job.max_running > open ? job.max_running - open : 0;
  }
};

/// How far an instance has come; one that is gone has no row.
enum class InstancePhase : std::uint8_t { requested, booting, ready, terminating };
constexpr auto words_of(InstancePhase) {
  using E = InstancePhase;
  return std::to_array<EnumWord<E>>({{E::requested, "requested"},
                                     {E::booting, "booting"},
                                     {E::ready, "ready"},
                                     {E::terminating, "terminating"}});
}

/// State of an instance that is not gone.
struct InstanceRow {
  InstanceId id;
  Slot slot = kNoSlot;
  TypeId type;
  Market market = Market::on_demand;
  Price price;  ///< of an hour now
  InstancePhase phase = InstancePhase::requested;
  bool up = false;        ///< billed until it is gone
  bool released = false;  ///< no longer wanted
  Instant requested_at;
  Instant up_at{};  ///< when its billing began, once it is up; of earlier versions: its request
  std::vector<Slot> occupants;  ///< tasks that hold its resources
  std::vector<Slot> planned;    ///< tasks that are meant to be here
  Resources used;               ///< resources that the occupants hold
  Resources committed;          ///< resources that the planned tasks ask for
  SlotLinks live;
  std::string zone;           ///< of the offering; empty: the only one
  Price max_price;            ///< highest price of an hour when it was rented; zero: any price
  PriceSteps earlier_prices;  ///< since it was asked for, by the cloud's clock: the newest ones
  SlotLinks same_offering;
  bool owned = false;  ///< it was launched as one of its master's fleet
  /// No other machine finds checkpoints that its tasks save: one that leaves it begins anew.
  bool own_checkpoints = false;

  OfferingKey offering() const { return {type, market, zone}; }
};

/// Earlier prices of an instance that are kept. They are needed where news of its beginning or end
/// come after those of a price: bills are exact unless its price changed more often meanwhile.
inline constexpr std::size_t kEarlierPrices = 16;

/// Sums over the instances that are not gone.
struct FleetSums {
  ResourceSum used;                     ///< resources that tasks hold
  ResourceSum committed;                ///< resources that the tasks assigned to them ask for
  ResourceSum capacity;                 ///< of all
  ResourceSum open_capacity;            ///< of those that are not released
  std::int64_t nano_usd_h = 0;          ///< price of an hour of all of them while they are up
  std::int64_t up_nano_usd_h = 0;       ///< price of an hour of those that are up
  std::vector<std::uint32_t> by_offer;  ///< how many of a type and market

  /// How many there are of the offer.
  std::uint32_t count(TypeId type, Market market) const {
    const std::size_t at = position(type, market);
    return at < by_offer.size() ? by_offer[at] : 0;
  }
  static std::size_t position(TypeId type, Market market) {
    return 2 * std::size_t{type.value} + (market == Market::spot ? 1 : 0);
  }
};

/// How many of the unfinished jobs, and of their tasks, are how far.
struct WorkSums {
  std::array<std::size_t, kJobStandings> jobs{};
  std::array<std::size_t, kTaskPhases> tasks{};
  /// Of the capped tasks, those beyond an elastic job's width and the spare ones of services.
  std::size_t beyond_width = 0;
  std::size_t elastic_jobs = 0;
  std::size_t widths = 0;  ///< of elastic jobs, together

  std::size_t count(JobStanding standing) const { return jobs[static_cast<std::size_t>(standing)]; }
  std::size_t count(TaskPhase phase) const { return tasks[static_cast<std::size_t>(phase)]; }
  friend bool operator==(const WorkSums&, const WorkSums&) = default;
};

/// The state of one master: tables with stable slots, and the indexes that policies read. It
/// changes only by apply(); nothing in it depends on the order of an unordered container.
class ClusterState {
 public:
  explicit ClusterState(const Catalog& catalog) : catalog_(&catalog), offerings_(catalog) {}

  /// Makes the event part of the state. The event has to be possible in the present state.
  void apply(const Event& event);

  const JobRow* find(JobId id) const;
  const TaskRow* find(TaskId id) const;
  const InstanceRow* find(InstanceId id) const;
  const JobRow& job(Slot slot) const { return jobs_[slot]; }
  const TaskRow& task(Slot slot) const { return tasks_[slot]; }
  const InstanceRow& instance(Slot slot) const { return instances_[slot]; }
  const TaskSpec& spec(const TaskRow& task) const { return jobs_[task.job].job.tasks[task.index]; }

  /// A task with this number of attempts in a row that were interrupted or moved without progress
  /// is confined: it is moved no more, and placed on demand only. 0: no task is confined.
  void set_max_interruptions(std::uint32_t most);
  std::uint32_t max_interruptions() const { return max_interruptions_; }
  /// The task is confined, or one that it is never without: of its gang, of its elastic job.
  bool is_confined(const TaskRow& task) const;
  /// The attempts in a row that it has lost; a confined one has as many as are too many at least.
  std::uint32_t fruitless(const TaskRow& task) const;
  /// Where the task may be, and where all of the job's may.
  MarketChoice markets(const TaskRow& task) const;
  MarketChoice markets(const JobRow& job) const;

  /// Unfinished jobs, in the order of acceptance.
  SlotRange<JobRow, &JobRow::active> jobs() const {
    return {jobs_, active_.first(), active_.size()};
  }
  /// Tasks without a place, in the order in which they came to wait.
  SlotRange<TaskRow, &TaskRow::queue> pending() const {
    return {tasks_, pending_.first(), pending_.size()};
  }
  /// Sum of the demands of the tasks without a place, each on the first family that it names.
  Resources waiting_demand() const { return waiting_demand_.value(); }
  const FleetSums& sums() const { return sums_; }
  const WorkSums& work() const { return work_; }
  /// The unfinished job that came last, and the one before another; kNoSlot: there is no such job.
  Slot last_job() const { return active_.last(); }
  Slot job_before(Slot job) const { return jobs_[job].active.prev; }
  /// The pending task that came last; kNoSlot: no task waits.
  Slot last_pending() const { return pending_.last(); }
  /// Tasks with a place that they could not start at yet, in the order of assignment.
  SlotRange<TaskRow, &TaskRow::queue> assigned() const {
    return {tasks_, assigned_.first(), assigned_.size()};
  }
  /// Instances that are not gone, in the order of request.
  SlotRange<InstanceRow, &InstanceRow::live> instances() const {
    return {instances_, live_.first(), live_.size()};
  }

  const Catalog& catalog() const { return *catalog_; }
  /// Offerings at their present prices.
  const OfferingTable& offerings() const { return offerings_; }
  /// The change is news: its number was not heard before.
  bool is_news(const OfferingChange& change) const { return change.number > offerings_.known(); }
  /// The instances that the change, which is news, gives another price, in the order of request.
  std::vector<Slot> repriced_by(const OfferingChange& change) const;
  /// The classes that tasks have, and those that some had last.
  const ClassTable& classes() const { return classes_; }
  const Shape& shape(ShapeId id) const { return shapes_[id]; }
  /// Shapes have ids below this one.
  std::size_t shape_count() const { return shapes_.size(); }
  /// Which of all that ever were the shape of that id is; 0: no task has one of that id. A cache by
  /// shape has to compare it: an id is used again when no task has its shape.
  std::uint64_t shape_made(ShapeId id) const { return shapes_.made(id); }
  /// Rises whenever a shape comes or goes.
  std::uint64_t shape_changes() const { return shapes_.changes(); }
  /// Demand of the task on an instance of the type; null when it may not run on that family.
  /// The job's constraint is not asked: a catalog may change under a task that runs.
  const FamilyDemand* demand(const TaskRow& task, TypeId type) const {
    return shape(task.shape).demands.on((*catalog_)[type].family);
  }

  /// Derives every index and sum anew from the rows; says what differs, nothing when all is well.
  std::vector<std::string> inconsistencies() const;

 private:
  struct Applier;
  friend struct StateSnapshotAccess;

  /// The instances of an offering.
  struct OfOffering {
    SlotList<InstanceRow, &InstanceRow::same_offering> rows;
    std::size_t otherwise = 0;  ///< of them at another price than the offering's
  };

  void change_offering(const OfferingChange& change);
  /// The instance was asked for at another price than that of its offering.
  bool is_priced_otherwise(const InstanceRow& row) const;
  void count_instance(const InstanceRow& row);
  void uncount_instance(const InstanceRow& row);
  /// Puts the instance last among those of its offering.
  void list_instance(Slot slot);
  void unlist_instance(Slot slot);
  /// Computes what is not stored from the rows and lists.
  void derive();
  /// As derive(), of the shapes whose tasks have been counted.
  void derive_shapes();
  Resources nominal_demand(ShapeId id) const {
    const std::vector<FamilyDemand>& entries = shape(id).demands.entries();
    return entries.empty() ? Resources{} : entries.front().amount;
  }

  /// Whether that number of ends without progress confines a task.
  bool is_too_many(std::uint32_t fruitless) const {
    return max_interruptions_ > 0 && fruitless >= max_interruptions_;
  }

  const Catalog* catalog_;
  std::uint32_t max_interruptions_ = 0;
  OfferingTable offerings_;
  std::vector<JobRow> jobs_;
  std::vector<TaskRow> tasks_;
  std::vector<InstanceRow> instances_;
  std::vector<Slot> free_jobs_, free_tasks_, free_instances_;
  std::unordered_map<JobId, Slot> job_slots_;
  std::unordered_map<TaskId, Slot> task_slots_;
  std::unordered_map<InstanceId, Slot> instance_slots_;
  SlotList<JobRow, &JobRow::active> active_;
  SlotList<TaskRow, &TaskRow::queue> pending_, assigned_;
  std::uint64_t next_queued_ = 0;
  ResourceSum waiting_demand_;
  FleetSums sums_;
  WorkSums work_;
  SlotList<InstanceRow, &InstanceRow::live> live_;
  std::map<OfferingKey, OfOffering> by_offering_;
  ClassTable classes_;
  ShapeTable shapes_;
};

/// Instances of the offering that can still be asked for: of those that the cloud had left by its
/// last word, all but what was asked for since, in whatever zone. Nothing: the cloud does not say.
std::optional<std::uint32_t> left_of(const ClusterState& state, const OfferingRow& offering);

}  // namespace muster
