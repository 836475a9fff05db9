// How long a master's users wait while it is busy: an array of 100,000 tasks is taken in, 5,000
// instances are launched on a stub of a cloud and come up, their stub workers start and end all
// tasks, the policy holds its rounds, and the array is cancelled at the end. All the while somebody
// on the same node and somebody behind a link between nodes asks for the figures, holds, and
// cancels. Prints how long they waited, and for each kind of message the longest that the master
// took.
//
//   build/release/users_bench [POLICY [TASKS [MAX_INSTANCES [beside|in-place]]]]
//
// The policy has to hold rounds at once (`eager`): the bench ends before the period of others.
// The last word says where the master's planner is: live masters have it beside them.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/time/clock_wall.hpp"
#include "config/catalog_file.hpp"
#include "masters/actor/master_actor.hpp"
#include "model/check.hpp"
#include "schedulers/registry.hpp"
#include "storage/stores/store_history.hpp"
#include "storage/stores/store_journal.hpp"
#include "tools/bench/scratch_store.hpp"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Enough that the users do not run out of jobs to cancel while the array runs.
constexpr std::uint64_t kSmallJobs = 400;  // one after the other is cancelled
constexpr std::uint64_t kBigJob = 1'000'000;
constexpr std::uint64_t kTriedJob = 2'000'000;  // only what would be done for it is asked
constexpr std::uint64_t kDryRunEvery = 20;      // jobs that somebody has asked after

double ms_since(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

/// Processor time of this thread: others on the machine do not count.
double processor_ms() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return 1e3 * static_cast<double>(spent.tv_sec) + 1e-6 * static_cast<double>(spent.tv_nsec);
}

