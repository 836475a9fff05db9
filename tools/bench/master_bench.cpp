// The time of a master alone, without journal and policy: starting a gang, checking a plan, hearing
// of refused launches, and answering for its load and to its users.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "masters/master.hpp"
#include "masters/plan/plan_slices.hpp"
#include "masters/view/cell_view.hpp"
#include "tools/bench/bench_master.hpp"

namespace muster::bench {
namespace {

/// From the acceptance of a gang until all of its tasks run; each message's commit is taken.
void start_gang(benchmark::State& state) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  const std::uint64_t instances = (tasks + kTasksPerInstance - 1) / kTasksPerInstance;
  std::size_t started = 0;
  for (auto _ : state) {
    Master master = master_with(catalog, by_eights(1, tasks));
    Job gang = job_of(1, 1, tasks, true);
    started = 0;
    const auto commit = [&] {
      for (const Effect& effect : master.commit().effects) {
        started += std::holds_alternative<StartTask>(effect);
      }
    };
    const Stopwatch stopwatch(state);
    master.submit(std::move(gang), Instant{});
    master.round({}, Instant{});
    commit();
    for (std::uint64_t id = 0; id < instances; ++id) {
      master.instance_up(InstanceId{id}, {}, Instant{});
      commit();
    }
    for (std::uint64_t id = 0; id < instances; ++id) {
      master.instance_ready(InstanceId{id}, Instant{});
      commit();
    }
    for (std::uint64_t id = 1; id <= tasks; ++id) {
      master.task_started({TaskId{id}, 1, {}, {}}, Instant{});
      commit();
    }
  }
  // A bench that starts nothing would be fast: the count shows that the whole way was gone.
  if (started != tasks) state.SkipWithError("not all tasks have started");
}
BENCHMARK(start_gang)
    ->Arg(512)
    ->Arg(1024)
    ->Arg(2048)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// A plan that puts twice as many tasks on each instance as fit: the second half is refused.
/// `moves`: the first half run already and move round in a ring, but those that wait come first and
/// take the room that the movers leave: each mover is refused, stays, and in turn has others
/// refused.
void check_crowded_plan(benchmark::State& state, bool moves) {
  const Catalog catalog = eights();
  const auto places = static_cast<std::uint64_t>(state.range(0));
  const std::uint64_t instances = places / (2 * kTasksPerInstance);
  ClusterState cluster(catalog);
  const auto apply = [&](EventBody body) { cluster.apply({Instant{}, std::move(body)}); };
  for (std::uint64_t id = 0; id < instances; ++id) {
    apply(LaunchRequested{InstanceId{id}, TypeId{0}, Market::on_demand, {}, {}});
    apply(InstanceUp{InstanceId{id}});
    apply(InstanceReady{InstanceId{id}});
  }
  apply(JobAccepted{job_of(1, 0, places, false)});
  Plan plan;
  for (std::uint64_t i = 0; i < places; ++i) {
    // Second half of the places wraps round to the first instances: each gets twice its capacity.
    const std::uint64_t on = (i / kTasksPerInstance) % instances;
    const bool runs = moves && i < places / 2;
    if (runs) {
      apply(TaskAssigned{TaskId{i}, InstanceId{on}, {}});
      apply(StartIssued{TaskId{i}, InstanceId{on}, 1});
      apply(TaskStarted{TaskId{i}, 1, {}, {}});
    }
    plan.places.push_back({TaskId{i}, InstanceId{runs ? (on + 2) % instances : on}, {}});
  }
  // Reversed, the tasks that wait come first.
  if (moves) std::reverse(plan.places.begin(), plan.places.end());
  std::size_t refused = 0;
  for (auto _ : state) {
    const Stopwatch stopwatch(state);
    const CheckedPlan checked = check_plan(plan, cluster, {});
    refused = 0;
    for (const auto& refusal : checked.places) refused += refusal.has_value();
  }
  state.counters["refused"] = static_cast<double>(refused);
}
void check_plan_waiting(benchmark::State& state) {
  check_crowded_plan(state, false);
}
void check_plan_moving(benchmark::State& state) {
  check_crowded_plan(state, true);
}
BENCHMARK(check_plan_waiting)
    ->Arg(8'000)
    ->Arg(16'000)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(check_plan_moving)
    ->Arg(2'000)
    ->Arg(4'000)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// The cloud refuses some of the instances that single tasks are assigned to.
void on_refusals(benchmark::State& state) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  const auto refusals = static_cast<std::uint64_t>(state.range(1));
  for (auto _ : state) {
    Master master = master_with(catalog, by_eights(1, tasks));
    for (std::uint64_t id = 1; id <= tasks; ++id) master.submit(job_of(id, id, 1, false), {});
    master.round({}, Instant{});
    master.commit();
    const Stopwatch stopwatch(state);
    for (std::uint64_t id = 0; id < refusals; ++id) {
      master.instance_refused(InstanceId{id}, Instant{});
      master.commit();
    }
  }
}
BENCHMARK(on_refusals)
    ->Args({16'000, 1'000})
    ->Args({100'000, 10'000})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// One question for the load, with a cap on the instances.
void notify_load(benchmark::State& state) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0)) * kTasksPerInstance;
  MasterCaps caps;
  caps.max_instances = static_cast<std::uint32_t>(state.range(1));
  Master master = master_with(catalog, by_eights(1, tasks), caps);
  master.submit(job_of(1, 1, tasks, false), {});
  master.round({}, Instant{});
  master.commit();
  for (auto _ : state) {
    const Stopwatch stopwatch(state);
    benchmark::DoNotOptimize(master.load());
  }
}
BENCHMARK(notify_load)
    ->Args({100, 10'000'000})
    ->Args({10'000, 20'000})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

/// A planner's work on that number of waiting jobs for a snapshot and for a dry run: the master's
/// actor waits for it only where the planner is not beside it.
void copy_all(benchmark::State& state, bool dry_run) {
  const Catalog catalog = eights();
  const auto jobs = static_cast<std::uint64_t>(state.range(0));
  Master master = master_with(catalog, {});
  for (std::uint64_t id = 1; id <= jobs; ++id) master.submit(job_of(id, id, 1, false), {});
  master.commit();
  for (auto _ : state) {
    const Stopwatch stopwatch(state);
    if (dry_run) {
      benchmark::DoNotOptimize(master.dry_run(job_of(jobs + 1, jobs + 1, 1, false), {}));
    } else {
      benchmark::DoNotOptimize(master.snapshot());
    }
  }
}
BENCHMARK_CAPTURE(copy_all, for_a_snapshot, false)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(copy_all, for_a_dry_run, true)
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Cutting a plan of that number of places, each on an instance of its own or by eights, into
/// slices.
void cut_plan(benchmark::State& state) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  ClusterState cluster(catalog);
  cluster.apply({Instant{}, JobAccepted{job_of(1, 1, tasks, false)}});
  const Plan plan = by_eights(1, tasks);
  std::size_t slices = 0, largest = 0;
  for (auto _ : state) {
    Plan whole = plan;
    const Stopwatch stopwatch(state);
    const std::vector<Plan> cut = slices_of(std::move(whole), cluster, 500);
    slices = cut.size();
    for (const Plan& slice : cut) largest = std::max(largest, parts_of(slice));
  }
  state.counters["slices"] = static_cast<double>(slices);
  state.counters["largest"] = static_cast<double>(largest);
}
BENCHMARK(cut_plan)->Arg(1'000)->Arg(100'000)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Of a master without finished jobs.
class EmptyHistory final : public History {
 public:
  void add(JobHistory) override {}
  std::size_t size() const override { return 0; }
  std::optional<JobHistory> find(JobId) const override { return std::nullopt; }
  void newest(std::size_t, const Use&) const override {}
};

