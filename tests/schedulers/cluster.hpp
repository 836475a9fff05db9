#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/registry.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/support/builders.hpp"

// A cluster that does at once whatever the policy under test wants.

namespace muster::testing {

/// A figure of a plan's note, by its name.
inline double figure(const Plan& plan, const std::string& name) {
  for (const auto& [key, value] : plan.note.figures) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no figure " << name;
  return std::nan("");
}

class Cluster {
 public:
  Cluster(Catalog catalog, const std::string& policy)
      : Cluster(std::move(catalog), *find_module(parse_policy(policy).value().name).value(),
                policy) {}
  /// Under a policy that the registry need not know.
  Cluster(Catalog catalog, const PolicyModule& module, const std::string& policy)
      : catalog_(std::move(catalog)), state_(catalog_) {
    policy_ = module.make_policy(parse_policy(policy).value(), catalog_).value();
  }

  void submit(const Job& job) { apply(JobAccepted{job}); }

  /// The cluster has these instances, ready, and is to have no others.
  void add_to_fleet(const std::string& type, std::size_t count = 1,
                    Market market = Market::on_demand) {
    fixed_fleet_ = true;
    for (std::size_t i = 0; i < count; ++i) {
      const InstanceId id{next_instance_++};
      const TypeId of = test::type_named(catalog_, type);
      apply(LaunchRequested{id, of, market, price(of, market), {CauseCode::fleet, 0}});
      apply(InstanceUp{id});
      apply(InstanceReady{id});
    }
  }

  /// The fleet stays, and more can be rented beyond it.
  void rent_beyond_fleet() {
    fixed_fleet_ = false;
    owns_fleet_ = true;
  }

  /// From now on the type costs so much on the market.
  void reprice(const std::string& type, double usd_h, Market market = Market::on_demand) {
    change({type, market, "", Price::from_usd_h(usd_h)});
  }
  /// The cloud says how it offers something from now on.
  void change(const Offering& offering) {
    apply(OfferingChanged{{state_.offerings().known() + 1, now_, offering}});
  }
  Price price(TypeId type, Market market = Market::on_demand) const {
    return state_.offerings().find(type, market)->price;
  }

  /// A part of the last plan was not carried out.
  void refuse(const PlanPartRefused& part) { apply(part); }

  /// The cloud takes the instance without a word.
  void take_away(std::uint64_t instance) { apply(InstanceGone{InstanceId{instance}}); }
  /// The cloud will take it: its tasks are to go, and run there till then.
  void notice(std::uint64_t instance) {
    const std::vector<Slot> there = state_.find(InstanceId{instance})->planned;
    for (Slot slot : there) {
      apply(TaskUnassigned{state_.task(slot).id, {CauseCode::interrupted, 0}});
    }
    apply(ReleaseDecided{InstanceId{instance}, {CauseCode::interrupted, 0}});
  }
  /// The task, which runs, is stopped and waits.
  void stop_task(std::uint64_t id) {
    const TaskRow* row = state_.find(TaskId{id});
    const Attempt attempt = row->attempt;
    apply(TaskUnassigned{TaskId{id}, {CauseCode::evicted, 0}});
    apply(StopIssued{TaskId{id}, attempt});
    apply(TaskCheckpointed{TaskId{id}, attempt, std::chrono::seconds{2}});
  }
  /// One task has done its work.
  void finish_task(std::uint64_t id) {
    apply(TaskFinished{TaskId{id}, state_.find(TaskId{id})->attempt});
  }

  void finish(std::uint64_t job) {
    std::vector<Slot> tasks = state_.find(JobId{job})->tasks;
    tasks.resize(state_.find(JobId{job})->size());
    for (Slot slot : tasks) apply(TaskFinished{state_.task(slot).id, state_.task(slot).attempt});
    apply(JobFinished{JobId{job}});
  }
  /// The master lets the task be one of the replicas, or no more.
  void want(TaskId task, bool wanted = true) {
    apply(ReplicaWanted{task, wanted, {CauseCode::revision, 0}});
  }
  /// The program of the replica has ended before it was ready.
  void replica_ends(TaskId task) {
    ReplicaState state;
    state.restarts = 1;
    apply(ReplicaChanged{task, state_.find(task)->attempt, state});
  }
  /// The replica is ready.
  void get_ready(TaskId task) {
    ReplicaState state;
    state.ready = true;
    apply(ReplicaChanged{task, state_.find(task)->attempt, state});
  }
  /// The replica is ready and says the number of its goal.
  void replica_says(TaskId task, const std::string& metric, double number,
                    std::uint32_t restarts = 0) {
    ReplicaState state;
    state.ready = true;
    state.restarts = restarts;
    apply(ReplicaChanged{task, state_.find(task)->attempt, state});
    apply(Measured{{}, 0, {}, {{task, {{metric, number}}}}});
  }
  /// An elastic job says how far it is.
  void progress(std::uint64_t job, double done) {
    const TaskRow& first = state_.task(state_.find(JobId{job})->tasks.front());
    apply(Measured{{}, 0, {{first.id, done, {}}}});
  }

