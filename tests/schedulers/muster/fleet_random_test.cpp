// The policy on fixed fleets over random histories: what it keeps is what the state says, its plans
// can be kept, and nobody starves.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "schedulers/muster/fleet_policy.hpp"
#include "tests/schedulers/catalogs.hpp"
#include "tests/schedulers/draw.hpp"
#include "tests/support/random_cluster.hpp"

namespace muster::own {
namespace {

using std::chrono::seconds;
using testing::draw;

Catalog two_families() {
  std::vector<InstanceType> types{testing::type_of("g", "gpu", Resources::of(2, 6, 12), 2),
                                  testing::type_of("c", "cpu", Resources::of(0, 8, 16), 0.4)};
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() / 3);
  return Catalog(std::move(types));
}

MusterParams any_params() {
  MusterParams params;
  params.fleet.reserve = draw(0, 2) == 0 ? 0.02 : 0.5;
  params.fleet.task_times = static_cast<TaskTimes>(draw(0, 3));
  params.fleet.cutoff = seconds{draw(0, 20)};
  params.fleet.starve = seconds{draw(0, 3) == 0 ? 0 : draw(1, 40)};
  params.fleet.max_passes = draw(0U, 4U);
  return params;
}

bool shown(const Job& job) {
  return job.markets != MarketChoice::spot;
}

/// A random cluster under the policy: what happens is told to it, what it plans is done.
struct History {
  explicit History(const MusterParams& the_params, std::uint64_t seed)
      : params(the_params), cluster(catalog, seed), policy(catalog, Market::on_demand, params) {}

  ClusterView view() const { return {cluster.state, catalog, now}; }
  void tell(const Event& event) {
    now = event.at;
    policy.observe(event, view());
    if (const auto* assigned = std::get_if<TaskAssigned>(&event.body)) {
      const ClusterState& state = cluster.state;
      has_foreigners |= !shown(state.job(state.find(assigned->task)->job).job) &&
                        state.find(assigned->to)->market == Market::on_demand;
    }
  }
  void happen(EventBody body) {
    const Event event{now, std::move(body)};
    cluster.ledger.observe(event, cluster.state);
    cluster.state.apply(event);
    tell(event);
  }
  void steps(int count) {
    for (; count > 0; --count) {
      const Event event = cluster.step();
      // Rounds are held here.
      if (!std::holds_alternative<RoundDecided>(event.body)) tell(event);
    }
  }
  Plan decide(FleetPolicy& who) const {
    Rng rng(1);
    Budget budget;
    return who.decide(view(), rng, budget);
  }
  Plan hold_round() {
    Plan plan = decide(policy);
    happen(RoundDecided{rounds++, plan.note});
    return plan;
  }
  void apply_plan(const Plan& plan) {
    for (const Place& place : plan.places) {
      happen(TaskAssigned{place.task, std::get<InstanceId>(place.to), place.cause});
    }
  }