/// Durations by what took them; from any thread.
class Times {
 public:
  void add(const std::string& what, double ms) {
    const std::lock_guard lock(mutex_);
    all_[what].push_back(ms);
  }
  void print(std::string_view title) {
    const std::lock_guard lock(mutex_);
    std::cout << fmt::format("\n{:<44}{:>9}{:>10}{:>10}{:>10}{:>10}\n", title, "times", "p50 ms",
                             "p99 ms", "max ms", "sum s");
    for (auto& [what, ms] : all_) {
      std::sort(ms.begin(), ms.end());
      double sum = 0;
      for (const double each : ms) sum += each;
      // Nearest ranks; `ms` is never empty, as an entry is made by its first value.
      std::cout << fmt::format("{:<44}{:>9}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}\n", what, ms.size(),
                               ms[ms.size() / 2], ms[ms.size() * 99 / 100], ms.back(), sum / 1e3);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<double>> all_;
};

/// Notes how long each message takes.
class TimedMaster final : public MasterActorImpl {
 public:
  TimedMaster(caf::actor_config& config, MasterSetup setup, Times& times)
      : MasterActorImpl(config, std::move(setup)), times_(times) {}
  using MasterActorImpl::consume;
  caf::invoke_message_result consume(caf::mailbox_element& element) override {
    const std::string kind = kind_of(element.content());
    const double begin = processor_ms();
    const auto result = MasterActorImpl::consume(element);
    times_.add(kind, processor_ms() - begin);
    return result;
  }

 private:
  // Kinds that take long or come often have a line of their own; the others are told together.
  static std::string kind_of(const caf::type_erased_tuple& content) {
    if (content.match_elements<JobsQuestion>()) return "page of jobs";
    if (content.match_elements<FindQuestion>()) return "find a job";
    if (is_message<figures_atom>(content)) return "figures";
    if (is_message<plan_atom, Job>(content)) return "dry run";
    if (content.match_elements<Wakeup>()) return "wakeup (rounds, durable, alarms)";
    if (content.match_elements<WorkerReport>()) return "report of a worker";
    if (content.match_elements<CloudReport>()) return "report of the cloud";
    if (is_message<cancel_atom, std::vector<JobId>>(content)) return "cancel";
    if (is_message<hold_atom, JobId, bool>(content)) return "hold";
    if (is_message<hand_atom, std::vector<Job>>(content)) return "hand";
    if (is_message<hello_atom, WorkerHello, WorkerActor>(content)) return "hello";
    return "other";
  }

  Times& times_;
};

/// Runs the attempts of one instance for two seconds from the first one's start. One alarm for all:
/// a hundred thousand of them would keep the clock of the actors from everybody.
WorkerActor spawn_worker(caf::actor_system& system, const MasterForWorkers& master,
                         InstanceId instance, std::atomic<std::uint64_t>& finished) {
  return system.spawn<caf::hidden>(
      [=, &finished](WorkerActor::pointer self) -> WorkerActor::behavior_type {
        const auto running = std::make_shared<std::vector<TaskOrder>>();
        const auto say = [=](const TaskOrder& order, WorkerReportKind kind) {
          WorkerReport report;
          report.instance = instance;
          report.task = order.task.id;
          report.attempt = order.attempt;
          report.kind = kind;
          self->send(master, report);
        };
        return {
            [=, &finished](start_atom, const TaskOrder& order) {
              say(order, WorkerReportKind::started);
              running->push_back(order);
              if (running->size() > 1) return;
              self->delayed_send(WorkerActor{self}, seconds{2}, Wakeup{[=, &finished] {
                                   for (const TaskOrder& each : *running) {
                                     say(each, WorkerReportKind::finished);
                                   }
                                   finished += running->size();
                                   running->clear();
                                 }});
            },
            [](stop_atom, TaskId, Attempt) {},
            [](ack_atom, TaskId, Attempt) {},
            [](greet_atom) {},
            [](sample_atom, std::uint64_t) {},
            [](const LogRequest&) {},
            [](const ExecRequest&) {},
            [](const UsageRequest&) {},
            [](const Wakeup& wakeup) { wakeup.run(); },
        };
      });
}

/// Counts of a run so far.
struct Counts {
  std::atomic<std::uint64_t> launched = 0;
  std::atomic<std::uint64_t> finished = 0;
  MasterForWorkers master{};  ///< of all instances; there before the first job
};

using BenchCloud = Together<CloudForMasters, OwnSteps>;

/// Takes every order; the instance is up after three seconds, and its worker says hello.
BenchCloud spawn_cloud(caf::actor_system& system, ClockOrigin origin, Counts& counts) {
  return system.spawn([=, &system, &counts](BenchCloud::pointer self) -> BenchCloud::behavior_type {
    const auto known = std::make_shared<std::set<InstanceId>>();
    const auto coming = std::make_shared<std::vector<InstanceId>>();
    const auto say = [=](const MasterForCloud& master, InstanceId id, CloudReportKind kind) {
      const Instant now = origin.instant(self->clock().now());
      self->send(master, CloudReport{id, kind, now, {}, now});
    };
    return {
        [=, &system, &counts](launch_atom, const LaunchOrder& order, const MasterForCloud& master) {
          const InstanceId id = order.instance;
          // Every order is known once: reminders must not launch a second worker.
          if (!known->insert(id).second) return;  // a reminder
          ++counts.launched;
          coming->push_back(id);
          // One alarm for all that were ordered before it, as in spawn_worker().
          if (coming->size() > 1) return;
          const auto come_up = [=, &system, &counts] {
            for (const InstanceId each : *coming) {
              say(master, each, CloudReportKind::up);
              const WorkerHello hello{each, 1, Resources::of(0, 1'000, 10'000), "none", {}};
              self->send(counts.master, hello_atom_v, hello,
                         spawn_worker(system, counts.master, each, counts.finished));
            }
            coming->clear();
          };
          self->delayed_send(BenchCloud{self}, seconds{3}, Wakeup{come_up});
        },
        [=](end_atom, InstanceId id, const MasterForCloud& master) {
          say(master, id, CloudReportKind::gone);
        },
        [=](greet_atom, const MasterForCloud& master) { say(master, {}, CloudReportKind::clock); },
        [](const Wakeup& wakeup) { wakeup.run(); },
    };
  });
}

/// Callers give `id << 32` as the first task, so that no two jobs share a task's number.
Job job_of(std::uint64_t id, std::uint64_t first_task, std::uint64_t tasks) {
  Job job;
  job.id = JobId{id};
  job.name = "bench";
  job.user = "ann";
  job.workload_class = "plain";
  job.tasks.resize(tasks);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    job.tasks[i].id = TaskId{first_task + i};
    job.tasks[i].array_index = static_cast<std::uint32_t>(i);
    job.tasks[i].demands = Demands(Resources::of(0, 0.1, 0.05));
  }
  return job;
}

/// One question; how long it took. A user gives up after ten seconds.
template <class Answer, class Master, class... Words>
void ask(caf::scoped_actor& self, const Master& master, Times& times, const std::string& what,
         Words... words) {
  const auto begin = steady_clock::now();
  self->request(master, seconds{10}, words...)
      .receive([&](const Answer&) { times.add(what, ms_since(begin)); },
               [&](const caf::error&) { times.add(what + " (refused)", ms_since(begin)); });
}

/// Asks one thing after the other until it is told to stop.
void be_a_user(caf::actor_system& system, const MasterForUsers& master, const std::string& where,
               std::uint64_t first_job, Times& times, const std::atomic<bool>& over) {
  caf::scoped_actor self(system);
  // Steps of 2: the two users begin at 1 and 2 and never name the same job.
  for (std::uint64_t job = first_job; !over; job += 2) {
    ask<CellFigures>(self, master, times, where + "status", figures_atom_v);
    ask<JobsView>(self, master, times, where + "page of jobs", JobsQuestion{});
    ask<FoundView>(self, master, times, where + "find a job", FindQuestion{JobId{kBigJob}, 5});
    if (job % kDryRunEvery == 1) {
      ask<PlanView>(self, master, times, where + "dry run", plan_atom_v,
                    job_of(kTriedJob, kTriedJob << 32, 1));
    }
    if (job <= kSmallJobs) {
      ask<JobId>(self, master, times, where + "hold", hold_atom_v, JobId{job}, true);
      ask<std::vector<CancelVerdict>>(self, master, times, where + "cancel", cancel_atom_v,
                                      std::vector<JobId>{JobId{job}});
    }
    // The pace of a user: without it the questions would be the load.
    std::this_thread::sleep_for(milliseconds{50});
  }
}

class SystemConfig : public caf::actor_system_config {
 public:
  SystemConfig() {
    add_messages(*this);
    load<caf::io::middleman>();
    // The number of CAF's threads is fixed, so that runs on different machines compare.
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", 4);
  }
};

/// Parts of the bench's master; all of them outlive the actors.
struct World {
  explicit World(Catalog of) : catalog(std::move(of)) {
    auto empty = StoreHistory::open(*store, journal, catalog, {});
    MUSTER_CHECK(empty, "a new store has an empty history");
    history = std::move(empty).value();
  }