  /// Decisions may take so many steps from now on.
  void allow(std::uint64_t steps) { steps_ = steps; }

  /// Lets time pass, reports the throughput of running tasks (1 unless stated), and asks.
  Plan ask(const std::map<std::uint64_t, double>& throughput_of_task = {}) {
    now_ += std::chrono::seconds{300};
    std::vector<ThroughputSample> samples;
    for (const JobRow& job : state_.jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = state_.task(slot);
        if (task.phase != TaskPhase::running) continue;
        const auto stated = throughput_of_task.find(task.id.value);
        samples.push_back({task.id, stated == throughput_of_task.end() ? 1.0 : stated->second});
      }
    }
    std::sort(samples.begin(), samples.end(),
              [](const auto& a, const auto& b) { return a.task < b.task; });
    if (!samples.empty()) apply(Measured{samples});
    Rng rng(rounds_);
    Budget budget(steps_);
    Plan plan = policy_->decide(view(), rng, budget);
    apply(RoundDecided{rounds_++, plan.note});
    return plan;
  }

  /// Asks and does what the answer says, to the end.
  Plan round(const std::map<std::uint64_t, double>& throughput_of_task = {}) {
    Plan plan = ask(throughput_of_task);
    apply_plan(plan);
    return plan;
  }

  void apply_plan(const Plan& plan) {
    begin(plan);
    settle();
  }

  /// Does what can be done at once; new instances do not come up, stopped tasks do not leave.
  void begin(const Plan& plan) {
    const std::uint64_t first = next_instance_;
    for (const Launch& launch : plan.launches) {
      apply(LaunchRequested{InstanceId{next_instance_++}, launch.type, launch.market,
                            price(launch.type, launch.market), launch.cause});
    }
    for (const Resize& resize : plan.resizes) {
      const JobRow& job = *state_.find(resize.job);
      const std::vector<Slot> tasks = job.tasks;
      apply(JobResized{resize.job, resize.width, resize.cause});
      for (const Slot slot : tasks) {
        const TaskRow& task = state_.task(slot);
        if (task.phase == TaskPhase::running) apply(StopIssued{task.id, task.attempt});
      }
    }
    for (const Place& place : plan.places) {
      const auto* known = std::get_if<InstanceId>(&place.to);
      const InstanceId to =
          known != nullptr ? *known : InstanceId{first + std::get<LaunchIndex>(place.to).value};
      apply(TaskAssigned{place.task, to, place.cause, place.grant});
      const JobRow& job = state_.job(state_.find(place.task)->job);
      for (Slot slot : job.tasks) {
        const TaskRow& task = state_.task(slot);
        const bool goes = task.id == place.task || job.job.gang;
        if (goes && task.phase == TaskPhase::running) apply(StopIssued{task.id, task.attempt});
      }
    }
    for (const Stop& stop : plan.stops) {
      const TaskRow& task = *state_.find(stop.task);
      const bool runs = task.phase == TaskPhase::running;
      apply(TaskUnassigned{stop.task, stop.cause});
      if (runs) apply(StopIssued{stop.task, task.attempt});
    }
    for (const Refuse& refuse : plan.refusals) apply(TaskRefused{refuse.task, refuse.refusal});
    for (const Release& release : plan.releases) {
      apply(ReleaseDecided{release.instance, release.cause});
    }
  }

  /// The cloud has none of the instances that were asked for and are not up.
  void refuse_launches() {
    std::vector<InstanceId> asked;
    for (const InstanceRow& row : state_.instances()) {
      if (row.phase == InstancePhase::requested) asked.push_back(row.id);
    }
    const Refusal no{RefusalKind::not_now, RefusalCode::cloud_capacity, {}, 0, 0};
    for (InstanceId id : asked) apply(LaunchRefused{id, no});
  }