  Catalog catalog = two_families();
  MusterParams params;
  test::RandomCluster cluster;
  FleetPolicy policy;
  Instant now{};
  std::uint64_t rounds = 1'000'000;
  bool has_foreigners = false;  ///< by chance, tasks of the other market have been on instances
};

RC_GTEST_PROP(FleetRandom, what_it_knows_is_what_the_state_says, ()) {
  const MusterParams params = any_params();
  History history(params, draw(0U, 1'000'000U));
  FleetMemory memory(params.fleet, history.catalog, Market::on_demand);
  for (int step = 0; step < 150; ++step) {
    const Event event = history.cluster.step();
    history.now = event.at;
    memory.observe(event, history.view());
    const ClusterState& state = history.cluster.state;
    ResourceSum held_by_long;
    std::size_t listed = 0;
    for (const JobRow& job : state.jobs()) {
      if (!shown(job.job)) continue;
      const FleetQueue::Job* known = memory.queue().find(job.job.id);
      RC_ASSERT(known != nullptr);
      std::set<Slot> waits, queued;
      for (Slot slot : job.tasks) {
        const TaskRow& task = state.task(slot);
        if (task.phase == TaskPhase::pending && !job.terminal_outcome) waits.insert(slot);
        if (!known->key.is_long) continue;
        if (task.target != kNoSlot) {
          held_by_long += task.planned.amount;
        } else if (task.at != kNoSlot) {
          held_by_long += task.held.amount;
        }
      }
      for (const auto& [shape, tasks] : known->waiting) {
        for (const auto& [index, slot] : tasks) {
          RC_ASSERT(state.task(slot).shape == shape);
          queued.insert(slot);
        }
      }
      RC_ASSERT(queued == waits);
      if (!waits.empty()) listed += known->gang ? 1 : known->waiting.size();
    }
    RC_ASSERT(memory.room().held_by_long() == held_by_long);
    std::size_t in_lists = 0;
    for (const auto& [list, keys] : memory.queue().lists()) in_lists += keys.size();
    RC_ASSERT(in_lists == listed);
  }
}

RC_GTEST_PROP(FleetRandom, deciding_leaves_nothing_that_observing_the_round_would_not, ()) {
  History history(any_params(), draw(0U, 1'000'000U));
  for (int round = 0; round < 30; ++round) {
    history.steps(draw(1, 12));
    FleetPolicy follower = history.policy;  // does not decide this round
    const Plan plan = history.decide(history.policy);
    history.happen(RoundDecided{history.rounds, plan.note});
    follower.observe({history.now, RoundDecided{history.rounds++, plan.note}}, history.view());
    RC_ASSERT(history.policy.save_state(history.cluster.state) ==
              follower.save_state(history.cluster.state));
    history.apply_plan(plan);
  }
}

RC_GTEST_PROP(FleetRandom, one_that_was_given_its_memory_goes_on_as_it_does, ()) {
  const MusterParams params = any_params();
  History history(params, draw(0U, 1'000'000U));
  for (int round = 0; round < 15; ++round) {
    history.steps(draw(1, 12));
    FleetPolicy other(history.catalog, Market::on_demand, params);
    const std::string memory = history.policy.save_state(history.cluster.state);
    RC_ASSERT(other.load_state(memory, history.view()));
    RC_ASSERT(other.save_state(history.cluster.state) == memory);
    const Plan theirs = history.decide(other);
    const Plan ours = history.hold_round();
    if (history.has_foreigners) return;
    RC_ASSERT(ours.places.size() == theirs.places.size());
    for (std::size_t i = 0; i < ours.places.size(); ++i) {
      RC_ASSERT(ours.places[i].task == theirs.places[i].task);
      RC_ASSERT(ours.places[i].to == theirs.places[i].to);
    }
    history.apply_plan(ours);
  }
}

RC_GTEST_PROP(FleetRandom, plans_overfill_nothing_and_take_gangs_whole, ()) {
  History history(any_params(), draw(0U, 1'000'000U));
  for (int round = 0; round < 30; ++round) {
    history.steps(draw(1, 12));
    const Plan plan = history.hold_round();
    const ClusterState& state = history.cluster.state;
    RC_ASSERT(plan.launches.empty() && plan.releases.empty() && plan.stops.empty());
    std::map<InstanceId, Resources> used;
    std::set<TaskId> placed;
    for (const Place& place : plan.places) {
      const InstanceRow& on = *state.find(std::get<InstanceId>(place.to));
      const TaskRow& task = *state.find(place.task);
      RC_ASSERT(task.phase == TaskPhase::pending && placed.insert(task.id).second);
      RC_ASSERT(on.phase == InstancePhase::ready && !on.released);
      if (history.has_foreigners) return;
      Resources& there = used.try_emplace(on.id, on.committed).first->second;
      there += state.demand(task, on.type)->amount;
      RC_ASSERT(there.fits_in(history.catalog[on.type].capacity));
    }
    for (const JobRow& job : state.jobs()) {
      if (!job.job.gang || job.tasks.size() == 1) continue;
      const auto places = std::count_if(job.tasks.begin(), job.tasks.end(), [&](Slot slot) {
        return placed.contains(state.task(slot).id);
      });
      RC_ASSERT(places == 0 || places == static_cast<std::ptrdiff_t>(job.pending));
    }
    history.apply_plan(plan);
  }
}

/// A small fleet in steps of a second: what comes, what ends, and a round.
class SmallFleet {
 public:
  SmallFleet(const MusterParams& params, std::size_t instances)
      : catalog_({testing::type_of("four", "cpu", Resources::of(0, 4, 8), 0.2)}),
        state_(catalog_),
        policy_(catalog_, Market::on_demand, params) {
    for (std::size_t i = 0; i < instances; ++i) {
      happen(LaunchRequested{InstanceId{i}, TypeId{0}, Market::on_demand, {}, {}});
      happen(InstanceUp{InstanceId{i}});
      happen(InstanceReady{InstanceId{i}});
    }
  }

