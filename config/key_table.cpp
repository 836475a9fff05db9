#include "config/key_table.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "config/cloud_keys.hpp"
#include "config/replay_parts.hpp"

namespace muster::config {
namespace {

using namespace std::chrono_literals;
using C = ReplayConfig;
using WholeKey = WholeKeyOf<C>;
using NumberKey = NumberKeyOf<C>;
using TimeKey = TimeKeyOf<C>;
using PathKey = PathKeyOf<C>;
using ListKey = ListKeyOf<C>;
using Keys = std::vector<KeySpecOf<C>>;

/// A bound against mistakes in typing rather than a limit of the program.
constexpr std::uint64_t kMany = 10'000'000;
// TOML's whole numbers are signed.
constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::int64_t>::max();
constexpr Duration kHour = 1h;

std::vector<std::string> names_of(const std::vector<ReplayPart>& parts) {
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const ReplayPart& part : parts) names.push_back(part.name);
  return names;
}

Keys top_keys() {
  return {{"seed", "seed of a run's random numbers; trial i uses seed + i",
           WholeKey{[](C& c) -> std::uint64_t& { return c.seed; }, 0, kMaxSeed}},
          {"trials", "runs of each policy, each with its own seed",
           WholeKey{[](C& c) -> std::uint32_t& { return c.trials; }, 1, 10'000}},
          {"policies", "policies to compare: NAME[,key=value...]; the first one is the baseline",
           ListKey{[](C& c) -> std::vector<std::string>& { return c.policies; }}, true},
          {"catalog", "CSV file of the instance types on offer",
           PathKey{[](C& c) -> std::filesystem::path& { return c.catalog; }}, true}};
}

// The words for formats are those of the parts that this program has been built with.
Keys workload_keys(const std::vector<ReplayPart>& formats) {
  return {
      {"workload.format", "how the workload is written down, or that it is made up",
       word_key<C>(names_of(formats), [](C& c) -> std::string& { return c.workload.format; }),
       true},
      {"workload.path", "the workload's file; needed unless the format is synthetic",
       PathKey{[](C& c) -> std::filesystem::path& { return c.workload.path; }}},
      {"workload.skip_bad",
       "rows that are wrong are skipped and counted by the field that is wrong; false: they are "
       "errors",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.workload.skip_bad; }}},
      {"workload.max_jobs", "number of jobs to take, from the first; 0: all",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.max_jobs; }, 0, kMany}},
      {"workload.min_tasks", "jobs with fewer tasks are left out",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.min_tasks; }, 1, kMany}},
      {"workload.max_tasks", "number of tasks to take of each job, from the first; 0: all",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.max_tasks; }, 0, kMany}},
      {"workload.scale_time", "factor on the times of submission",
       NumberKey{[](C& c) -> double& { return c.workload.scale_time; }, {0, 1e6}}},
      {"workload.load",
       "load that the fleet is offered: sets the factor on the times of submission; 0: as it is",
       NumberKey{[](C& c) -> double& { return c.workload.load; }, {0, 100}}},
      {"workload.slo_factor",
       "service objective: a job's deadline as a multiple of its longest task; 0: no objective",
       NumberKey{[](C& c) -> double& { return c.workload.slo_factor; }, {0, 1e6}}},
      {"workload.cutoff_s",
       "jobs whose mean task takes longer than this are long, others short; 0: no such classes",
       NumberKey{[](C& c) -> double& { return c.workload.cutoff_s; }, {0, 1e9}}}};
}

Keys window_keys() {
  constexpr Duration kLongest = 10 * 366 * 24 * kHour;
  return {{"workload.sample", "share of the jobs that are taken, as the seed draws them",
           NumberKey{[](C& c) -> double& { return c.workload.sample; },
                     {.low = 0, .high = 1, .above_low = true}}},
          {"workload.distinct_instances",
           "share of the jobs of several tasks that want these on distinct instances, as the seed "
           "draws them",
           NumberKey{[](C& c) -> double& { return c.workload.distinct_instances; },
                     {.low = 0, .high = 1}}},
          {"workload.window.from", "when the window begins that jobs are taken from",
           TimeKey{[](C& c) -> Duration& { return c.workload.window.from; }, 0ns, kLongest}},
          {"workload.window.length",
           "how long it is: jobs that begin elsewhere or, alone, end later are left out; 0: from "
           "workload.window.from to the end",
           TimeKey{[](C& c) -> Duration& { return c.workload.window.length; }, 0ns, kLongest}},
          {"workload.window.min_jobs",
           "jobs of the window at least: the seed draws the window among those of its length that "
           "have them; 0: the first window",
           WholeKey{[](C& c) -> std::uint32_t& { return c.workload.window.min_jobs; }, 0, kMany}}};
}

Keys stated_keys() {
  return {
      {"workload.stated.run_times",
       "run times that jobs state: as the trace says, not at all, true ones, true ones times a "
       "factor between 1 and workload.stated.factor, or true ones with an error of "
       "workload.stated.errors",
       word_key<C>({"as-read", "none", "true", "factor", "drawn"},
                   [](C& c) -> std::string& { return c.workload.stated.by; })},
      {"workload.stated.factor", "factor: one is drawn for each job between 1 and this",
       NumberKey{[](C& c) -> double& { return c.workload.stated.factor; },
                 {.low = 1e-6, .high = 1e6}}},
      {"workload.stated.errors", "drawn: CSV file of errors, as muster predict --ratios writes it",
       PathKey{[](C& c) -> std::filesystem::path& { return c.workload.stated.errors; }}},
      {"workload.move_mbit_s",
       "speed at which the memory of a task that moves is sent, while the task holds its old "
       "place; 0: the delay that the trace states",
       NumberKey{[](C& c) -> double& { return c.workload.move_mbit_s; }, {0, 1e9}}}};
}

