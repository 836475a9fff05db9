#include "tools/replay/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "model/check.hpp"
#include "tools/replay/fleet_levels.hpp"
#include "tools/replay/job_times.hpp"

namespace muster::replay {
namespace {

constexpr std::size_t kPlotPoints = 600;
constexpr std::array kPlotted = {Resource::gpu, Resource::cpu, Resource::memory};

/// A weighted mean of values that are not always there.
class Mean {
 public:
  void add(std::optional<double> value, double weight = 1) {
    if (!value || weight <= 0) return;
    sum_ += *value * weight;
    weight_ += weight;
  }
  std::optional<double> value() const {
    if (weight_ == 0) return std::nullopt;
    return sum_ / weight_;
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

/// The ratios that a run is judged by, as means.
struct LevelMeans {
  Mean tasks_per_instance;
  std::array<Mean, kPlotted.size()> allocation;

  void add(const FleetLevels& levels, double weight) {
    tasks_per_instance.add(levels.tasks_per_instance(), weight);
    for (std::size_t i = 0; i < kPlotted.size(); ++i) {
      allocation[i].add(levels.allocation(kPlotted[i]), weight);
    }
  }
};

/// Resources x seconds between the first acceptance and the last completion of a log.
class Utilization {
 public:
  /// The levels hold for the next so many seconds.
  void add(const FleetLevels& levels, double seconds) {
    if (!begin_ || seconds <= 0) return;
    for (const Resource kind : kAllResources) {
      used_s_[kind] += levels.used()[kind] * seconds;
      capacity_s_[kind] += levels.capacity()[kind] * seconds;
    }
  }

  /// The time up to the event has been added.
  void apply(const Event& event) {
    if (std::holds_alternative<JobAccepted>(event.body) && !begin_) begin_ = event.at;
    const auto* over = std::get_if<JobFinished>(&event.body);
    if (over == nullptr || over->outcome != JobOutcome::completed || !begin_) return;
    end_ = event.at;
    used_at_end_ = used_s_;
    capacity_at_end_ = capacity_s_;
    ++completed_;
  }

  void finish(RunResult& result) const {
    if (!end_) return;
    result.makespan_s = to_seconds(*end_ - *begin_);
    if (*end_ > *begin_) {
      result.throughput_jobs_h = static_cast<double>(completed_) / to_hours(*end_ - *begin_);
    }
    for (std::size_t i = 0; i < kResourceKinds; ++i) {
      const double capacity = capacity_at_end_[kAllResources[i]];
      if (capacity > kResourceEpsilon) {
        result.utilization[i] = used_at_end_[kAllResources[i]] / capacity;
      }
    }
  }

 private:
  std::optional<Instant> begin_, end_;
  std::uint64_t completed_ = 0;
  Resources used_s_, capacity_s_;
  Resources used_at_end_, capacity_at_end_;
};

/// Walks through a log and reads the levels: all the time, at the samples, and at the points of the
/// plots. A reading at an instant sees all events of that instant.
class LevelReader {
 public:
  LevelReader(const Catalog& catalog, const MeasureOptions& options, Instant end)
      : catalog_(catalog), options_(options), levels_(catalog), end_(end) {
    next_sample_ = options.sample_from;
  }

  void apply(const Event& event) {
    advance(event.at);
    utilization_.apply(event);
    levels_.apply(event);
    now_ = std::max(now_, event.at);
  }

  void finish(RunResult& result) {
    advance(end_ + Duration{1});
    utilization_.finish(result);
    const bool sampled = end_ > options_.sample_to;
    const LevelMeans& means = sampled ? at_samples_ : over_time_;
    result.tasks_per_instance = means.tasks_per_instance.value();
    result.allocation_gpu = means.allocation[0].value();
    result.allocation_cpu = means.allocation[1].value();
    result.allocation_memory = means.allocation[2].value();
    result.instances_launched = levels_.launched();
    result.total_cost_usd = levels_.spent(end_).usd();
    result.instance_uptime_h = levels_.uptimes_h();
    std::sort(result.instance_uptime_h.begin(), result.instance_uptime_h.end());
    result.cost_over_time = std::move(cost_);
    result.allocation_over_time = std::move(allocation_);
    for (std::size_t type = 0; type < by_type_.size(); ++type) {
      const Series& series = by_type_[type];
      const bool used = std::any_of(series.begin(), series.end(),
                                    [](const auto& point) { return point.second > 0; });
      if (used) result.instances_by_type[catalog_.types()[type].name] = series;
    }
  }

 private:
  /// The levels hold from now_ until `then`, without it.
  void advance(Instant then) {
    const double seconds = to_seconds(std::min(then, end_) - now_);
    over_time_.add(levels_, seconds);
    utilization_.add(levels_, seconds);
    while (next_sample_ < options_.sample_to && next_sample_ + options_.sample_settle < then) {
      at_samples_.add(levels_, 1);
      next_sample_ += options_.sample_every;
    }
    while (plotted_ < kPlotPoints && plot_instant() < then) plot();
  }

  Instant plot_instant() const {
    const double share = static_cast<double>(plotted_) / (kPlotPoints - 1);
    return plotted_ + 1 == kPlotPoints
               ? end_
               : Instant{from_seconds(to_seconds(end_.time_since_epoch()) * share)};
  }

  void plot() {
    const Instant at = plot_instant();
    const double hour = to_hours(at.time_since_epoch());
    ++plotted_;
    cost_.emplace_back(hour, levels_.spent(at).usd());
    by_type_.resize(levels_.up_by_type().size());
    for (std::size_t type = 0; type < by_type_.size(); ++type) {
      by_type_[type].emplace_back(hour, levels_.up_by_type()[type]);
    }
    for (std::size_t i = 0; i < kPlotted.size(); ++i) {
      const auto share = levels_.allocation(kPlotted[i]);
      if (share) allocation_[i].emplace_back(hour, *share);
    }
  }

  const Catalog& catalog_;
  const MeasureOptions& options_;
  FleetLevels levels_;
  Instant end_;
  Instant now_{};
  LevelMeans over_time_, at_samples_;
  Utilization utilization_;
  Instant next_sample_;
  std::size_t plotted_ = 0;
  Series cost_;
  std::vector<Series> by_type_;
  std::array<Series, kPlotted.size()> allocation_;
};

/// How often rounds took place, and how often they laid out everything anew.
struct RoundCount {
  std::uint64_t rounds = 0;                          ///< without quiet ones
  std::map<std::uint32_t, std::string> last_choice;  ///< by cell
  std::uint64_t full = 0;
  std::uint64_t partial = 0;

  void apply(const Event& event) {
    const auto* decided = std::get_if<RoundDecided>(&event.body);
    if (decided == nullptr) return;
    ++rounds;
    // A quiet round would have chosen what the one before it chose.
    std::string& last = last_choice[event.cell];
    count(last, decided->quiet);
    last = decided->note.choice;
    count(last, 1);
  }
  void count(std::string_view choice, std::uint64_t times) {
    if (choice == "full") full += times;
    if (choice == "partial") partial += times;
  }
  std::optional<double> full_share() const {
    if (full + partial == 0) return std::nullopt;
    return static_cast<double>(full) / static_cast<double>(full + partial);
  }
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void measure_jcts(RunResult& result) {
  std::vector<double>& jct_h = result.jct_h;
  if (jct_h.empty()) return;
  std::sort(jct_h.begin(), jct_h.end());
  result.mean_jct_h = mean_of(jct_h);
  result.p50_jct_h = nearest_rank(jct_h, 50);
  result.p95_jct_h = nearest_rank(jct_h, 95);
  result.p99_jct_h = nearest_rank(jct_h, 99);
}

/// The jobs of one class.
ClassFigures measure_class(const JobFollower& follower, const MeasureOptions& options,
                           const std::function<bool(JobId)>& is_of_class) {
  ClassFigures figures;
  std::vector<double> jct_s;
  std::uint64_t in_time = 0;
  for (const JobTimes& times : follower.jobs()) {
    if (!is_of_class(times.job->id)) continue;
    ++figures.submitted;
    if (times.outcome != JobOutcome::completed) continue;
    const Duration jct = *times.ended - times.accepted;
    jct_s.push_back(to_seconds(jct));
    in_time += options.slo && jct <= options.slo(times.job->id);
  }
  if (options.slo && figures.submitted > 0) {
    figures.slo_met = static_cast<double>(in_time) / static_cast<double>(figures.submitted);
  }
  figures.completed = jct_s.size();
  if (jct_s.empty()) return figures;
  std::sort(jct_s.begin(), jct_s.end());
  figures.mean_jct_s = mean_of(jct_s);
  figures.p50_jct_s = nearest_rank(jct_s, 50);
  figures.p90_jct_s = nearest_rank(jct_s, 90);
  figures.p99_jct_s = nearest_rank(jct_s, 99);
  return figures;
}

void measure_jobs(const JobFollower& follower, RunResult& result) {
  Mean idle_h, throughput, migrations;
  for (const JobTimes& times : follower.jobs()) {
    if (times.tasks_started > 0) {
      migrations.add(static_cast<double>(times.starts - times.tasks_started) /
                     static_cast<double>(times.tasks_started));
    }
    if (times.throughput_samples > 0) {
      throughput.add(times.mean_throughput, static_cast<double>(times.tasks));
    }
    if (times.outcome != JobOutcome::completed) {
      result.not_completed.emplace_back(fmt::to_string(times.job->id.value),
                                        follower.reason(times));
      continue;
    }
    const Duration jct = *times.ended - times.accepted;
    result.jct_h.push_back(to_hours(jct));
    idle_h.add(to_hours(jct - times.executing));
  }
  result.jobs_submitted = follower.jobs().size();
  result.jobs_completed = result.jct_h.size();
  result.mean_idle_h = idle_h.value();
  result.mean_normalized_throughput = throughput.value();
  result.migrations_per_task = migrations.value();
  measure_jcts(result);
}

std::optional<double> ratio(std::optional<double> value, std::optional<double> base) {
  if (!value || !base || *base <= 0) return std::nullopt;
  return *value / *base;
}

void normalize(std::optional<ClassFigures>& figures, const std::optional<ClassFigures>& base) {
  if (figures && base) figures->normalized_jct = ratio(figures->mean_jct_s, base->mean_jct_s);
}

}  // namespace

RunResult measure(std::span<const Event> events, const Catalog& catalog,
                  const MeasureOptions& options) {
  MUSTER_CHECK(options.sample_every > Duration::zero(), "samples are some time apart");
  RunResult result;
  result.events = events.size();
  if (events.empty()) return result;
  LevelReader levels(catalog, options, events.back().at);
  JobFollower jobs;
  RoundCount rounds;
  for (const Event& event : events) {
    levels.apply(event);
    jobs.apply(event);
    rounds.apply(event);
    const auto* release = std::get_if<ReleaseDecided>(&event.body);
    result.interruptions += release != nullptr && release->cause.code == CauseCode::interrupted;
  }
  levels.finish(result);
  measure_jobs(jobs, result);
  if (options.is_long) {
    result.short_jobs = measure_class(jobs, options, std::not_fn(options.is_long));
    result.long_jobs = measure_class(jobs, options, options.is_long);
  }
  result.rounds = rounds.rounds;
  result.full_reconfiguration_share = rounds.full_share();
  return result;
}

double nearest_rank(std::span<const double> ascending, double percent) {
  MUSTER_CHECK(!ascending.empty(), "a percentile of nothing");
  const double rank = std::ceil(percent / 100 * static_cast<double>(ascending.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return ascending[std::min(index, ascending.size() - 1)];
}

void normalize(std::span<RunResult> runs) {
  std::unordered_map<std::uint64_t, const RunResult*> yardsticks;
  for (RunResult& run : runs) {
    const RunResult& base = *yardsticks.emplace(run.seed, &run).first->second;
    run.normalized_cost = ratio(run.total_cost_usd, base.total_cost_usd);
    run.normalized_jct = ratio(run.mean_jct_h, base.mean_jct_h);
    run.normalized_throughput = ratio(run.throughput_jobs_h, base.throughput_jobs_h);
    normalize(run.short_jobs, base.short_jobs);
    normalize(run.long_jobs, base.long_jobs);
  }
}

}  // namespace muster::replay
