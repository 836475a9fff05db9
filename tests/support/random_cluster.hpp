#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/fields.hpp"
#include "model/ledger.hpp"
#include "tests/support/builders.hpp"

namespace muster::test {

/// Draws every member that `fields` names, so that a new one is drawn, too.
class DrawnMembers {
 public:
  explicit DrawnMembers(std::mt19937_64& dice) : dice_(dice) {}

  void operator()(Key, auto& value) { draw(value); }
  template <class T>
  void unless_default(Key, T& value, const std::type_identity_t<T>&) {
    draw(value);
  }

 private:
  void draw(bool& value) { value = dice_() % 4 > 0; }
  void draw(std::integral auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(1 + dice_() % 100);
  }
  void draw(double& value) { value = static_cast<double>(dice_() % 1000) / 8; }
  void draw(std::string& value) { value = dice_() % 2 == 0 ? "" : "drawn"; }
  void draw(Duration& value) { value = Duration{dice_() % 1'000'000'000}; }
  void draw(Instant& value) { value = Instant{Duration{dice_() % 1'000'000'000}}; }
  void draw(Price& value) {
    value = Price::from_nano_usd_h(static_cast<std::int64_t>(dice_() % 999'999'999));
  }
  template <class Value>
  void draw(std::optional<Value>& value) {
    if (dice_() % 2 == 0) return value.reset();
    draw(value.emplace());
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void draw(Enum& value) { value = static_cast<Enum>(dice_() % kEnumerators<Enum>); }

  std::mt19937_64& dice_;
};

/// A cluster to which possible things happen at random: its state and ledger after the events.
class RandomCluster {
 public:
  RandomCluster(const Catalog& catalog, std::uint64_t seed) : state(catalog), dice_(seed) {}

  ClusterState state;
  Ledger ledger;

  /// Lets one more thing happen.
  Event step() {
    now_ += std::chrono::nanoseconds(1 + draw(5'000'000'000));
    while (true) {
      if (auto body = attempt(draw(21))) {
        Event event{now_, std::move(*body)};
        ledger.observe(event, state);
        state.apply(event);
        return event;
      }
    }
  }

 private:
  using Body = std::optional<EventBody>;

  std::uint64_t draw(std::uint64_t below) { return dice_() % below; }
  template <class Range>
  auto pick(const Range& rows) -> decltype(&*rows.begin()) {
    if (rows.size() == 0) return nullptr;
    auto it = rows.begin();
    for (std::uint64_t i = draw(rows.size()); i > 0; --i) ++it;
    return &*it;
  }
  const TaskRow* pick_task() {
    const JobRow* job = pick(state.jobs());
    return job == nullptr ? nullptr : &state.task(job->tasks[draw(job->tasks.size())]);
  }

  Job new_job() {
    const std::uint64_t id = next_job_++;
    JobBuilder builder(id);
    builder.tasks(1 + draw(4)).workload_class("class-" + std::to_string(draw(3)));
    if (draw(3) == 0) {
      builder.demands(
          Demands({{"gpu", Resources::of(0.1, 1, 3), 1.5}, {"", Resources::of(0, 2.3, 1), 1}}));
    } else {
      builder.demand(Resources::of(0, 0.1 * static_cast<double>(1 + draw(30)), 1.7));
    }
    Job job = builder.build();
    job.gang = draw(2) == 0;
    job.prediction.length = static_cast<JobLength>(draw(3));
    job.prediction.spot_safe = draw(2) == 0;
    if (draw(3) == 0) job.markets = static_cast<MarketChoice>(draw(3));
    if (draw(3) == 0) job.max_running = 1;
    if (!job.gang && draw(4) == 0) job.after = {{JobId{1000}, AfterEnd::any, 0, false, true}};
    if (draw(3) == 0) job.retries = static_cast<std::uint32_t>(draw(3));
    if (draw(3) == 0) job.priority = static_cast<int>(draw(5)) - 2;
    job.movable = draw(4) > 0;
    job.checkpoints = draw(2) == 0;
    job.program.argv = {"run", std::to_string(id)};
    job.program.env = {{"A", "b"}};
    job.token = "token-" + std::to_string(id);
    return job;
  }

  Body of_instance(std::uint64_t what) {
    const InstanceRow* row = pick(state.instances());
    if (row == nullptr) return std::nullopt;
    using Phase = InstancePhase;
    if (what == 0 && row->phase == Phase::requested) return LaunchRefused{row->id, {}};
    if (what == 1 && !row->up) return InstanceUp{row->id};
    if (what == 2 && row->up && row->phase == Phase::booting) return InstanceReady{row->id};
    if (what == 2 && !row->own_checkpoints && draw(4) == 0) return OwnCheckpoints{row->id};
    if (what == 3 && row->planned.empty() && !row->released) return ReleaseDecided{row->id, {}};
    if (what == 4 && row->released && row->occupants.empty() && row->phase != Phase::terminating) {
      return TerminateIssued{row->id};
    }
    if (what == 5 && (row->phase == Phase::terminating || draw(8) == 0)) {
      return InstanceGone{row->id, now_ - std::chrono::milliseconds(draw(1000))};
    }
    return std::nullopt;
  }

  Body assign(const TaskRow& task) {
    const InstanceRow* to = pick(state.instances());
    if (to == nullptr || to->released || state.demand(task, to->type) == nullptr)
      return std::nullopt;
    if (task.phase == TaskPhase::finished || task.phase == TaskPhase::failed ||
        task.phase == TaskPhase::held || task.phase == TaskPhase::capped)
      return std::nullopt;
    return TaskAssigned{task.id, to->id, {CauseCode::packed, 0.25}};
  }
  Body start(const TaskRow& task) {
    const InstanceRow& to = state.instance(task.target);
    const Resources& amount = state.demand(task, to.type)->amount;
    if (to.phase != InstancePhase::ready) return std::nullopt;
    if (!(to.used + amount).fits_in(state.catalog()[to.type].capacity)) return std::nullopt;
    return StartIssued{task.id, to.id, task.attempt + 1};
  }

  Body of_task(std::uint64_t what) {
    const TaskRow* task = pick_task();
    if (task == nullptr) return std::nullopt;
    using Phase = TaskPhase;
    const Phase phase = task->phase;
    if (what <= 1) return assign(*task);
    if (what == 2 && task->target != kNoSlot && draw(3) == 0) return TaskUnassigned{task->id, {}};
    if (what == 3 && phase == Phase::assigned) return start(*task);
    if (what == 4 && phase == Phase::starting) {
      return TaskStarted{task->id, task->attempt, from_seconds(1.5), from_seconds(0.5)};
    }
    if (what == 5 && phase == Phase::running) return StopIssued{task->id, task->attempt};
    if (what == 6 && phase == Phase::stopping) {
      return TaskCheckpointed{task->id, task->attempt, from_seconds(2), {85, "half", ""}};
    }
    if (what == 7 && phase == Phase::running && draw(3) == 0) {
      return TaskFinished{task->id, task->attempt, {}};
    }
    if (what == 8 && task->at != kNoSlot && draw(4) == 0) {
      return TaskFailed{task->id, task->attempt, "exit code 3", {3, "", "no\xff"}};
    }
    if (what == 9 && phase == Phase::pending) {
      return TaskRefused{task->id,
                         {RefusalKind::not_now, RefusalCode::spend_cap, Resource::cpu, 3, 0.1}};
    }
    return std::nullopt;
  }

  Body of_job() {
    const JobRow* job = pick(state.jobs());
    if (job == nullptr) return std::nullopt;
    const auto holds = [&](Slot slot) { return state.task(slot).at != kNoSlot; };
    switch (draw(6)) {
      case 0:
        return job->held_by_user ? EventBody{JobReleased{job->job.id}}
                                 : EventBody{JobHeld{job->job.id}};
      case 1:
        if (draw(8) != 0 || job->terminal_outcome) return std::nullopt;
        return JobTerminating{job->job.id, JobOutcome::cancelled};
      case 2:
      case 3:
        if (std::any_of(job->tasks.begin(), job->tasks.end(), holds) || draw(3) != 0)
          return std::nullopt;
        return JobFinished{job->job.id, JobOutcome::completed, 0.9, 7};
      default:
        return released(*job);
    }
  }
  Body released(const JobRow& job) {
    if (job.held_by_user) return std::nullopt;
    for (Slot slot : job.tasks) {
      const TaskRow& task = state.task(slot);
      if (task.awaits && draw(4) > 0) {
        return CounterpartOver{task.id, draw(4) == 0 ? "its counterpart has failed" : ""};
      }
      if (task.phase == TaskPhase::capped && !task.awaits) return TaskReleased{task.id};
    }
    return std::nullopt;
  }

  /// Another price, sometimes heard late, and now and then a change that is known.
  Body changed() {
    if (draw(4) != 0) return std::nullopt;
    last_change_ = std::max(last_change_, now_ - std::chrono::milliseconds(draw(3000)));
    OfferingChange change;
    DrawnMembers members(dice_);
    fields(members, change);
    change.number = state.offerings().known() + (draw(8) == 0 ? 0 : 1 + draw(2));
    change.at = last_change_;
    change.offering.type = state.catalog().types()[draw(state.catalog().size())].name;
    return OfferingChanged{std::move(change)};
  }

  Body attempt(std::uint64_t what) {
    if (what == 0) return JobAccepted{new_job()};
    if (what == 1) {
      return LaunchRequested{InstanceId{next_instance_++},
                             TypeId{static_cast<std::uint32_t>(draw(state.catalog().size()))},
                             draw(2) == 0 ? Market::spot : Market::on_demand,
                             Price::from_usd_h(0.123456789),
                             {CauseCode::alone, 0.5}};
    }
    if (what == 2) return RoundDecided{rounds_++, {"full", {{"D_s", 0.1}}}};
    if (what == 3) return of_job();
    if (what < 10) return of_instance(what - 4);
    if (what == 20) return changed();
    return of_task(what - 10);
  }

  std::mt19937_64 dice_;
  Instant now_{};
  Instant last_change_{};
  std::uint64_t next_job_ = 1'000'000;  ///< no task of one job has the id of another's
  std::uint64_t next_instance_ = 1;
  std::uint64_t rounds_ = 0;
};

}  // namespace muster::test
