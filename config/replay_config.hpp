#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/classify_config.hpp"
#include "config/cloud_config.hpp"
#include "config/config_error.hpp"
#include "config/fleet.hpp"
#include "config/master_settings.hpp"
#include "config/part_settings.hpp"
#include "config/site_settings.hpp"
#include "model/expected.hpp"
#include "model/geo.hpp"
#include "model/time.hpp"

namespace muster {

struct ReplayParts;

/// Demands of a task where its trace does not state them.
struct TaskDefaults {
  double cpu = 1;  ///< cores; swf: for each of the task's processors
  double memory_gib = 0;
  double storage_gib = 0;
  double network_gbit_s = 0;
};

/// The time that a workload is taken from.
struct WorkloadWindow {
  Duration from{};    ///< when it begins
  Duration length{};  ///< jobs that would end later are left out; 0: no window
  std::uint32_t min_jobs =
      0;  ///< the seed draws a window among those with this number of jobs; 0: the first one
};

/// Statements of jobs on their run times.
struct StatedRunTimes {
  std::string by = "as-read";    ///< or none, true, factor, drawn
  double factor = 1;             ///< the bound of factors other than 1
  std::filesystem::path errors;  ///< true over predicted run times, to draw from
};

/// The workload: jobs and the times of their submission.
struct WorkloadConfig {
  std::string format;  ///< the name of one of ReplayParts::formats
  std::filesystem::path path;
  bool skip_bad = false;        ///< rows that are wrong are counted and not errors
  std::uint32_t max_jobs = 0;   ///< number of first jobs that are taken; 0: all
  std::uint32_t min_tasks = 1;  ///< jobs with fewer are left out
  std::uint32_t max_tasks = 0;  ///< number of first tasks of each job that are taken; 0: all
  double scale_time = 1;        ///< factor on the times of submission
  double load = 0;        ///< that the fleet is offered, by a factor on those times; 0: as it is
  double slo_factor = 0;  ///< a job's deadline as a multiple of its longest task; 0: no deadline
  double cutoff_s = 0;    ///< jobs whose mean task takes longer are long; 0: no such classes
  double sample = 1;      ///< share of the jobs that are taken, as the seed draws them
  double distinct_instances = 0;  ///< of jobs of several tasks that want it, drawn likewise
  WorkloadWindow window;
  StatedRunTimes stated;
  double move_mbit_s =
      0;  ///< that a task's memory is sent with when it moves; 0: as the trace says
  TaskDefaults task;
  double machine_memory_gib = 256;  ///< of the machine in parts of which some traces count memory
  PartSettings own;                 ///< settings of single formats
};

/// How much tasks on one instance slow each other.
struct InterferenceConfig {
  std::string model = "none";  ///< the name of one of ReplayParts::interference
  double default_pair = 0.95;  ///< throughput beside a neighbour where nothing else is known
  PartSettings own;            ///< settings of single models
};

/// The simulated world around the actors.
struct WorldConfig {
  Duration quantum{
      std::chrono::seconds{1}};  ///< everything in the world happens at multiples of it
  Duration settle{
      std::chrono::milliseconds{2}};  ///< how long after its instant a completion is seen
  double distributed_slowdown = 0;    ///< of a gang that shares an instance with another one,
                                      ///< both on several instances
  Duration max_idle{
      std::chrono::hours{24}};  ///< time after which a run ends in which jobs only wait
  double job_delay_scale = 1;   ///< factor on every delay of jobs and tasks
  double service_noise = 0.01;  ///< deviation of how well replicas of services do, relative
  bool checkpoints = true;      ///< a task that is stopped goes on later; false: from its start
  InterferenceConfig interference;
};

/// How many masters and sites a group has.
struct GroupConfig {
  std::uint32_t masters = 1;
  std::vector<std::string> site_texts;  ///< "NAME:LATITUDE,LONGITUDE" each; none: one site
  std::vector<std::pair<std::string, GeoPoint>> sites;
};

/// Prices of a service that bills each task for its request while it runs.
struct TariffConfig {
  double cpu_usd_h = 0;         ///< of a core
  double memory_gib_usd_h = 0;  ///< of a GiB; both 0: no tariff
};

/// Everything `muster replay` needs to know.
struct ReplayConfig {
  std::string name;  ///< file name without extension
  std::uint64_t seed = 1;
  std::uint32_t trials = 1;           ///< runs a policy, with seeds seed, seed+1, ...
  std::vector<std::string> policies;  ///< NAME[,key=value...], the first one is the baseline
  std::filesystem::path catalog;
  WorkloadConfig workload;
  TariffConfig tariff;
  WorldConfig world;
  CloudConfig cloud;
  MasterSettings master;
  FleetConfig fleet;
  GroupConfig group;
  SiteSettings site;
  ClassifyConfig classify;
};

/// Reads and checks a config. `overrides` are "dotted.key=value" as --set takes them. All errors
/// are reported at once, one a line, each with file:line:column, the field, and what would be
/// right. Paths are relative to the config file; ${MUSTER_DATA} at the start of a path stands for
/// the environment variable, or ../shared/data below the working directory when it is not set.
/// `parts` says what a config may name and which keys belong to that.
Expected<ReplayConfig, ConfigError> load_replay_config(const ReplayParts& parts,
                                                       const std::filesystem::path& file,
                                                       const std::vector<std::string>& overrides);

}  // namespace muster
