// Measures the processor time of a node that lists jobs, from the API's question to the document,
// for jobs that wait and for jobs that are over, which are read from a store on disk; and for the
// attempts of jobs that are over, which are asked for job by job. The master is in the same
// process; "over a link" it is asked through a link between nodes, of which this process pays for
// both ends.
//
//   build/release/listing_bench [JOBS [TIMES]]

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/time/clock_wall.hpp"
#include "config/catalog_file.hpp"
#include "masters/actor/master_actor.hpp"
#include "model/check.hpp"
#include "serve/node/actor_backend.hpp"
#include "storage/stores/store_history.hpp"
#include "storage/stores/store_journal.hpp"
#include "tools/bench/scratch_store.hpp"

namespace muster {
namespace {

constexpr std::uint64_t kAtOnce = 500;

/// Places nothing, so that all jobs wait.
class IdlePolicy final : public Policy {
 public:
  Cadence cadence() const override { return {.period = std::chrono::seconds{300}}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<IdlePolicy>(*this); }
  Plan decide(const ClusterView&, Rng&, Budget&) override { return {}; }
};

class SystemConfig : public caf::actor_system_config {
 public:
  SystemConfig() {
    add_messages(*this);
    load<caf::io::middleman>();
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", 2);
  }
};

/// Of all threads of this process, in the kernel too.
double processor_us() {
  rusage spent{};
  getrusage(RUSAGE_SELF, &spent);
  const auto us = [](const timeval& t) {
    return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec);
  };
  return us(spent.ru_utime) + us(spent.ru_stime);
}

Job job_of(std::uint64_t id) {
  Job job;
  job.id = JobId{id};
  job.name = fmt::format("train-{}", id);
  job.user = fmt::format("user-{}", id % 20);
  job.workload_class = "resnet50";
  job.program.argv = {"python3", "train.py", "--learning-rate=0.1",
                      fmt::format("--out=/data/runs/{}", id)};
  job.tasks.resize(1);
  job.tasks[0].id = TaskId{id << 32};
  job.tasks[0].demands = Demands(Resources::of(0, 1, 2));
  return job;
}

// No launch is ever ordered: only the handlers' types have to be there.
CloudForMasters spawn_cloud(caf::actor_system& system) {
  return system.spawn([](CloudForMasters::pointer) -> CloudForMasters::behavior_type {
    return {[](launch_atom, const LaunchOrder&, const MasterForCloud&) {},
            [](end_atom, InstanceId, const MasterForCloud&) {},
            [](greet_atom, const MasterForCloud&) {}};
  });
}

/// The store that the master writes to; outlives it.
struct Disk {
  explicit Disk(Catalog of) : catalog(std::move(of)) {
    auto empty = StoreHistory::open(*store, journal, catalog, {});
    MUSTER_CHECK(empty, "a new store has an empty history");
    history = std::move(empty).value();
  }

  MasterSetup setup(ClockOrigin origin, CloudForMasters cloud) {
    MasterSetup setup;
    setup.parts.catalog = &catalog;
    setup.parts.policy = std::make_unique<IdlePolicy>();
    setup.parts.keep_history = true;
    setup.parts.name = "m0";
    setup.history = history.get();
    setup.save_snapshot = [this](MasterSnapshot snapshot, std::uint64_t behind) {
      journal.save_snapshot(std::move(snapshot), behind);
    };
    setup.journal = &journal;
    setup.cloud = std::move(cloud);
    setup.origin = origin;
    setup.stopwatch = [] { return Duration{}; };
    setup.times = &decisions;
    return setup;
  }

