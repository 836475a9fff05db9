#include "replay/workload/drawn_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "config/service_keys.hpp"
#include "model/log_uniform.hpp"
#include "model/rng.hpp"
#include "model/rounded_text.hpp"
#include "workers/execution_model.hpp"

// A workload of services and batch jobs that is drawn from a seed. Each service and each job has a
// stream of its own, so that their numbers do not change what the others are.

namespace muster::replay {
namespace {

constexpr double kLongestLife_h = 1e5;
constexpr std::array<double, 4> kJobCores = {1, 2, 4, 8};
constexpr std::array<double, 3> kGibACore = {1, 2, 4};

/// At least one.
double whole_seconds(double hours) {
  return std::max(1.0, std::floor(hours * 3600));
}

std::uint32_t draw_count(std::uint32_t low, std::uint32_t high, Rng& rng) {
  return low + static_cast<std::uint32_t>(rng.below(high - low + 1));
}

/// Whole seconds.
Instant draw_submission(const DrawnServices& settings, Rng& rng) {
  return Instant{from_seconds(std::floor(rng.uniform(0, to_seconds(settings.span))))};
}

/// A day whose load is at its peak in the afternoon.
std::vector<double> day_of(double depth) {
  constexpr double kPeakHour = 14;
  std::vector<double> day;
  if (depth <= 0) return day;
  for (std::size_t hour = 0; hour < kDayHours; ++hour) {
    const double turn = (static_cast<double>(hour) - kPeakHour) / static_cast<double>(kDayHours);
    day.push_back(1 - depth * (1 - std::cos(2 * std::numbers::pi * turn)) / 2);
  }
  return day;
}

ServiceSize stated_size(const DrawnServices& settings, const ServiceTruth& truth, Rng& rng) {
  static const ServiceSizes kSizes = family_sizes();
  // Drawn in any case, so that what a service is like does not depend on what its user asks for.
  const auto any = static_cast<std::uint32_t>(rng.below(kSizes.size()));
  ServiceSize size = truth.performance->right_size(truth.goal, truth.peak());
  switch (settings.size) {
    case StatedSize::drawn:
      return kSizes[any];
    case StatedSize::largest:
      return kSizes[kSizes.largest()];
    case StatedSize::over:
      size.cores *= settings.over;
      size.memory_gib *= settings.over;
      break;
    case StatedSize::right:
      break;
  }
  return size;
}

/// Its spare tasks stand in for replicas that get another place. Of the size `over` the policy
/// may choose any size from the family's smallest on.
ServiceSpec service_of(const DrawnServices& settings, double goal, std::uint32_t replicas) {
  static const ServiceSizes kSizes = family_sizes();
  ServiceSpec spec;
  spec.replicas = replicas;
  spec.goal = {.metric = std::string(kPerformanceMetric), .bound = goal, .at_least = true};
  if (settings.size != StatedSize::over) return spec;
  spec.size = {.least_cpus = kSizes[0].cores, .least_memory_gib = kSizes[0].memory_gib};
  return spec;
}

JobDraft draw_service_job(const DrawnServices& settings, std::uint64_t number, std::uint64_t seed) {
  Rng rng = Rng::of_round(seed, "services", number);
  const FamilyService service = draw_service(rng);
  ServiceTruth truth;
  truth.performance = std::make_shared<const ServicePerformance>(service);
  truth.goal = rng.uniform(settings.min_goal, settings.max_goal);
  truth.day = day_of(settings.day_depth);
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.submit = draw_submission(settings, rng);
  to.truth.iterations = whole_seconds(log_uniform(settings.min_life_h, settings.max_life_h, rng));
  draft.tasks = draw_count(settings.min_replicas, settings.max_replicas, rng);
  TaskSpec& replica = to.job.tasks.emplace_back();
  replica.delays.init =
      from_seconds(std::floor(rng.uniform(0, to_seconds(settings.longest_start))));
  const ServiceSize size = stated_size(settings, truth, rng);
  replica.demands = Demands(Resources::of(0, size.cores, size.memory_gib));
  to.job.id = JobId{number};
  to.job.workload_class = name_of(service.kind);
  to.job.name = fmt::format("{}-{}", to.job.workload_class, number);
  const auto replicas = static_cast<std::uint32_t>(draft.tasks);
  const ServiceSpec spec = service_of(settings, truth.goal, replicas);
  // As a service has tasks whose file does not say more.
  draft.tasks = config::default_most_replicas(replicas) + spec.surge;
  to.job.kind = spec;
  to.truth.interference = to.job.workload_class;
  to.truth.service = std::make_shared<const ServiceTruth>(std::move(truth));
  return draft;
}

JobDraft draw_batch_job(const DrawnServices& settings, std::uint64_t number, std::uint64_t seed) {
  Rng rng = Rng::of_round(seed, "jobs", number);
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.submit = draw_submission(settings, rng);
  to.truth.iterations =
      whole_seconds(log_uniform(settings.min_duration_h, settings.max_duration_h, rng));
  draft.tasks = draw_count(1, settings.max_tasks, rng);
  const double cores = kJobCores[rng.below(kJobCores.size())];
  const double memory_gib = cores * kGibACore[rng.below(kGibACore.size())];
  to.job.tasks.emplace_back().demands = Demands(Resources::of(0, cores, memory_gib));
  to.job.workload_class = kUnknownClass;
  to.job.name = fmt::format("job-{}", number);
  to.truth.interference = to.job.workload_class;
  return draft;
}

RawJobsResult draw_services(const WorkloadConfig& workload, std::uint64_t seed) {
  const auto& settings = workload.own.of<DrawnServices>();
  RawJobs raw_jobs;
  for (std::uint64_t i = 0; i < settings.services; ++i) {
    raw_jobs.add(draw_service_job(settings, i, seed));
  }
  for (std::uint64_t i = 0; i < settings.jobs; ++i) {
    JobDraft draft = draw_batch_job(settings, i, seed);
    draft.job.job.id = JobId{settings.services + i};
    raw_jobs.add(std::move(draft));
  }
  raw_jobs.description =
      fmt::format("{} and {} drawn with seed {}", count_text(settings.services, "service"),
                  count_text(settings.jobs, "batch job"), seed);
  return raw_jobs;
}

/// The lower of two keys may not be above the higher one.
template <class Number>
void check_order(const char* low_key, Number low, const char* high_key, Number high,
                 std::vector<KeyFault>& faults) {
  if (low <= high) return;
  faults.push_back(
      {fmt::format("workload.services.{}", low_key),
       fmt::format("has to be at most {}, which is {}; it is {}", high_key, high, low)});
}

std::vector<KeyFault> check_services(const ReplayConfig& config) {
  const auto& drawn = config.workload.own.of<DrawnServices>();
  std::vector<KeyFault> faults;
  check_order("min_life_h", drawn.min_life_h, "max_life_h", drawn.max_life_h, faults);
  check_order("min_replicas", drawn.min_replicas, "max_replicas", drawn.max_replicas, faults);
  check_order("min_goal", drawn.min_goal, "max_goal", drawn.max_goal, faults);
  check_order("min_duration_h", drawn.min_duration_h, "max_duration_h", drawn.max_duration_h,
              faults);
  return faults;
}

std::vector<config::KeySpecOf<ReplayConfig>> service_keys() {
  using config::format_key;
  using Number = config::NumberKeyOf<ReplayConfig>;
  using Whole = config::WholeKeyOf<ReplayConfig>;
  using Time = config::TimeKeyOf<ReplayConfig>;
  constexpr NumberRange kLife{.low = 0, .high = kLongestLife_h, .above_low = true};
  constexpr NumberRange kGoals{.low = 0, .high = 1, .above_low = true};
  return {
      {"workload.services.services", "services: how many are drawn",
       Whole{format_key<&DrawnServices::services>, 0, kMostJobs}},
      {"workload.services.jobs", "services: how many batch jobs are drawn beside them",
       Whole{format_key<&DrawnServices::jobs>, 0, kMostJobs}},
      {"workload.services.span", "services: time in which all are submitted, uniformly",
       Time{format_key<&DrawnServices::span>, Duration{}, kLongest}},
      {"workload.services.min_life_h",
       "services: until their users end them, log-uniformly from here",
       Number{format_key<&DrawnServices::min_life_h>, kLife}},
      {"workload.services.max_life_h", "to here",
       Number{format_key<&DrawnServices::max_life_h>, kLife}},
      {"workload.services.min_replicas", "services: replicas of each, from here",
       Whole{format_key<&DrawnServices::min_replicas>, 1, kLargestService}},
      {"workload.services.max_replicas", "to here",
       Whole{format_key<&DrawnServices::max_replicas>, 1, kLargestService}},
      {"workload.services.size", "services: the size that their users ask for",
       config::enum_key<ReplayConfig>(format_key<&DrawnServices::size>)},
      {"workload.services.over",
       "services: of the size `over`, the factor by which their users ask for more than they need",
       Number{format_key<&DrawnServices::over>, {.low = 1, .high = 100}}},
      {"workload.services.min_goal", "services: performance that their users want, from here",
       Number{format_key<&DrawnServices::min_goal>, kGoals}},
      {"workload.services.max_goal", "to here",
       Number{format_key<&DrawnServices::max_goal>, kGoals}},
      {"workload.services.longest_start",
       "services: a replica is ready a time after its start that is drawn from 0 to this",
       Time{format_key<&DrawnServices::longest_start>, Duration{}, std::chrono::hours{24}}},
      {"workload.services.day_depth",
       "services: share of its peak by which the load falls every night; 0: it is always the peak",
       Number{format_key<&DrawnServices::day_depth>, {.low = 0, .high = 0.99}}},
      {"workload.services.min_duration_h", "services: durations of batch jobs, from here",
       Number{format_key<&DrawnServices::min_duration_h>, kLife}},
      {"workload.services.max_duration_h", "to here",
       Number{format_key<&DrawnServices::max_duration_h>, kLife}},
      {"workload.services.max_tasks", "services: tasks of a batch job, from 1 to this",
       Whole{format_key<&DrawnServices::max_tasks>, 1, 10'000}}};
}

}  // namespace

WorkloadFormat services_format() {
  WorkloadFormat format{{.name = "services"}, draw_services};
  format.part.keys = service_keys();
  format.part.check = check_services;
  return format;
}

}  // namespace muster::replay
