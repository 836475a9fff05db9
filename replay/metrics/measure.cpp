#include "replay/metrics/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/check.hpp"
#include "replay/metrics/fleet_levels.hpp"
#include "replay/metrics/job_times.hpp"
#include "replay/metrics/note_figures.hpp"
#include "replay/metrics/unused_gpus.hpp"

// The figures of a run from its log, in one pass and without keeping the events. Levels are
// weighted by how long they hold; figures of jobs are gathered at their ends.

namespace muster::metrics {

namespace measuring {

/// Plots are thinned out whenever they reach this number of points, and keep half of them or more.
constexpr std::int64_t kMostPlotPoints = 1200;
constexpr std::array kPlotted = {Resource::gpu, Resource::cpu, Resource::memory};

/// A weighted mean of values that are not always there.
class Mean {
 public:
  void add(std::optional<double> value, double weight = 1) {
    // A level that does not exist (tasks an instance without an instance) takes no part in the
    // mean.
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
  /// The levels hold for the next `seconds`.
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
    // The integral up to this completion: the last one found stands, and what follows is not
    // counted.
    used_at_end_ = used_s_;
    capacity_at_end_ = capacity_s_;
    ++completed_;
  }

  void finish(RunResult& result) const {
    if (!end_) return;
    result.makespan_s = to_seconds(*end_ - *begin_);
    // A run whose jobs all take no time has no throughput.
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

/// GPU-hours of a log, and what elastic jobs made of them.
class GpuUsage {
 public:
  /// The levels hold for the next `hours`.
  void add(const FleetLevels& levels, double hours) {
    now_.used += levels.used()[Resource::gpu] * hours;
    now_.rented += levels.rented()[Resource::gpu] * hours;
    speedups_h_ += levels.speedups().value_or(0) * hours;
  }

  /// The time up to the event has been added.
  void apply(const Event& event) {
    if (!std::holds_alternative<JobAccepted>(event.body)) return;
    if (!first_) first_ = {event.at, now_};
    last_ = {event.at, now_};
  }

  void finish(const FleetLevels& levels, RunResult& result) const {
    if (now_.rented <= kResourceEpsilon) return;
    result.gpu_h = now_;
    result.gpu_h->billed = levels.billed_h()[Resource::gpu];
    if (levels.speedups()) result.efficiency = speedups_h_ / now_.rented;
    if (!first_ || last_.at == first_->at) return;
    const double hours = to_hours(last_.at - first_->at);
    result.gpus_while_arriving = {(last_.gpu_h.used - first_->gpu_h.used) / hours,
                                  (last_.gpu_h.rented - first_->gpu_h.rented) / hours};
  }

 private:
  struct Reading {
    Instant at{};
    GpuHours gpu_h{};
  };

  GpuHours now_;
  double speedups_h_ = 0;
  std::optional<Reading> first_;  ///< at the first acceptance
  Reading last_;
};

/// The levels at instants some power of two of milliseconds apart. The length of a run is not known
/// in advance, so the distance doubles as it goes on.
class Plots {
 public:
  /// The levels hold until `then`, without it.
  void advance(const FleetLevels& levels, Instant then) {
    while (next() < then) {
      // Halves the points and doubles the distance: O(log of the run's length) thinnings in all.
      if (points_ == kMostPlotPoints) thin();
      if (next() < then) add(levels, next());
    }
  }

  /// The last point.
  void finish(const FleetLevels& levels, Instant end) { add(levels, end); }

  void hand_over(const Catalog& catalog, RunResult& result) {
    result.cost_over_time = std::move(cost_);
    result.allocation_over_time = std::move(allocation_);
    if (result.gpu_h) result.gpus_over_time = std::move(gpus_);
    for (std::size_t type = 0; type < by_type_.size(); ++type) {
      const Series& series = by_type_[type];
      const bool used = std::any_of(series.begin(), series.end(),
                                    [](const auto& point) { return point.second > 0; });
      if (used) result.instances_by_type[catalog.types()[type].name] = series;
    }
  }

 private:
  Instant next() const { return Instant{points_ * step_}; }
  void thin();
  void add(const FleetLevels& levels, Instant at);

  Duration step_{std::chrono::milliseconds{1}};
  std::int64_t points_ = 0;  ///< number of steps of the next point
  Series cost_;
  std::vector<Series> by_type_;
  std::array<Series, kPlotted.size()> allocation_;
  GpuSeries gpus_;
};

/// Twice the distance: every other point goes.
void Plots::thin() {
  const double step_h = to_hours(step_ * 2);
  const auto odd = [step_h](const auto& point) {
    const double steps = point.first / step_h;
    return std::abs(steps - std::round(steps)) > 0.25;
  };
  std::erase_if(cost_, odd);
  for (Series& series : by_type_) std::erase_if(series, odd);
  for (Series& series : allocation_) std::erase_if(series, odd);
  for (Series* series : {&gpus_.used, &gpus_.rented, &gpus_.efficiency}) {
    std::erase_if(*series, odd);
  }
  step_ *= 2;
  points_ = (points_ + 1) / 2;
}

void Plots::add(const FleetLevels& levels, Instant at) {
  const double hour = to_hours(at.time_since_epoch());
  ++points_;
  cost_.emplace_back(hour, levels.spent(at).usd());
  by_type_.resize(levels.up_by_type().size());
  for (std::size_t type = 0; type < by_type_.size(); ++type) {
    by_type_[type].emplace_back(hour, levels.up_by_type()[type]);
  }
  for (std::size_t i = 0; i < kPlotted.size(); ++i) {
    const auto share = levels.allocation(kPlotted[i]);
    if (share) allocation_[i].emplace_back(hour, *share);
  }
  const double rented = levels.rented()[Resource::gpu];
  gpus_.used.emplace_back(hour, levels.used()[Resource::gpu]);
  gpus_.rented.emplace_back(hour, rented);
  if (rented > 0 && levels.speedups()) {
    gpus_.efficiency.emplace_back(hour, *levels.speedups() / rented);
  }
}

/// Walks through a log and reads the levels: all the time, at the samples, and at the points of the
/// plots. A reading at an instant sees all events of that instant.
class LevelReader {
 public:
  LevelReader(const Catalog& catalog, const MeasureOptions& options)
      : catalog_(catalog), options_(options), levels_(catalog) {
    next_sample_ = options.sample_from;
  }

  void apply(const Event& event) {
    advance(event.at);
    utilization_.apply(event);
    gpu_usage_.apply(event);
    levels_.apply(event);
    now_ = std::max(now_, event.at);
  }

  void finish(RunResult& result) {
    const Instant end = now_;
    while (next_sample_ < options_.sample_to && next_sample_ + options_.sample_settle <= end) {
      sample();
    }
    plots_.finish(levels_, end);
    utilization_.finish(result);
    gpu_usage_.finish(levels_, result);
    // A run that ends within the window has too few samples: means over time take their place.
    const bool sampled = end > options_.sample_to;
    const LevelMeans& means = sampled ? at_samples_ : over_time_;
    result.tasks_per_instance = means.tasks_per_instance.value();
    result.allocation_gpu = means.allocation[0].value();
    result.allocation_cpu = means.allocation[1].value();
    result.allocation_memory = means.allocation[2].value();
    result.instances_launched = levels_.launched();
    result.total_cost_usd = levels_.spent(end).usd();
    result.instance_uptime_h = levels_.uptimes_h();
    std::sort(result.instance_uptime_h.begin(), result.instance_uptime_h.end());
    plots_.hand_over(catalog_, result);
  }

 private:
  /// The levels hold from now_ until `then`, without it.
  void advance(Instant then) {
    // Events of one instant: levels in between last no time and count in no mean.
    if (then <= now_) return;
    const double seconds = to_seconds(then - now_);
    over_time_.add(levels_, seconds);
    utilization_.add(levels_, seconds);
    gpu_usage_.add(levels_, seconds / 3600);
    while (next_sample_ < options_.sample_to && next_sample_ + options_.sample_settle < then) {
      sample();
    }
    plots_.advance(levels_, then);
  }

  void sample() {
    at_samples_.add(levels_, 1);
    next_sample_ += options_.sample_every;
  }

  const Catalog& catalog_;
  const MeasureOptions options_;
  FleetLevels levels_;
  Instant now_{};
  LevelMeans over_time_, at_samples_;
  Utilization utilization_;
  GpuUsage gpu_usage_;
  Instant next_sample_;
  Plots plots_;
};

}  // namespace measuring

namespace {

using measuring::Mean;

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
  for (const JobFigures& job : follower.jobs()) {
    if (job.service || !is_of_class(job.id)) continue;
    ++figures.submitted;
    // Submitted counts them all, so that a policy that drops jobs does not look better in time.
    if (job.outcome != JobOutcome::completed) continue;
    jct_s.push_back(to_seconds(job.jct));
    in_time += options.slo && job.jct <= options.slo(job.id);
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

/// Over the run alone, which for jobs of no length counts as a nanosecond.
double slowdown_of(const JobFigures& job, const MeasureOptions& options) {
  const Duration alone = std::max(options.alone(job.id), Duration{1});
  return to_seconds(job.jct) / to_seconds(alone);
}

void measure_jobs(const JobFollower& follower, const MeasureOptions& options, RunResult& result) {
  std::vector<double> slowdowns;
  std::uint64_t services = 0;
  Mean idle_h, throughput, migrations;
  const std::vector<JobFigures>& jobs = follower.jobs();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobFigures& job = jobs[i];
    if (job.service) {
      ++services;
      // Its user ends it: that is as it should be.
      if (job.outcome == JobOutcome::cancelled) continue;
      result.not_completed.emplace_back(fmt::to_string(job.id.value), follower.reason(i));
      continue;
    }
    if (job.tasks_started > 0) {
      migrations.add(static_cast<double>(job.starts - job.tasks_started) /
                     static_cast<double>(job.tasks_started));
    }
    if (job.sampled) throughput.add(job.mean_throughput, static_cast<double>(job.tasks));
    if (job.outcome != JobOutcome::completed) {
      result.not_completed.emplace_back(fmt::to_string(job.id.value), follower.reason(i));
      continue;
    }
    result.jct_h.push_back(to_hours(job.jct));
    if (options.alone) slowdowns.push_back(slowdown_of(job, options));
    idle_h.add(to_hours(job.jct - job.executing));
  }
  // Accepted jobs; a replay knows of more and sets its own number.
  result.jobs_submitted = jobs.size() - services;
  result.jobs_completed = result.jct_h.size();
  result.mean_idle_h = idle_h.value();
  result.mean_normalized_throughput = throughput.value();
  result.migrations_per_task = migrations.value();
  measure_jcts(result);
  if (slowdowns.empty()) return;
  std::sort(slowdowns.begin(), slowdowns.end());
  result.p50_slowdown = nearest_rank(slowdowns, 50);
  result.p95_slowdown = nearest_rank(slowdowns, 95);
}

}  // namespace

struct Measure::State {
  State(const Catalog& catalog, const MeasureOptions& how)
      : options(how), levels(catalog, how), unused(catalog) {}