  void settle() {
    for (const auto& [task, attempt] : tasks_in(TaskPhase::stopping)) {
      apply(TaskCheckpointed{task, attempt, std::chrono::seconds{2}});
    }
    std::vector<std::pair<InstanceId, InstancePhase>> instances;
    for (const InstanceRow& row : state_.instances()) instances.emplace_back(row.id, row.phase);
    for (const auto& [id, phase] : instances) {
      if (phase == InstancePhase::requested) {
        apply(InstanceUp{id});
        apply(InstanceReady{id});
      }
      if (!state_.find(id)->released) continue;
      apply(TerminateIssued{id});
      apply(InstanceGone{id});
    }
    for (const auto& [task, attempt] : tasks_in(TaskPhase::assigned)) {
      const InstanceId at = state_.instance(state_.find(task)->target).id;
      apply(StartIssued{task, at, attempt + 1, state_.find(task)->planned});
      apply(TaskStarted{task, attempt + 1, std::chrono::seconds{3}, std::chrono::seconds{10}});
    }
  }

  /// Which tasks are meant to be where, as "it1(1 2 4) it3(3)", in the order of the instances.
  std::string layout() const {
    std::string text;
    for (const InstanceRow& row : state_.instances()) {
      if (row.released) continue;
      std::vector<std::uint64_t> ids;
      for (Slot slot : row.planned) ids.push_back(state_.task(slot).id.value);
      std::sort(ids.begin(), ids.end());
      text += (text.empty() ? "" : " ") + catalog_[row.type].name + "(";
      for (std::size_t i = 0; i < ids.size(); ++i) {
        text += (i == 0 ? "" : " ") + std::to_string(ids[i]);
      }
      text += ")";
    }
    return text;
  }

  const ClusterState& state() const { return state_; }
  const Catalog& catalog() const { return catalog_; }
  Policy& policy() { return *policy_; }
  ClusterView view() const {
    const OfferingTable* offered = fixed_fleet_ ? nullptr : &state_.offerings();
    ClusterView view{state_, catalog_, now_, offered, backed_off_, {}, {}, min_stay_, owns_fleet_};
    if (most_instances_) {
      const std::uint64_t there = state_.instances().size();
      view.left.instances = *most_instances_ - std::min(*most_instances_, there);
    }
    if (most_usd_h_) {
      view.left.nano_usd_h = std::max<std::int64_t>(
          0, Price::from_usd_h(*most_usd_h_).nano_usd_h() - state_.sums().nano_usd_h);
    }
    return view;
  }
  /// The master may have so many instances, or spend so much an hour.
  void cap(std::optional<std::uint64_t> instances, std::optional<double> usd_h = {}) {
    most_instances_ = instances;
    most_usd_h_ = usd_h;
  }
  void let_pass(Duration time) { now_ += time; }
  void set_min_stay(Duration time) { min_stay_ = time; }
  /// The cloud has refused the type there and is not to be asked for it.
  void rest(const std::string& type, Market market = Market::on_demand) {
    backed_off_.push_back({{test::type_named(catalog_, type), market}});
  }
  void end_rest() { backed_off_.clear(); }
  /// The policy hears of it; the state is not changed.
  template <class Body>
  void tell_policy(Body body) {
    policy_->observe({now_, std::move(body)}, view());
  }

 private:
  template <class Body>
  void apply(Body body) {
    const Event event{now_, std::move(body)};
    state_.apply(event);
    policy_->observe(event, view());
  }
  std::vector<std::pair<TaskId, Attempt>> tasks_in(TaskPhase phase) const {
    std::vector<std::pair<TaskId, Attempt>> found;
    for (const JobRow& job : state_.jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = state_.task(slot);
        if (task.phase == phase) found.emplace_back(task.id, task.attempt);
      }
    }
    return found;
  }

  Catalog catalog_;
  ClusterState state_;
  std::unique_ptr<Policy> policy_;
  std::uint64_t rounds_ = 0;
  std::uint64_t steps_ = 0;  ///< of a decision's budget; 0: any number
  Instant now_{};
  bool fixed_fleet_ = false;
  bool owns_fleet_ = false;
  Duration min_stay_{};
  UnavailableOfferings backed_off_;
  std::optional<std::uint64_t> most_instances_;
  std::optional<double> most_usd_h_;
  std::uint64_t next_instance_ = 1;
};

/// The job of one task of Table 3 with the task's number; its class is "c" and the number.
inline Job job_of_table_3(std::uint64_t number) {
  return test::JobBuilder(number)
      .demands(tasks_of_table_3()[number - 1])
      .workload_class("c" + std::to_string(number))
      .build();
}

}  // namespace muster::testing