  Catalog catalog;
  bench::ScratchStore store{"listing_bench", catalog};
  StoreJournal journal{*store, catalog, RecoveredMaster{}};
  std::unique_ptr<StoreHistory> history;
  DecisionTimes decisions;
};

/// Adds `jobs` jobs that wait and as many that are over: cancelled before they ran.
void fill(caf::actor_system& system, const MasterForSites& master, std::uint64_t jobs) {
  caf::scoped_actor site(system);
  const auto refused = [](const caf::error&) { MUSTER_CHECK(false, "the master takes jobs"); };
  for (std::uint64_t first = 1; first <= 2 * jobs; first += kAtOnce) {
    std::vector<Job> some;
    std::vector<JobId> over;
    for (std::uint64_t id = first; id < first + kAtOnce && id <= 2 * jobs; ++id) {
      some.push_back(job_of(id));
      if (id % 2 == 0) over.push_back(JobId{id});
    }
    site->request(master, caf::infinite, hand_atom_v, some)
        .receive([](const std::vector<SubmitVerdict>&) {}, refused);
    site->request(master, caf::infinite, cancel_atom_v, over)
        .receive([](const std::vector<CancelVerdict>&) {}, refused);
  }
}

/// Lists the jobs `times` times; the processor time for each job, in us, the median.
void list(ActorBackend& backend, api::JobState state, std::uint32_t jobs, int times,
          const std::string& title) {
  std::vector<double> us;
  std::size_t bytes = 0;
  for (int i = 0; i <= times; ++i) {
    std::promise<api::Answer> promise;
    const double begin = processor_us();
    backend.view({.of = api::Operation::jobs, .state = state, .limit = jobs},
                 [&](api::Answer answer) { promise.set_value(std::move(answer)); });
    const api::Answer answer = promise.get_future().get();
    if (i > 0) us.push_back((processor_us() - begin) / jobs);  // the first one warms up
    MUSTER_CHECK(answer.status == 200, "a list of jobs is answered");
    bytes = answer.json.size();
  }
  std::sort(us.begin(), us.end());
  std::cout << fmt::format("{:<32}{:>8} jobs{:>10} bytes a job{:>10.1f} us a job\n", title, jobs,
                           bytes / jobs, us[us.size() / 2]);
}

constexpr std::uint64_t kFirstWithAttempts = 1'000'000'000;
constexpr Attempt kAttempts = 10;

/// Jobs of one task that has been lost again and again until it finished.
void add_attempts(StoreHistory& history, std::uint64_t jobs) {
  for (std::uint64_t i = 0; i < jobs; ++i) {
    JobHistory over{job_of(kFirstWithAttempts + i), JobOutcome::completed, {}, {}, 1, {}};
    TaskHistory& task = over.tasks.emplace_back();
    for (Attempt number = 1; number <= kAttempts; ++number) {
      const Instant at{std::chrono::minutes{number}};
      task.attempts = number;
      begin_attempt(task, {number, InstanceId{i + number}, TypeId{0}, Market::spot, at}, {}, 20);
      task.newest.started_at = at;
      const bool last = number == kAttempts;
      end_attempt(task, {last ? AttemptEnd::finished : AttemptEnd::lost, {}, {}, {}},
                  at + std::chrono::seconds{50});
    }
    task.finished = true;
    history.add(std::move(over));
  }
}

/// Asks for the attempts of each of the jobs; the processor time for each attempt, and the longest
/// time until an answer.
void tell_attempts(ActorBackend& backend, std::uint64_t jobs, const std::string& title) {
  using Clock = std::chrono::steady_clock;
  Clock::duration longest{};
  std::size_t bytes = 0;
  const double begin = processor_us();
  for (std::uint64_t i = 0; i < jobs; ++i) {
    std::promise<api::Answer> promise;
    const auto asked = Clock::now();
    backend.view({.of = api::Operation::job,
                  .job = JobId{kFirstWithAttempts + i},
                  .limit = 100,
                  .attempts = true},
                 [&](api::Answer answer) { promise.set_value(std::move(answer)); });
    const api::Answer answer = promise.get_future().get();
    longest = std::max(longest, Clock::now() - asked);
    MUSTER_CHECK(answer.status == 200, "the attempts of a job are told");
    bytes = answer.json.size();
  }
  const double us = (processor_us() - begin) / static_cast<double>(jobs * kAttempts);
  std::cout << fmt::format("{:<32}{:>8} rows{:>10} bytes a job{:>10.1f} us a row, longest {} ms\n",
                           title, jobs * kAttempts, bytes, us,
                           std::chrono::ceil<std::chrono::milliseconds>(longest).count());
}

int run(std::uint32_t jobs, int times) {
  auto catalog = load_catalog(std::filesystem::path(MUSTER_SOURCE_DIR) /
                              "config/catalogs/ec2-us-east-1-2026-07.csv");
  MUSTER_CHECK(catalog, "the shipped catalog can be read");
  Disk disk(std::move(catalog).value());
  // Two actor systems in one process: the link between them is a real socket.
  SystemConfig here_config;
  SystemConfig there_config;
  caf::actor_system here(here_config);
  caf::actor_system there(there_config);
  const ClockOrigin origin = wall_origin(here);
  const CloudForMasters cloud = spawn_cloud(here);
  const MasterActor master = here.spawn<MasterActorImpl>(disk.setup(origin, cloud));
  fill(here, master, jobs);
  add_attempts(*disk.history, jobs);
  const auto port = here.middleman().publish(master, 0, "127.0.0.1");
  MUSTER_CHECK(port, "there is a free port");
  const auto far = there.middleman().remote_actor<MasterActor>("127.0.0.1", *port);
  MUSTER_CHECK(far, "the master can be reached over a link");
  ClusterConfig config;
  // No answer may come too late: without a master's the list would be shorter, not slower.
  config.link.request_timeout = std::chrono::seconds{100};
  NodeConfig node;
  node.name = "n0";
  node.master = "m0";
  config.nodes.push_back(node);
  const auto handles = [](const MasterForUsers& whom) {
    ClusterHandles all;
    all.masters = {whom};
    all.numbers = {0};
    return all;
  };
  {
    // The backends end before the actors that they ask.
    ActorBackend near(here, config, handles(master), origin);
    ActorBackend linked(there, config, handles(*far), wall_origin(there));
    using api::JobState;
    list(near, JobState::active, jobs, times, "jobs that wait");
    list(near, JobState::over, jobs, times, "jobs that are over");
    list(linked, JobState::active, jobs, times, "jobs that wait, over a link");
    list(linked, JobState::over, jobs, times, "jobs that are over, over a link");
    tell_attempts(near, jobs, "attempts");
    tell_attempts(linked, jobs, "attempts, over a link");
  }
  caf::anon_send_exit(master, caf::exit_reason::kill);
  caf::anon_send_exit(cloud, caf::exit_reason::kill);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::run(argc > 1 ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 10'000,
                     argc > 2 ? std::stoi(argv[2]) : 5);
}