Keys tariff_keys() {
  constexpr NumberRange kPrice{.low = 0, .high = 1e6};
  return {{"tariff.cpu_usd_h",
           "price of a core for `tariff_usd`, which bills each task alone while it runs",
           NumberKey{[](C& c) -> double& { return c.tariff.cpu_usd_h; }, kPrice}},
          {"tariff.memory_gib_usd_h", "price of a GiB of memory for `tariff_usd`",
           NumberKey{[](C& c) -> double& { return c.tariff.memory_gib_usd_h; }, kPrice}}};
}

Keys trace_keys() {
  constexpr NumberRange kAmount{.low = 0, .high = 1e6};
  constexpr NumberRange kSize{.low = 0, .high = 1e6, .above_low = true};
  return {{"workload.task.cpu",
           "cores of a task where the trace does not say (tr), or of each of its processors (swf)",
           NumberKey{[](C& c) -> double& { return c.workload.task.cpu; }, kAmount}},
          {"workload.task.memory_gib", "GiB of memory of a task where the trace does not say",
           NumberKey{[](C& c) -> double& { return c.workload.task.memory_gib; }, kAmount}},
          {"workload.task.storage_gib", "GiB of storage of a task where the trace does not say",
           NumberKey{[](C& c) -> double& { return c.workload.task.storage_gib; }, kAmount}},
          {"workload.task.network_gbit_s", "Gbit/s of a task where the trace does not say",
           NumberKey{[](C& c) -> double& { return c.workload.task.network_gbit_s; }, kAmount}},
          {"workload.machine.memory_gib",
           "GiB of the machine that google-2011 and alibaba-2017 count requests in",
           NumberKey{[](C& c) -> double& { return c.workload.machine_memory_gib; }, kSize}}};
}

Keys world_keys(const std::vector<ReplayPart>& interference) {
  return {
      {"world.quantum", "everything in the world happens at multiples of it",
       TimeKey{[](C& c) -> Duration& { return c.world.quantum; }, 1ns, kHour}},
      {"world.settle", "how long after its instant a completion is seen",
       TimeKey{[](C& c) -> Duration& { return c.world.settle; }, 0ns, kHour}},
      {"world.distributed_slowdown",
       "share of its speed that a gang on several instances loses while it shares one of them with "
       "another such gang",
       NumberKey{[](C& c) -> double& { return c.world.distributed_slowdown; },
                 {.low = 0, .high = 0.99}}},
      {"world.max_idle",
       "time after which a run ends in which jobs only wait; twice the longest start of an "
       "instance and a task where that is longer",
       TimeKey{[](C& c) -> Duration& { return c.world.max_idle; }, 1s, 10'000 * kHour}},
      {"world.job_delay_scale", "factor on every delay of jobs and tasks",
       NumberKey{[](C& c) -> double& { return c.world.job_delay_scale; }, {0, 1e4}}},
      {"world.service_noise",
       "deviation of how well an attempt of a service's replica does, relative to its performance",
       NumberKey{[](C& c) -> double& { return c.world.service_noise; }, {0, 1}}},
      {"world.checkpoints", "a task that is stopped goes on later; false: it starts anew",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.world.checkpoints; }}},
      {"world.interference.model", "how tasks on one instance slow each other",
       word_key<C>(names_of(interference),
                   [](C& c) -> std::string& { return c.world.interference.model; })},
      {"world.interference.default_pair",
       "throughput beside one neighbour: for cells without a value, or (uniform) for every pair",
       NumberKey{[](C& c) -> double& { return c.world.interference.default_pair; },
                 {.low = 0, .high = 1, .above_low = true}}}};
}

Keys group_keys() {
  return {{"group.masters", "masters, each with its own instances; a fixed fleet is divided",
           WholeKey{[](C& c) -> std::uint32_t& { return c.group.masters; }, 1, 1000}},
          {"group.sites",
           "site schedulers, each as NAME:LATITUDE,LONGITUDE; users are near them, drawn by the "
           "seed; not given: one",
           ListKey{[](C& c) -> std::vector<std::string>& { return c.group.site_texts; }}}};
}

/// Keys of a master that only a replay sets.
Keys decision_time_keys() {
  return {
      {"master.decision_time",
       "from a round's decision to its plan, in virtual time; 0: the plan is carried out before "
       "anything else happens",
       TimeKey{[](C& c) -> Duration& { return c.master.decision_time; }, 0ns, kHour}}};
}

/// Keys of formats and interference models, which stand with their code: a new part brings its own.
Keys keys_of(const std::vector<ReplayPart>& parts) {
  Keys all;
  for (const ReplayPart& part : parts) all.insert(all.end(), part.keys.begin(), part.keys.end());
  return all;
}

}  // namespace

// In the order of the documentation, which is printed from this table.
Keys replay_keys(const ReplayParts& parts) {
  Keys all;
  for (const Keys& some :
       {top_keys(), workload_keys(parts.formats), window_keys(), stated_keys(), tariff_keys(),
        trace_keys(), keys_of(parts.formats), world_keys(parts.interference),
        keys_of(parts.interference), cloud_keys<C>(), group_keys(), master_keys<C>(),
        instance_keys<C>(), planning_keys<C>(), decision_time_keys(), site_keys<C>(),
        classify_keys<C>(), predict_keys<C>()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace muster::config