JobsQuestion active_jobs() {
  JobsQuestion wanted;
  wanted.over = false;
  return wanted;
}

/// One question of a user while that number of tasks run, each a job of its own, of a hundred
/// users. Parts that are written out apart from the master do not count.
template <class Ask>
void answer(benchmark::State& state, Ask ask) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  Master master = master_with(catalog, by_eights(1, tasks));
  for (std::uint64_t id = 1; id <= tasks; ++id) {
    Job job = job_of(id, id, 1, false);
    job.user = "user " + std::to_string(id % 100);
    master.submit(std::move(job), {});
  }
  master.round({}, Instant{});
  for (std::uint64_t id = 0; id * kTasksPerInstance < tasks; ++id) {
    master.instance_up(InstanceId{id}, {}, Instant{});
    master.instance_ready(InstanceId{id}, Instant{});
  }
  for (std::uint64_t id = 1; id <= tasks; ++id) {
    master.task_started({TaskId{id}, 1, {}, {}}, Instant{std::chrono::seconds{1}});
  }
  // Half of the jobs fail and are over; the other half stay active.
  for (std::uint64_t id = 1; id <= tasks; id += 2) {
    master.task_failed({TaskId{id}, 1, "exit 1", {}}, Instant{std::chrono::seconds{2}});
  }
  master.commit();
  const EmptyHistory history;
  const CellView view{master, &history, {}, "m0", Instant{std::chrono::seconds{3}}};
  for (auto _ : state) {
    const Stopwatch stopwatch(state);
    benchmark::DoNotOptimize(ask(view));
  }
}
BENCHMARK_CAPTURE(answer, cost_by_user,
                  [](const CellView& view) { return view.cost({CostSplit::user}); })
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(answer, cost_by_job,
                  [](const CellView& view) { return view.cost({CostSplit::job}); })
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(answer, figures, [](const CellView& view) { return view.figures(); })
    ->Arg(100'000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
// Half of the jobs have failed and are over: 100,000 are active.
BENCHMARK_CAPTURE(answer, first_page_of_jobs,
                  [](const CellView& view) { return view.jobs(active_jobs()); })
    ->Arg(200'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, page_in_the_middle,
                  [](const CellView& view) {
                    JobsQuestion wanted = active_jobs();
                    wanted.begin_behind({false, {Instant{}, JobId{100'000}}});
                    return view.jobs(wanted);
                  })
    ->Arg(200'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, page_of_a_user,
                  [](const CellView& view) {
                    JobsQuestion wanted = active_jobs();
                    wanted.filter.user = "user 8";
                    return view.jobs(wanted);
                  })
    ->Arg(200'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// No job has such a name: the longest look at the jobs that are not over.
BENCHMARK_CAPTURE(answer, page_of_a_name_that_is_none,
                  [](const CellView& view) {
                    JobsQuestion wanted = active_jobs();
                    wanted.filter.name = "*none*";
                    return view.jobs(wanted);
                  })
    ->Arg(200'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// A page of the tasks of one job. Its first tasks, `running` of them, run or, every other one,
/// have failed; the others wait.
void page_of_tasks(benchmark::State& state, const JobQuestion& wanted) {
  const Catalog catalog = eights();
  const auto tasks = static_cast<std::uint64_t>(state.range(0));
  const auto placed = static_cast<std::uint64_t>(state.range(1));
  Master master = master_with(catalog, by_eights(1, placed));
  Job job = job_of(1, 1, tasks, false);
  for (std::uint32_t i = 0; i < tasks; ++i) job.tasks[i].array_index = i;
  master.submit(std::move(job), {});
  master.round({}, Instant{});
  for (std::uint64_t id = 0; id * kTasksPerInstance < placed; ++id) {
    master.instance_up(InstanceId{id}, {}, Instant{});
    master.instance_ready(InstanceId{id}, Instant{});
  }
  for (std::uint64_t id = 1; id <= placed; ++id) {
    master.task_started({TaskId{id}, 1, {}, {}}, Instant{std::chrono::seconds{1}});
    if (id % 2 == 0) continue;
    master.task_failed({TaskId{id}, 1, "exit 1", {}}, Instant{std::chrono::seconds{2}});
  }
  master.commit();
  const CellView view{master, nullptr, {}, "m0", Instant{std::chrono::seconds{3}}};
  for (auto _ : state) {
    const Stopwatch stopwatch(state);
    benchmark::DoNotOptimize(view.job(wanted));
  }
}
void sizes_of_pages(benchmark::internal::Benchmark* bench) {
  bench->Args({100'000, 1'000})->Args({100'000, 100'000});
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
}
JobQuestion tasks_wanted(bool explained, const char* phase = "") {
  JobQuestion wanted;
  wanted.job = JobId{1};
  wanted.explained = explained;
  wanted.phase = phase;
  return wanted;
}
JobQuestion next_tasks() {
  JobQuestion wanted = tasks_wanted(false);
  wanted.after = 50'000;
  wanted.tasks_only = true;
  return wanted;
}
BENCHMARK_CAPTURE(page_of_tasks, first_of_job, tasks_wanted(false))->Apply(sizes_of_pages);
BENCHMARK_CAPTURE(page_of_tasks, next_of_job, next_tasks())->Apply(sizes_of_pages);
BENCHMARK_CAPTURE(page_of_tasks, first_of_explain, tasks_wanted(true))->Apply(sizes_of_pages);
BENCHMARK_CAPTURE(page_of_tasks, in_a_phase, tasks_wanted(true, "running"))->Apply(sizes_of_pages);

}  // namespace
}  // namespace muster::bench

BENCHMARK_MAIN();