  MeasureOptions options;
  measuring::LevelReader levels;
  UnusedGpus unused;
  JobFollower jobs;
  NoteCount notes;
  std::uint64_t events = 0;
  std::uint64_t interruptions = 0;
};

Measure::Measure(const Catalog& catalog, const MeasureOptions& options)
    : state_(std::make_unique<State>(catalog, options)) {
  MUSTER_CHECK(options.sample_every > Duration::zero(), "samples are some time apart");
}
Measure::~Measure() = default;

void Measure::see(const Event& event) {
  ++state_->events;
  state_->levels.apply(event);
  state_->unused.apply(event);
  state_->jobs.apply(event);
  state_->notes.see(event);
  const auto* release = std::get_if<ReleaseDecided>(&event.body);
  state_->interruptions += release != nullptr && release->cause.code == CauseCode::interrupted;
}

RunResult Measure::finish() {
  RunResult result;
  result.events = state_->events;
  if (result.events == 0) return result;
  const MeasureOptions& options = state_->options;
  state_->levels.finish(result);
  result.gpu_h_unused = state_->unused.finish();
  measure_jobs(state_->jobs, options, result);
  result.tariff_usd = options.tariff_usd;
  if (options.is_long) {
    result.short_jobs = measure_class(state_->jobs, options, std::not_fn(options.is_long));
    result.long_jobs = measure_class(state_->jobs, options, options.is_long);
  }
  result.interruptions = state_->interruptions;
  result.rounds = state_->notes.rounds();
  result.notes = state_->notes.finish();
  return result;
}

RunResult measure(std::span<const Event> events, const Catalog& catalog,
                  const MeasureOptions& options) {
  Measure measure(catalog, options);
  for (const Event& event : events) measure.see(event);
  return measure.finish();
}

double nearest_rank(std::span<const double> ascending, double percent) {
  MUSTER_CHECK(!ascending.empty(), "a percentile of nothing");
  const double rank = std::ceil(percent / 100 * static_cast<double>(ascending.size()));
  // Nearest rank: the smallest value with at least `percent` of all at or below it. The bounds
  // are for 0 % and for a product that rounds above the size.
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return ascending[std::min(index, ascending.size() - 1)];
}

}  // namespace muster::metrics
