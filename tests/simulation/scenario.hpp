#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "model/enum_words.hpp"
#include "model/job.hpp"
#include "model/time.hpp"
#include "schedulers/registry.hpp"

// What a seed stands for: a cluster, what its users want, and what goes wrong. All of it is drawn
// before the run, so that a run with fewer faults is the same up to the first one that is left out.

namespace muster::ring {

enum class FaultKind : std::uint8_t {
  kill_site,
  kill_master,
  kill_cloud,
  kill_worker,
  lose_machine,
  cut_nodes,
  cut_worker,
  slow_nodes,
  slow_worker,
  repeat_nodes,
  repeat_worker,
  disk_refuses,
  disk_slow,
  cloud_silent,
  interrupt,
  submit_twice,
  cancel,
  hold,
  drain
};
constexpr auto words_of(FaultKind) {
  return words_as_spelt<FaultKind>();
}
inline constexpr std::size_t kFaultKinds = kEnumerators<FaultKind>;

/// One thing that goes wrong, or that a user does besides submitting.
struct Fault {
  FaultKind kind = FaultKind::kill_site;
  Instant at;
  std::uint32_t messages = 0;  ///< that are still dealt with after that time
  std::uint64_t a = 0, b = 0;  ///< who or what, as a number drawn from all
  Duration length{};           ///< until it is over
  Duration step{};             ///< of the clock, over a restart
  bool told_a = true, told_b = true;
};
std::string to_text(const Fault& fault);

/// A submission of a user.
struct Wish {
  Job job;  ///< without ids; its token is the submission's
  Instant at;
  std::uint32_t site = 0;
  /// A gang that can never have all its places: others must not wait for it. Its user gives it up
  /// when all else is done.
  bool hopeless = false;
  /// When its user ends it, if it is a service.
  Instant ends_at{};
  /// When its user wants another number of replicas of it, and which; and when another revision.
  std::vector<std::pair<Instant, std::uint32_t>> scales{};
  std::vector<Instant> updates{};

  /// The wishes before it that its job waits for, by their places.
  std::vector<std::pair<std::size_t, AfterEnd>> after{};
  /// The pipeline that it is a job of, from 1: its wishes follow each other, and are one
  /// submission. 0: a submission of its own.
  std::uint32_t pipeline = 0;
  /// When its user releases it, if it is submitted as held.
  std::optional<Instant> let_go{};

  bool is_service() const { return job.service() != nullptr; }
};

/// How much is remembered and taken at once: in some scenarios so little that it binds.
struct Bounds {
  std::size_t history = 100'000;    ///< jobs that a master lists when they are over
  std::uint32_t tokens = 100'000;   ///< submissions that a site knows again
  std::size_t cancels = 10'000;     ///< open ones of a site
  std::size_t hand_batch = 500;     ///< jobs of one hand-off
  std::uint32_t waiting = 100'000;  ///< jobs of a site that no master has yet
  std::size_t ended = 10'000;       ///< jobs that ended at a site and that it lists
};

/// An order of a user about a pipeline.
struct PipelineOrder {
  Instant at;
  std::size_t wish = 0;  ///< one of its wishes
  bool cancels = false;  ///< all of its jobs; else that one is held
  Duration length{};     ///< for which it is held
};

/// Image of tasks whose attempts all fail.
inline constexpr const char* kFailingImage = "fails";

/// Instants of a run are by the true time; the clocks of nodes begin in the evening of a day, so
/// that a midnight falls into it.
inline constexpr Duration kEvening = std::chrono::hours{24} * 20'000 + std::chrono::minutes{1420};

/// What makes a run harder all along, besides the faults that come at a time.
struct Hardships {
  bool users_repeat = false;  ///< users say each thing twice, as clients do whose answer is lost
  bool long_words = false;    ///< jobs have arguments of up to the most that a request may have
  bool wild_samples = false;  ///< tasks measure throughputs at both ends of what is taken
  /// Small jobs that are under way at any time, each followed by the next, until the wishes are
  /// over: of as low a priority as any of these.
  std::uint32_t stream = 0;
};

/// Which of the seeds have something.
enum class SeedShare : std::uint8_t { none, some, all };

/// What is left out of scenarios.
struct ScenarioLimits {
  std::vector<FaultKind> without;
  bool clock_back = true;    ///< clocks may be set back across a restart
  bool cloud_limits = true;  ///< the cloud may have less than all jobs together need
  bool caps = true;          ///< masters may have caps
  bool failures = true;      ///< attempts may fail by themselves
  bool site_disks = true;    ///< the disks of sites may refuse or be slow, not only those of others
  bool bounds = true;        ///< what is remembered may be little
  bool hardships = true;  ///< users may repeat themselves, jobs be long, checkpoints hold nothing
  SeedShare services = SeedShare::some;   ///< users may have services
  SeedShare pipelines = SeedShare::some;  ///< users may have pipelines
  SeedShare machines = SeedShare::some;   ///< machines of one's own may be beside the cloud
};

struct Scenario {
  std::uint64_t seed = 1;
  Catalog catalog;
  PolicySpec policy;
  std::string policy_text;
  std::uint32_t sites = 2, masters = 2;
  MasterSettings master;
  SiteSettings site;
  ClassifyConfig classify;
  std::uint32_t cloud_instances = 0;  ///< 0: no limit
  /// Machines of one's own, of the type "own", beside the cloud; 0: there is no such type.
  std::uint32_t own_machines = 0;
  std::uint32_t cloud_spot = 0;  ///< the same of spot instances
  double interruptions_per_h = 0;
  Duration notice{};
  std::uint64_t snapshot_every = 0;
  Bounds bounds;
  Hardships hard;
  double attempts_fail = 0;
  Duration longest_work = std::chrono::seconds{900};
  std::vector<Duration> offsets;  ///< of the nodes' clocks: sites, masters, cloud
  std::vector<Wish> wishes;
  std::vector<PipelineOrder> orders;  ///< of the pipelines' users
  std::vector<Fault> faults;          ///< in the order of their times
  Instant faults_end;
  Instant healed;  ///< nothing that a fault has begun goes on, and all have met again

  bool has_services() const;
  bool has_pipelines() const;
  /// All jobs together may want more than may be rented.
  bool is_limited() const;
};

/// Whose jobs the stream's are, and no others.
inline constexpr const char* kUserOfStream = "eve";

/// The job of the stream that comes after so many others of it, without ids.
Job stream_job(const Scenario& scenario, std::uint64_t number);

Scenario make_scenario(std::uint64_t seed, const ScenarioLimits& limits);

}  // namespace muster::ring