  struct Task {
    double came_s = 0, runs_s = 0;
    double starved_s = -1;  ///< since when it starves
    std::size_t ahead = 0;  ///< that had waited for longer then
    double started_s = -1;
  };

  void submit(std::size_t tasks, double cores, JobLength length, double runs_s) {
    Job job = test::JobBuilder(++jobs_).gang(false).demand(Resources::of(0, cores, 0)).build();
    const TaskSpec like = job.tasks[0];
    job.tasks.clear();
    for (; tasks > 0; --tasks) {
      job.tasks.push_back(like);
      job.tasks.back().id = TaskId{++tasks_};
      of_[TaskId{tasks_}] = {now_s_, runs_s};
    }
    job.prediction.length = length;
    happen(JobAccepted{std::move(job)});
  }

  void second(double starve_s) {
    now_s_ += 1;
    for (auto end = ends_.begin(); end != ends_.end() && end->first <= now_s_;) {
      finish(end->second);
      end = ends_.erase(end);
    }
    for (const TaskRow& row : state_.pending()) {
      Task& task = of_[row.id];
      if (task.starved_s >= 0 || now_s_ - task.came_s < starve_s) continue;
      task.starved_s = now_s_;
      for (const TaskRow& other : state_.pending()) {
        task.ahead += of_[other.id].came_s < task.came_s ||
                      (of_[other.id].came_s == task.came_s && other.id < row.id);
      }
    }
    Rng rng(1);
    Budget budget;
    const Plan plan = policy_.decide(view(), rng, budget);
    if (!state_.pending().empty()) happen(RoundDecided{rounds_++, plan.note});
    for (const Place& place : plan.places) start(place);
  }

  const ClusterState& state() const { return state_; }
  const std::map<TaskId, Task>& tasks() const { return of_; }
  double now_s() const { return now_s_; }

 private:
  ClusterView view() const { return {state_, catalog_, test::at_s(now_s_)}; }
  void happen(EventBody body) {
    const Event event{test::at_s(now_s_), std::move(body)};
    state_.apply(event);
    policy_.observe(event, view());
  }
  void start(const Place& place) {
    const InstanceId on = std::get<InstanceId>(place.to);
    happen(TaskAssigned{place.task, on, place.cause});
    happen(StartIssued{place.task, on, 1});
    happen(TaskStarted{place.task, 1, {}, {}});
    Task& task = of_[place.task];
    task.started_s = now_s_;
    ends_.emplace(now_s_ + task.runs_s, place.task);
  }
  void finish(TaskId id) {
    const JobId job = state_.job(state_.find(id)->job).job.id;
    happen(TaskFinished{id, 1});
    if (state_.find(job)->all_ended()) happen(JobFinished{job});
  }

