#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/cluster_state.hpp"
#include "model/kept_room.hpp"
#include "model/master_snapshot.hpp"
#include "model/plan.hpp"
#include "model/rng.hpp"
#include "model/stay.hpp"

namespace muster {

/// When a policy wants to be asked. Further events until the round are gathered into it.
struct Cadence {
  Duration period{};              ///< a round at every multiple of it; zero: no regular rounds
  bool on_arrival = false;        ///< a round as soon as a job is accepted
  bool on_departure = false;      ///< a round as soon as a job is over
  bool on_capacity = false;       ///< a round as soon as resources come free
  bool on_price = false;          ///< a round as soon as a price changes or an offering is back
  bool rests = false;             ///< such a round may be put off, to the next period at most
  bool on_progress = false;       ///< a round as soon as an elastic job enters another epoch
  bool wants_throughput = false;  ///< workers are asked for their tasks' throughput before a round
  /// The policy is told of each event with metrics of tasks, and the next regular round is held for
  /// it. Other policies see the newest values in the rows of the tasks, whenever they are asked.
  bool wants_metrics = false;
};

/// Rent that a master's caps leave it; nothing: no such cap. A set that is rented for the whole of
/// one job and does not fit is refused as a whole.
struct RentLeft {
  std::optional<std::uint64_t> instances;
  std::optional<std::int64_t> nano_usd_h;

  /// That number of instances at that price each is within it.
  bool allows(std::uint64_t count, Price each) const {
    const auto asked_nano_usd_h = static_cast<std::int64_t>(count) * each.nano_usd_h();
    return (!instances || *instances >= count) && (!nano_usd_h || *nano_usd_h >= asked_nano_usd_h);
  }
  /// One is rented at that price.
  void take(Price each) {
    if (instances && *instances > 0) --*instances;
    if (nano_usd_h) *nano_usd_h -= each.nano_usd_h();
  }
};

/// View of the cluster for a policy: the master's state as it is, not a copy.
struct ClusterView {
  const ClusterState& state;
  const Catalog& catalog;
  Instant now;
  /// Offerings that can be rented. Null where the instances are given: then no instance is given
  /// back either.
  const OfferingTable* offerings = nullptr;
  /// Offerings that the cloud refused lately: they are not asked for again yet.
  std::span<const UnavailableOffering> unavailable_offerings{};
  /// Gangs that caps, the cloud or the fixed fleet had no room for, by rising ids: nothing is to be
  /// planned for them now. It would be refused, and with it what others were to have a part of.
  std::span<const JobId> backed_off{};
  /// The gang whose turn it is: of others nothing may start.
  std::optional<JobId> turn{};
  Duration min_stay{};      ///< time that a task has to run in its place before it is moved
  bool owns_fleet = false;  ///< some of the instances are the master's own; others can be rented
  /// Of jobs that take any market, by slot, those that are to run on spot instances, for policies
  /// that think of one market only (MarketSplit). None: all are to run on demand.
  std::span<const char> on_spot{};
  /// Room that is kept for a job; null: no room is kept. Instances that it closes are the master's
  /// to fill.
  const KeptRoom* kept = nullptr;
  RentLeft left{};  ///< when it decides; the cap on a day's money is not in it
  /// Services are placed by another policy: replicas that have a place are fixed room, and the
  /// others are not there.
  bool services_are_fixed = false;
  /// Instances, by rising ids, on which that policy has given room away in this round: they take
  /// nothing more.
  std::span<const InstanceId> given_away{};