  MasterSetup setup(std::unique_ptr<Policy> policy, ClockOrigin origin, CloudForMasters cloud) {
    MasterSetup setup;
    setup.parts.catalog = &catalog;
    setup.parts.policy = std::move(policy);
    setup.parts.keep_history = true;
    setup.parts.name = "m0";
    setup.history = history.get();
    setup.save_snapshot = [this](MasterSnapshot snapshot, std::uint64_t behind) {
      journal.save_snapshot(std::move(snapshot), behind);
    };
    setup.journal = &journal;
    setup.cloud = std::move(cloud);
    setup.origin = origin;
    setup.settings.round_settle = milliseconds{1};
    setup.settings.sample_timeout = milliseconds{100};
    setup.stopwatch = [] {
      return std::chrono::duration_cast<Duration>(
          std::chrono::duration<double, std::milli>(processor_ms()));
    };
    setup.times = &decisions;
    return setup;
  }

  Catalog catalog;
  /// Of a real disk: the wait for it is part of what users wait for.
  bench::ScratchStore store{"users_bench", catalog};
  StoreJournal journal{*store, catalog, RecoveredMaster{}};
  std::unique_ptr<StoreHistory> history;
  DecisionTimes decisions;
  Times handling;
  Times waiting;
  Counts counts;
};

/// Hands the array over, waits until its tasks have run, and cancels what is left of it.
void run_array(caf::actor_system& here, const MasterForSites& master, std::uint64_t tasks,
               World& world) {
  caf::scoped_actor site(here);
  ask<std::vector<SubmitVerdict>>(site, master, world.waiting, "hand the array", hand_atom_v,
                                  std::vector<Job>{job_of(kBigJob, kBigJob << 32, tasks)});
  // At most 20 s: a policy that cannot place all tasks is measured nevertheless.
  for (int s = 0; s < 20 && world.counts.finished < tasks; ++s) {
    std::this_thread::sleep_for(seconds{1});
    std::cerr << fmt::format("{} launched, {} finished\n", world.counts.launched.load(),
                             world.counts.finished.load());
  }
  ask<std::vector<CancelVerdict>>(site, master, world.waiting, "cancel of the array", cancel_atom_v,
                                  std::vector<JobId>{JobId{kBigJob}});
  std::this_thread::sleep_for(seconds{1});
}

int run(const std::string& policy_text, std::uint64_t tasks, std::uint32_t max_instances,
        bool beside) {
  auto catalog = load_catalog(std::filesystem::path(MUSTER_SOURCE_DIR) /
                              "config/catalogs/ec2-us-east-1-2026-07.csv");
  MUSTER_CHECK(catalog, "the shipped catalog can be read");
  auto spec = parse_policy(policy_text);
  if (!spec) {
    std::cerr << "users_bench: " << spec.error().message << "\n";
    return 2;
  }
  World world(std::move(catalog).value());
  // Two actor systems in one process: the link between them is a real socket.
  SystemConfig here_config;
  SystemConfig there_config;
  caf::actor_system here(here_config);
  caf::actor_system there(there_config);
  const ClockOrigin origin = wall_origin(here);
  const BenchCloud cloud = spawn_cloud(here, origin, world.counts);
  MasterSetup setup = world.setup(make_policy(spec.value(), world.catalog).value(), origin, cloud);
  setup.settings.caps.max_instances = max_instances;
  if (beside) setup.planner = PlannerPlace::own_thread;
  const MasterActor master = here.spawn<TimedMaster>(std::move(setup), std::ref(world.handling));
  world.counts.master = master;
  const auto port = here.middleman().publish(master, 0, "127.0.0.1");
  MUSTER_CHECK(port, "there is a free port");
  const auto far = there.middleman().remote_actor<MasterActor>("127.0.0.1", *port);
  MUSTER_CHECK(far, "the master can be reached over a link");
  {
    caf::scoped_actor site(here);
    std::vector<Job> small;
    for (std::uint64_t id = 1; id <= kSmallJobs; ++id) small.push_back(job_of(id, id << 32, 1));
    ask<std::vector<SubmitVerdict>>(site, master, world.waiting, "hand 400 jobs", hand_atom_v,
                                    small);
  }
  std::atomic<bool> over = false;
  std::thread near_user([&] { be_a_user(here, master, "", 1, world.waiting, over); });
  std::thread far_user([&] { be_a_user(there, *far, "over a link: ", 2, world.waiting, over); });
  std::this_thread::sleep_for(seconds{1});
  run_array(here, master, tasks, world);
  // The users end before the figures are printed: Times is not read while they write.
  over = true;
  near_user.join();
  far_user.join();

  std::cout << fmt::format("policy {}, planner {}: {} tasks, {} launches, {} ended\n", policy_text,
                           beside ? "beside" : "in place", tasks, world.counts.launched.load(),
                           world.counts.finished.load());
  for (const double ms : world.decisions.ms) {
    world.handling.add(beside ? "(the planner) decision" : "  of these, a round's decision", ms);
  }
  world.waiting.print("users waited for");
  world.handling.print("processor time of the master for");
  // The actors refer to `world`, which ends with this function.
  caf::anon_send_exit(master, caf::exit_reason::kill);
  caf::anon_send_exit(cloud, caf::exit_reason::kill);
  world.counts.master = nullptr;
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::run(argc > 1 ? argv[1] : "eva,eager", argc > 2 ? std::stoull(argv[2]) : 100'000,
                     argc > 3 ? static_cast<std::uint32_t>(std::stoul(argv[3])) : 5'000,
                     argc <= 4 || std::string(argv[4]) != "in-place");
}
