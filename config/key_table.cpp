#include "config/key_table.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace muster::config {
namespace {

using namespace std::chrono_literals;
using C = ReplayConfig;
using WholeKey = WholeKeyOf<C>;
using NumberKey = NumberKeyOf<C>;
using TimeKey = TimeKeyOf<C>;
using PathKey = PathKeyOf<C>;
using ListKey = ListKeyOf<C>;
using ChoiceKey = ChoiceKeyOf<C>;
using Keys = std::vector<KeySpecOf<C>>;

constexpr std::uint64_t kMany = 10'000'000;
// TOML's whole numbers are signed.
constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::int64_t>::max();
constexpr Duration kHour = 1h;

std::size_t position_of(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

ChoiceKey format_key() {
  return {workload_formats(),
          [](const C& c) { return position_of(c.workload.format, workload_formats()); },
          [](C& c, std::size_t i) { c.workload.format = workload_formats()[i]; }};
}

ChoiceKey base_format_key() {
  return {trace_formats(),
          [](const C& c) { return position_of(c.workload.composed.format, trace_formats()); },
          [](C& c, std::size_t i) { c.workload.composed.format = trace_formats()[i]; }};
}

ChoiceKey demands_format_key() {
  return {
      trace_formats(),
      [](const C& c) { return position_of(c.workload.composed.demands_format, trace_formats()); },
      [](C& c, std::size_t i) { c.workload.composed.demands_format = trace_formats()[i]; }};
}

ChoiceKey model_key() {
  return {
      {"none", "uniform", "pairwise"},
      [](const C& c) { return static_cast<std::size_t>(c.world.interference.model); },
      [](C& c, std::size_t i) { c.world.interference.model = static_cast<InterferenceModel>(i); }};
}

ChoiceKey durations_key() {
  return {{"uniform", "log-uniform"},
          [](const C& c) -> std::size_t { return c.workload.synthetic.log_uniform ? 1 : 0; },
          [](C& c, std::size_t i) { c.workload.synthetic.log_uniform = i == 1; }};
}

ChoiceKey variant_key() {
  return {{"intended", "as-generated"},
          [](const C& c) -> std::size_t { return c.world.interference.as_generated ? 1 : 0; },
          [](C& c, std::size_t i) { c.world.interference.as_generated = i == 1; }};
}

Keys top_keys() {
  return {{"seed", "what every chance in a run starts from; trial i uses seed + i",
           WholeKey{[](C& c) -> std::uint64_t& { return c.seed; }, 0, kMaxSeed}},
          {"trials", "runs of each policy, each with its own seed",
           WholeKey{[](C& c) -> std::uint32_t& { return c.trials; }, 1, 10'000}},
          {"policies", "what decides: NAME[,key=value...]; the first one is the yardstick",
           ListKey{[](C& c) -> std::vector<std::string>& { return c.policies; }}, true},
          {"catalog", "CSV file of the instance types on offer",
           PathKey{[](C& c) -> std::filesystem::path& { return c.catalog; }}, true}};
}

Keys workload_keys() {
  return {
      {"workload.format", "how the workload is written down, or that it is made up", format_key(),
       true},
      {"workload.path", "the workload's file; needed unless the format is synthetic",
       PathKey{[](C& c) -> std::filesystem::path& { return c.workload.path; }}},
      {"workload.max_jobs", "only the first so many jobs; 0: all",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.max_jobs; }, 0, kMany}},
      {"workload.min_tasks", "jobs with fewer tasks are left out",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.min_tasks; }, 1, kMany}},
      {"workload.max_tasks", "only the first so many tasks of each job; 0: all",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.max_tasks; }, 0, kMany}},
      {"workload.scale_time", "factor on the times of submission",
       NumberKey{[](C& c) -> double& { return c.workload.scale_time; }, {0, 1e6}}},
      {"workload.load",
       "load that the fleet is offered: sets the factor on the times of submission; 0: as it is",
       NumberKey{[](C& c) -> double& { return c.workload.load; }, {0, 100}}},
      {"workload.slo_factor",
       "a job is in time when it takes no more than so often its longest task; 0: nobody asks",
       NumberKey{[](C& c) -> double& { return c.workload.slo_factor; }, {0, 1e6}}},
      {"workload.cutoff_s",
       "jobs whose mean task takes longer than this are long, others short; 0: no such classes",
       NumberKey{[](C& c) -> double& { return c.workload.cutoff_s; }, {0, 1e9}}}};
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
          {"workload.machine.cpu", "cores of the machine that google-2011 counts requests in",
           NumberKey{[](C& c) -> double& { return c.workload.machine.cpu; }, kSize}},
          {"workload.machine.memory_gib",
           "GiB of the machine that google-2011 and alibaba-2017 count requests in",
           NumberKey{[](C& c) -> double& { return c.workload.machine.memory_gib; }, kSize}},
          {"workload.google_max_priority", "google-2011: only tasks of at most this priority",
           WholeKey{[](C& c) -> std::uint32_t& { return c.workload.google_max_priority; }, 0, 11}},
          {"workload.swf_processors_per_task", "swf: how many of a job's processors make one task",
           WholeKey{[](C& c) -> std::uint32_t& { return c.workload.swf_processors_per_task; }, 1,
                    100'000}}};
}

Keys composed_keys() {
  return {{"workload.composed.format",
           "of workload.path, which a composed workload has arrivals, durations and tasks from",
           base_format_key()},
          {"workload.composed.demands",
           "trace that the demands of each job are drawn from; needed when the format is composed",
           PathKey{[](C& c) -> std::filesystem::path& { return c.workload.composed.demands; }}},
          {"workload.composed.demands_format", "of that trace", demands_format_key()},
          {"workload.composed.jobs",
           "how many jobs to draw from workload.path, each as likely; 0: its own, in their order",
           WholeKey{[](C& c) -> std::uint32_t& { return c.workload.composed.jobs; }, 0, kMany}},
          {"workload.composed.mean_gap_s",
           "mean of exponential gaps between arrivals; 0: arrivals as in workload.path",
           NumberKey{[](C& c) -> double& { return c.workload.composed.mean_gap_s; }, {0, 1e8}}}};
}

Keys synthetic_keys() {
  return {
      {"workload.synthetic.workloads",
       "CSV file of the workloads to draw from; needed when the format is synthetic",
       PathKey{[](C& c) -> std::filesystem::path& { return c.workload.synthetic.workloads; }}},
      {"workload.synthetic.jobs", "how many jobs",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.synthetic.jobs; }, 1, kMany}},
      {"workload.synthetic.tasks_per_job", "how many identical tasks each job has",
       WholeKey{[](C& c) -> std::uint32_t& { return c.workload.synthetic.tasks_per_job; }, 1,
                10'000}},
      {"workload.synthetic.mean_gap_s", "mean of the exponential gaps between arrivals",
       NumberKey{[](C& c) -> double& { return c.workload.synthetic.mean_gap_s; }, {0, 1e8}}},
      {"workload.synthetic.durations", "how durations are drawn between the next two",
       durations_key()},
      {"workload.synthetic.min_duration_h", "durations are drawn from here",
       NumberKey{[](C& c) -> double& { return c.workload.synthetic.min_duration_h; }, {0, 1e5}}},
      {"workload.synthetic.max_duration_h", "to here",
       NumberKey{[](C& c) -> double& { return c.workload.synthetic.max_duration_h; }, {0, 1e5}}}};
}

Keys world_keys() {
  return {
      {"world.quantum", "everything in the world happens at multiples of it",
       TimeKey{[](C& c) -> Duration& { return c.world.quantum; }, 1ns, kHour}},
      {"world.settle", "how long after its instant a completion is seen",
       TimeKey{[](C& c) -> Duration& { return c.world.settle; }, 0ns, kHour}},
      {"world.max_idle",
       "ends a run in which jobs have only waited, with nothing rented, for so long",
       TimeKey{[](C& c) -> Duration& { return c.world.max_idle; }, 1s, 10'000 * kHour}},
      {"world.job_delay_scale", "factor on every delay of jobs and tasks",
       NumberKey{[](C& c) -> double& { return c.world.job_delay_scale; }, {0, 1e4}}},
      {"world.checkpoints", "a task that is stopped goes on later; false: it starts anew",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.world.checkpoints; }}},
      {"world.interference.model", "how tasks on one instance slow each other", model_key()},
      {"world.interference.matrix",
       "CSV file of pairwise throughputs, row = the task, column = its neighbour; needed when the "
       "model is pairwise",
       PathKey{[](C& c) -> std::filesystem::path& { return c.world.interference.matrix; }}},
      {"world.interference.default_pair",
       "throughput beside one neighbour: for cells without a value, or (uniform) for every pair",
       NumberKey{[](C& c) -> double& { return c.world.interference.default_pair; },
                 {.low = 0, .high = 1, .above_low = true}}},
      {"world.interference.variant",
       "the matrix as it is meant, or with the exchanged values of Eva's artifact", variant_key()}};
}

Keys cloud_keys() {
  return {{"cloud.max_instances", "the cloud refuses to have more at once; 0: no limit",
           WholeKey{[](C& c) -> std::uint32_t& { return c.cloud.max_instances; }, 0, kMany}},
          {"cloud.interruptions_per_h", "expected number in an hour of one spot instance",
           NumberKey{[](C& c) -> double& { return c.cloud.interruptions_per_h; }, {0, 3600}}},
          {"cloud.notice", "from an interruption's notice to the instance's end",
           TimeKey{[](C& c) -> Duration& { return c.cloud.notice; }, 0ns, 24 * kHour}}};
}

Keys group_keys() {
  return {{"group.masters", "masters, each with its own instances; a fixed fleet is divided",
           WholeKey{[](C& c) -> std::uint32_t& { return c.group.masters; }, 1, 1000}},
          {"group.sites",
           "site schedulers, each as NAME:LATITUDE,LONGITUDE; users are near them, drawn by the "
           "seed; not given: one",
           ListKey{[](C& c) -> std::vector<std::string>& { return c.group.site_texts; }}}};
}

Keys build_table() {
  Keys all;
  for (const Keys& part :
       {top_keys(), workload_keys(), trace_keys(), synthetic_keys(), composed_keys(), world_keys(),
        cloud_keys(), group_keys(), master_keys<C>(), site_keys<C>(), sort_keys<C>()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

template <>
const std::vector<KeySpecOf<ReplayConfig>>& key_table<ReplayConfig>() {
  static const Keys kTable = build_table();
  return kTable;
}

}  // namespace muster::config