  /// The job is a service that another policy places.
  bool is_fixed(const JobRow& job) const {
    return services_are_fixed && job.job.service() != nullptr;
  }
  /// Why the task is not moved whatever a plan says, while it runs; nothing when it may be.
  std::optional<Refusal> why_pinned(const TaskRow& task) const {
    if (task.phase == TaskPhase::running && is_fixed(state.job(task.job))) {
      return Refusal{RefusalKind::not_now, RefusalCode::not_movable, {}, 0, 0};
    }
    return why_it_stays(state, task, {now, min_stay});
  }
  bool is_given_away(InstanceId id) const {
    return std::binary_search(given_away.begin(), given_away.end(), id);
  }
  /// The instance empties for a job that goes before others, or was given away: it takes nothing
  /// more, but for what may_come() names.
  bool is_closed(const InstanceRow& row) const {
    return (kept != nullptr && kept->is_closed(row.id)) || is_given_away(row.id);
  }
  /// The task may come there nevertheless: it is expected to end before the instance has emptied.
  bool may_come(const TaskRow& task, const InstanceRow& row) const {
    if (!is_closed(row)) return true;
    if (is_given_away(row.id)) return false;
    return kept->is_before(state.job(task.job)) && kept->lets(state, task, row.id, now);
  }
  /// Instances can be rented, and given back.
  bool rents() const { return offerings != nullptr; }
  /// It stays and costs nothing more, used or not, where others are rented and given back.
  bool is_owned(const InstanceRow& row) const { return owns_fleet && row.owned; }
  /// Price of an hour of the type on the market now; nothing when it is not on offer there.
  std::optional<Price> price(TypeId type, Market on) const {
    const OfferingRow* offer = state.offerings().find(type, on);
    return offer != nullptr ? std::optional(offer->price) : std::nullopt;
  }
  /// The cloud does not have it, by its own word or because it refused it lately.
  bool rests(TypeId type, Market on) const {
    const OfferingRow* offer = state.offerings().find(type, on);
    if (offer == nullptr || !offer->available) return true;
    return std::any_of(unavailable_offerings.begin(), unavailable_offerings.end(),
                       [&](const UnavailableOffering& rest) { return rest.key == offer->key; });
  }
  /// Refusal of a task that nothing which can be rented now would hold.
  Refusal nothing_to_rent() const {
    const auto waits_for_machine = [](const UnavailableOffering& rest) {
      return rest.code == RefusalCode::no_free_machine;
    };
    const bool machines =
        std::any_of(unavailable_offerings.begin(), unavailable_offerings.end(), waits_for_machine);
    return {RefusalKind::not_now,
            machines ? RefusalCode::no_free_machine : RefusalCode::cloud_capacity,
            {},
            1,
            0};
  }
  /// Some offering rests.
  bool any_rests() const {
    if (!unavailable_offerings.empty()) return true;
    const auto& rows = state.offerings().rows();
    return std::any_of(rows.begin(), rows.end(),
                       [](const OfferingRow& row) { return !row.available; });
  }
  /// The task beside which no other job may start, where that is not for a gang's sake; null: there
  /// is no such task.
  const TaskRow* turn_of_task() const {
    if (!turn || kept == nullptr || kept->place.job != *turn) return nullptr;
    const TaskRow* task = state.find(kept->task);
    const bool alone = task != nullptr && task->phase == TaskPhase::pending &&
                       !(state.job(task->job).job.gang && state.job(task->job).tasks.size() > 1);
    return alone ? task : nullptr;
  }
  /// Where the job stands in the order of the queue: by its priority, then by its age. The one
  /// answer for whoever serves jobs in turn: an order of a policy's own counts among those of one
  /// priority.
  QueuePlace rank(const JobRow& job) const { return queue_place_of(job); }
  /// Whether what waits of the job may be placed now.
  bool may_start(const JobRow& job) const {
    if (is_fixed(job)) return false;
    if (turn) return *turn == job.job.id;
    return job.pending == 0 ||
           !std::binary_search(backed_off.begin(), backed_off.end(), job.job.id);
  }
};

/// How much work a decision may take, in steps that the policy counts: a candidate that it looks
/// at, say. Time decides nothing, so that a decision repeats on any machine.
class Budget {
 public:
  Budget() = default;  ///< without a bound
  /// 0: without a bound.
  explicit Budget(std::uint64_t steps) : allowed_(steps) {}

  /// Counts steps that are taken; false when no more should be.
  bool spend(std::uint64_t steps = 1) {
    used_ += steps;
    return !is_spent();
  }
  bool is_spent() const { return allowed_ > 0 && used_ >= allowed_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t allowed() const { return allowed_; }

 private:
  std::uint64_t allowed_ = 0;
  std::uint64_t used_ = 0;
};

/// Decides what a master does. A policy sees only what its arguments hold and acts only through the
/// plan it returns. Its memory is a fold over the events of the master's log: a policy that was
/// given another's state and the events after it decides as that one does.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual Cadence cadence() const = 0;
  /// Likewise, where the instances are given.
  virtual Cadence fleet_cadence() const { return cadence(); }

  /// Learns what happened: each event of the log, in the order of the log and nothing besides. The
  /// view is the state right after the event, at the event's time.
  virtual void observe(const Event& event, const ClusterView& view) = 0;

  /// The changes wanted now. Tasks and instances that the plan does not mention stay as they are.
  /// It remembers only facts that the view, or observing RoundDecided with the view of this
  /// decision, would bring about as well: a policy that has to know its own choice puts it into the
  /// plan's note, which comes back by RoundDecided. That event follows at once; it may be left out
  /// when no task waits and the plan and its note are empty. The generator is the round's own. When
  /// the budget is spent, the best plan found so far is good enough; a policy need not look at it.
  virtual Plan decide(const ClusterView& view, Rng& rng, Budget& budget) = 0;

  /// All that is remembered, in the policy's own words: equal for equal memories.
  virtual std::string save_state(const ClusterState&) const { return {}; }
  /// Takes the words of another policy of the kind back; the view is that of the moment when they
  /// were given. False when they are not understood: the policy is of no use then.
  virtual bool load_state(std::string_view text, const ClusterView&) { return text.empty(); }

  /// A policy that decides as this one would.
  virtual std::unique_ptr<Policy> clone() const = 0;

  /// Right after a decision that changed nothing: asked again with the same state and throughputs,
  /// however much later, it would change nothing either and learn nothing but their number. Then it
  /// need not be asked before something changes.
  virtual bool settled(const ClusterView&) const { return false; }
};

}  // namespace muster