  Catalog catalog_;
  ClusterState state_;
  FleetPolicy policy_;
  std::map<TaskId, Task> of_;
  std::multimap<double, TaskId> ends_;
  double now_s_ = 0;
  std::uint64_t jobs_ = 0, tasks_ = 0, rounds_ = 0;
};

constexpr double kLongestShort_s = 5, kLongest_s = 25;

/// Jobs of both classes, some of which need a whole instance, at so much of what the fleet can do.
void arrive(SmallFleet& fleet, std::size_t instances, double load, double& credit, bool is_long) {
  const double cores = 4 * static_cast<double>(instances);
  for (credit += load * cores; credit > 0;) {
    const double runs_s = is_long ? draw(10, 26) : draw(1, 6);
    const double takes = draw(0, 8) == 0 ? 4 : draw(1, 3);
    const auto tasks = static_cast<std::size_t>(draw(1, 12));
    fleet.submit(tasks, takes, is_long ? JobLength::long_run : JobLength::short_run, runs_s);
    credit -= runs_s * takes * static_cast<double>(tasks);
  }
}

/// starve_s, what runs on the instance that is kept, and a round for each that is kept before; of
/// those no more than one instance in four at a time. While long tasks hold all that they may, the
/// next one starts when one of them is over.
double latest_start_s(const SmallFleet::Task& task, std::size_t instances) {
  const double at_once = std::max<double>(1, static_cast<double>(instances / 4));
  const double ahead = static_cast<double>(task.ahead);
  return task.starved_s + (kLongest_s + 2) * (1 + ahead / at_once) + ahead;
}

RC_GTEST_PROP(FleetRandom, nobody_starves_at_more_load_than_the_fleet_can_take, ()) {
  constexpr double kStarve_s = 40;
  MusterParams params;
  params.fleet.starve = seconds{40};
  params.fleet.cutoff = {};
  params.fleet.max_passes = draw(0U, 50U);
  params.fleet.task_times = static_cast<TaskTimes>(draw(0, 3));
  const std::size_t instances = draw(2U, 9U);
  SmallFleet fleet(params, instances);
  double short_credit = 0, long_credit = 0;
  for (int second = 0; second < 200; ++second) {
    arrive(fleet, instances, 1.2, short_credit, false);
    arrive(fleet, instances, 1.2, long_credit, true);
    fleet.second(kStarve_s);
  }
  while (!fleet.state().pending().empty() && fleet.now_s() < 20'000) fleet.second(kStarve_s);
  std::size_t starved = 0;
  for (const auto& [id, task] : fleet.tasks()) {
    RC_ASSERT(task.started_s >= 0);
    if (task.starved_s < 0) continue;
    ++starved;
    RC_ASSERT(task.started_s <= latest_start_s(task, instances));
  }
  RC_ASSERT(starved > 0u);
}

RC_GTEST_PROP(FleetRandom, a_task_as_large_as_an_instance_starts_though_small_ones_always_come,
              ()) {
  constexpr double kStarve_s = 40;
  MusterParams params;
  params.fleet.starve = seconds{40};
  params.fleet.cutoff = {};
  params.fleet.max_passes = 0;
  const std::size_t instances = draw(2U, 9U);
  const JobLength length = draw(0, 2) == 0 ? JobLength::short_run : JobLength::long_run;
  SmallFleet fleet(params, instances);
  TaskId large;
  for (int second = 0; second < 150; ++second) {
    // One task at a time and no more than fit, so that only the large one ever waits for long.
    double cores = 4 * static_cast<double>(instances);
    for (const InstanceRow& row : fleet.state().instances()) cores -= row.committed[Resource::cpu];
    for (; cores > 0; --cores) {
      fleet.submit(1, 1, JobLength::short_run, draw(1, static_cast<int>(kLongestShort_s) + 1));
    }
    if (second == 5) {
      fleet.submit(1, 4, length, 5);
      large = fleet.tasks().rbegin()->first;
    }
    fleet.second(kStarve_s);
  }
  const SmallFleet::Task& task = fleet.tasks().at(large);
  RC_ASSERT(task.started_s >= 0);
  RC_ASSERT(task.started_s <= task.came_s + kStarve_s + kLongestShort_s + 3);
}

}  // namespace
}  // namespace muster::own
