#include "replay/metrics/metric_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "replay/metrics/gpu_metrics.hpp"
#include "replay/metrics/service_metrics.hpp"

// The table of all metrics: key, unit, way in which they are good, and how they are shown. Reports,
// comparisons and the documentation are all made from it, so that a metric is added in one place.

namespace muster::metrics {
namespace {

using Run = const RunResult&;
using Value = std::optional<double>;

Value count(std::uint64_t n) {
  return static_cast<double>(n);
}

/// A metric relative to the baseline's.
Metric ratio_of(const Metric& base, std::string key, std::optional<Column> column = {}) {
  return {.key = std::move(key),
          .unit = "of 1",
          .better = base.better,
          .how = "`" + base.key + "` over that of the first policy with the same seed",
          // Computed after all runs, when that of the first policy with the same seed is known.
          .of = [of = base.key](Run r) -> Value {
            const auto found = r.normalized.find(of);
            return found == r.normalized.end() ? Value{} : found->second;
          },
          .column = std::move(column),
          .relative_to = base.key,
          .has_group = base.has_group};
}

void add_jobs_and_cost(std::vector<Metric>& table) {
  table.push_back({.key = "jobs_submitted",
                   .unit = "jobs",
                   .how = "jobs that were submitted, accepted or not",
                   .of = [](Run r) { return count(r.jobs_submitted); },
                   .whole = true});
  table.push_back(
      {.key = "jobs_completed",
       .unit = "jobs",
       .better = Better::higher,
       .how = "jobs all of whose tasks finished",
       .of = [](Run r) { return count(r.jobs_completed); },
       .column = Column{"jobs", "done", Place::cost, 0, 1, Shown::always, "jobs_submitted"},
       .whole = true});
  table.push_back({.key = "total_cost_usd",
                   .unit = "$",
                   .better = Better::lower,
                   .how = "bill of the cloud, which equals the sum of the ledger",
                   .of = [](Run r) { return Value(r.total_cost_usd); },
                   .column = Column{"cost", "$", Place::cost}});
  table.push_back(
      ratio_of(table.back(), "normalized_cost", Column{"of first", "%", Place::cost, 1, 100}));
}

void add_tariff(std::vector<Metric>& table) {
  table.push_back({.key = "tariff_usd",
                   .unit = "$",
                   .how = "cost of the tasks if each were billed alone for its request while it "
                          "runs (`tariff.*`); null without a tariff",
                   .of = [](Run r) { return r.tariff_usd; }});
}

void add_bound(std::vector<Metric>& table) {
  const auto asked_for = [](Run r) { return r.bound_usd.has_value(); };
  table.push_back(
      {.key = "bound.usd",
       .unit = "$",
       .how = "lower bound of the cost of any policy (`muster bound`); null without `--bound`",
       .of = [](Run r) { return r.bound_usd; },
       .has_group = asked_for});
  table.push_back({.key = "bound.above",
                   .unit = "of 1",
                   .better = Better::lower,
                   .how = "`total_cost_usd` over `bound.usd`, less 1; null where a job did not "
                          "complete, as the bound is of the work of all",
                   .of = [](Run r) -> Value {
                     const bool whole = r.jobs_completed == r.jobs_submitted;
                     if (!whole || !r.bound_usd || *r.bound_usd <= 0) return {};
                     return r.total_cost_usd / *r.bound_usd - 1;
                   },
                   .column = Column{"above", "bound %", Place::cost, 1, 100},
                   .has_group = asked_for});
  table.push_back({.key = "bound.rented_above",
                   .unit = "of 1",
                   .better = Better::lower,
                   .how = "mean over time of what the billed instances cost, over that of the "
                          "least that instances for the tasks that hold resources would cost at "
                          "the same moments (up to 1,000 of them), less 1",
                   .of = [](Run r) { return r.rented_above; },
                   .column = Column{"rented", "bound %", Place::cost, 1, 100},
                   .has_group = asked_for});
}

void add_jct(std::vector<Metric>& table) {
  const auto jct = [&](std::string name, const char* head, Value RunResult::*of) {
    table.push_back({.key = name + "_jct_h",
                     .unit = "h",
                     .better = Better::lower,
                     .how = name == "mean"
                                ? "mean JCT: from the acceptance to the end of a completed job"
                                : "JCT at rank ceil(" + name.substr(1) + "/100 n) of n ascending",
                     .of = [of](Run r) { return r.*of; },
                     .column = Column{head, "h", Place::jct}});
  };
  jct("mean", "JCT mean", &RunResult::mean_jct_h);
  const Metric mean = table.back();
  jct("p50", "p50", &RunResult::p50_jct_h);
  jct("p95", "p95", &RunResult::p95_jct_h);
  jct("p99", "p99", &RunResult::p99_jct_h);
  const auto slowdown = [&](std::string name, Value RunResult::*of) {
    table.push_back({.key = name + "_slowdown",
                     .unit = "of 1",
                     .better = Better::lower,
                     .how = "JCT of a completed job over its longest task alone, at rank ceil(" +
                            name.substr(1) + "/100 n) of n ascending",
                     .of = [of](Run r) { return r.*of; }});
  };
  slowdown("p50", &RunResult::p50_slowdown);
  slowdown("p95", &RunResult::p95_slowdown);
  table.push_back(ratio_of(mean, "normalized_jct",
                           Column{"JCT", "of first", Place::relative, 3, 1, Shown::with_classes}));
}

/// Where the columns of a class of jobs stand.
struct JobClass {
  std::string name;
  std::optional<ClassFigures> RunResult::*of;
  Place jobs, mean;

  Metric metric(const std::string& key, Value (*value)(const ClassFigures&)) const {
    return {.key = name + "_jobs." + key,
            .of = [of = of, value](Run r) { return r.*of ? value(*(r.*of)) : Value{}; },
            .has_group = [of = of](Run r) { return (r.*of).has_value(); }};
  }
};

void add_class_counts(std::vector<Metric>& table, const JobClass& jobs) {
  Metric submitted =
      jobs.metric("jobs_submitted", [](const ClassFigures& c) { return count(c.submitted); });
  submitted.unit = "jobs";
  submitted.how = jobs.name + " jobs that were accepted";
  submitted.whole = true;
  table.push_back(std::move(submitted));
  Metric completed =
      jobs.metric("jobs_completed", [](const ClassFigures& c) { return count(c.completed); });
  completed.unit = "jobs";
  completed.better = Better::higher;
  completed.how = jobs.name + " jobs all of whose tasks finished";
  completed.whole = true;
  completed.column = Column{jobs.name, "done", jobs.jobs, 0, 1, Shown::with_classes};
  table.push_back(std::move(completed));
}

void add_class(std::vector<Metric>& table, const JobClass& jobs) {
  add_class_counts(table, jobs);
  const auto jct = [&](const std::string& name, Value (*value)(const ClassFigures&)) {
    Metric metric = jobs.metric(name + "_jct_s", value);
    const bool mean = name == "mean";
    metric.unit = "s";
    metric.better = Better::lower;
    metric.how = mean ? "mean JCT of the " + jobs.name + " jobs that completed"
                      : "their JCT at rank ceil(" + name.substr(1) + "/100 n) of n ascending";
    metric.column = Column{name, "s", mean ? jobs.mean : jobs.jobs, 2, 1, Shown::with_classes};
    table.push_back(std::move(metric));
  };
  jct("mean", [](const ClassFigures& c) { return c.mean_jct_s; });
  const Metric mean = table.back();
  jct("p50", [](const ClassFigures& c) { return c.p50_jct_s; });
  jct("p90", [](const ClassFigures& c) { return c.p90_jct_s; });
  jct("p99", [](const ClassFigures& c) { return c.p99_jct_s; });
  Metric slo = jobs.metric("slo_met", [](const ClassFigures& c) { return c.slo_met; });
  slo.unit = "of 1";
  slo.better = Better::higher;
  slo.how = "share of the accepted " + jobs.name + " jobs that completed in the time allowed";
  slo.column = Column{jobs.name, "% in time", jobs.mean, 1, 100, Shown::with_classes};
  table.push_back(std::move(slo));
  table.push_back(ratio_of(mean, jobs.name + "_jobs.normalized_jct"));
}

void add_throughput(std::vector<Metric>& table) {
  table.push_back(
      {.key = "makespan_s",
       .unit = "s",
       .better = Better::lower,
       .how = "from the first acceptance to the last completion",
       .of = [](Run r) { return r.makespan_s; },
       .column = Column{"makespan", "h", Place::makespan, 2, 1.0 / 3600, Shown::with_classes}});
  table.push_back({.key = "throughput_jobs_h",
                   .unit = "jobs/h",
                   .better = Better::higher,
                   .how = "completed jobs over the makespan",
                   .of = [](Run r) { return r.throughput_jobs_h; },
                   .column = Column{"jobs", "/h", Place::relative, 2, 1, Shown::with_classes}});
  table.push_back(
      ratio_of(table.back(), "normalized_throughput",
               Column{"jobs/h", "of first", Place::relative, 3, 1, Shown::with_classes}));
}

void add_utilization(std::vector<Metric>& table) {
  constexpr std::array<const char*, kResourceKinds> kHeads = {"gpu",  "cpu", "mem",
                                                              "disk", "net", ""};
  for (std::size_t i = 0; i < kResourceKinds; ++i) {
    Metric metric{.key = "utilization." + std::string(name_of(kAllResources[i])),
                  .unit = "of 1",
                  .better = Better::higher,
                  .how =
                      "resources held by tasks x time / resources of serving instances x time, "
                      "over the makespan",
                  .of = [i](Run r) { return r.utilization[i]; }};
    if (kHeads[i][0] != '\0') {
      metric.column = Column{kHeads[i], "% used", Place::utilization, 1, 100, Shown::with_classes};
    }
    table.push_back(std::move(metric));
  }
}

void add_levels(std::vector<Metric>& table) {
  table.push_back({.key = "mean_idle_h",
                   .unit = "h",
                   .better = Better::lower,
                   .how = "mean over the completed jobs of the JCT less the time in which all "
                          "unfinished tasks of the job run",
                   .of = [](Run r) { return r.mean_idle_h; },
                   .column = Column{"idle", "h", Place::levels}});
  table.push_back({.key = "mean_normalized_throughput",
                   .unit = "of 1",
                   .better = Better::higher,
                   .how = "pace relative to running alone, mean over the tasks of all ended jobs "
                          "with a sample",
                   .of = [](Run r) { return r.mean_normalized_throughput; },
                   .column = Column{"tput", "of 1", Place::levels}});
  table.push_back({.key = "tasks_per_instance",
                   .unit = "tasks",
                   .how = "tasks that hold resources / instances that are up and not being ended, "
                          "mean over the times with an instance",
                   .of = [](Run r) { return r.tasks_per_instance; },
                   .column = Column{"tasks", "/inst.", Place::levels}});
  const auto allocation = [&](std::string kind, const char* head, Value RunResult::*of) {
    table.push_back({.key = "allocation." + kind,
                     .unit = "of 1",
                     .better = Better::higher,
                     .how = "resources held by these tasks / resources of these instances, mean "
                            "over the times with an instance",
                     .of = [of](Run r) { return r.*of; },
                     .column = Column{head, "%", Place::levels, 1, 100}});
  };
  allocation("gpu", "gpu", &RunResult::allocation_gpu);
  allocation("cpu", "cpu", &RunResult::allocation_cpu);
  allocation("memory", "mem", &RunResult::allocation_memory);
}

void add_fleet(std::vector<Metric>& table) {
  table.push_back({.key = "instances_launched",
                   .unit = "instances",
                   .how = "instances that came up",
                   .of = [](Run r) { return count(r.instances_launched); },
                   .column = Column{"launched", "inst.", Place::fleet, 0},
                   .whole = true});
  table.push_back(
      {.key = "interruptions",
       .unit = "instances",
       .better = Better::lower,
       .how = "spot instances that the cloud took back",
       .of = [](Run r) { return count(r.interruptions); },
       .column = Column{"interr.", "inst.", Place::fleet, 0, 1, Shown::with_interruptions},
       .whole = true});
  table.push_back({.key = "lost_work_h",
                   .unit = "h",
                   .better = Better::lower,
                   .how = "run by tasks and not kept when they were stopped or lost",
                   .of = [](Run r) { return Value(r.lost_work_h); },
                   .column = Column{"lost", "h", Place::fleet, 2, 1, Shown::with_interruptions}});
  table.push_back({.key = "migrations_per_task",
                   .unit = "migrations",
                   .better = Better::lower,
                   .how = "starts of a task less one, mean over the tasks of a job that started, "
                          "then over the jobs",
                   .of = [](Run r) { return r.migrations_per_task; },
                   .column = Column{"migr.", "/task", Place::fleet}});
}

void add_rounds(std::vector<Metric>& table) {
  table.push_back({.key = "full_reconfiguration_share",
                   .unit = "of 1",
                   .how = "rounds whose note says `full` over those that say `full` or `partial`; "
                          "a quiet round repeats the note of the round before",
                   .of = [](Run r) { return r.notes.share_of("full", "partial"); },
                   .column = Column{"full", "%", Place::rounds, 1, 100}});
  table.push_back({.key = "rounds",
                   .unit = "rounds",
                   .how = "rounds in which the policy was asked, of all masters",
                   .of = [](Run r) { return count(r.rounds); },
                   .column = Column{"rounds", "", Place::rounds, 0},
                   .whole = true});
  table.push_back({.key = "decision_ms_mean",
                   .unit = "ms",
                   .better = Better::lower,
                   .how = "real time that a decision of the policy took, mean over the rounds",
                   .of = [](Run r) { return r.decision_ms_mean; },
                   .column = Column{"decision", "ms", Place::rounds, 3},
                   .timed = true});
  table.push_back({.key = "decision_ms_p99",
                   .unit = "ms",
                   .better = Better::lower,
                   .how = "real time of a decision at rank ceil(99/100 n) of n, ascending",
                   .of = [](Run r) { return r.decision_ms_p99; },
                   .column = Column{"decision", "p99 ms", Place::rounds, 3},
                   .timed = true});
  table.push_back({.key = "wall_s",
                   .unit = "s",
                   .better = Better::lower,
                   .how = "real time that the run took",
                   .of = [](Run r) { return Value(r.wall_s); },
                   .column = Column{"wall", "s", Place::rounds, 1},
                   .timed = true});
  table.push_back({.key = "events",
                   .unit = "events",
                   .how = "events in the log",
                   .of = [](Run r) { return count(r.events); },
                   .whole = true});
}

std::vector<Metric> all_metrics() {
  std::vector<Metric> table;
  add_jobs_and_cost(table);
  add_tariff(table);
  add_bound(table);
  add_jct(table);
  add_class(table, {"short", &RunResult::short_jobs, Place::short_jobs, Place::short_mean});
  add_class(table, {"long", &RunResult::long_jobs, Place::long_jobs, Place::long_mean});
  add_throughput(table);
  add_utilization(table);
  add_unused_gpus(table);
  add_levels(table);
  add_gpus(table);
  add_fleet(table);
  add_services(table);
  add_rounds(table);
  return table;
}

std::string fault_of(const Metric& metric, std::span<const Metric> table) {
  if (metric.unit.empty()) return "has no unit";
  if (metric.how.empty()) return "does not say how it is computed";
  if (!metric.of) return "is not computed";
  if (metric.column && !metric.column->out_of.empty() &&
      find_metric(table, metric.column->out_of) == nullptr) {
    return "is shown out of " + metric.column->out_of + ", which there is not";
  }
  if (metric.relative_to.empty()) return {};
  const Metric* base = find_metric(table, metric.relative_to);
  if (base == nullptr) return "is relative to " + metric.relative_to + ", which there is not";
  if (!base->relative_to.empty()) return "is relative to a ratio, " + base->key;
  // A ratio to it could be read neither as better nor as worse.
  if (base->better == Better::neither) {
    return "is relative to " + base->key + ", which is good neither way";
  }
  if (base->better != metric.better) return "is not good the way that " + base->key + " is";
  return {};
}

std::string group_of(const Metric& metric) {
  const std::size_t dot = metric.key.find('.');
  return dot == std::string::npos ? metric.key : metric.key.substr(0, dot);
}

}  // namespace

const std::vector<Metric>& metric_table() {
  static const std::vector<Metric> kTable = all_metrics();
  return kTable;
}

const Metric* find_metric(std::span<const Metric> table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Metric& metric) { return metric.key == key; });
  return found == table.end() ? nullptr : &*found;
}

std::string fault_of(std::span<const Metric> table) {
  std::set<std::string> keys, groups;
  std::string last_group;
  for (const Metric& metric : table) {
    if (!keys.insert(metric.key).second) return metric.key + " stands there twice";
    const std::string group = group_of(metric);
    // JSON writes the members of a group into one object; apart from each other they would still
    // fall together there, but not in the documentation.
    if (group != last_group && !groups.insert(group).second) {
      return metric.key + " does not stand with the others of its group";
    }
    last_group = group;
    if (const std::string fault = fault_of(metric, table); !fault.empty()) {
      return metric.key + " " + fault;
    }
  }
  return {};
}

std::vector<Metric> note_metrics(std::span<const RunResult> runs) {
  std::vector<Metric> found;
  std::set<std::string> known;
  for (const RunResult& run : runs) {
    for (const NoteFigure& figure : run.notes.figures) {
      const auto shown = unit_in(figure.name);
      // A figure without a unit in its name is in the JSON report only.
      if (!shown || !known.insert(figure.name).second) continue;
      found.push_back({.key = figure.name,
                       .unit = shown->unit,
                       .how = "mean over the rounds with this figure in their note",
                       .of =
                           [name = figure.name](Run r) {
                             const NoteFigure* of_run = r.notes.find(name);
                             return of_run == nullptr ? Value{} : of_run->mean;
                           },
                       .column = Column{shown->name, shown->unit, Place::notes, shown->decimals,
                                        shown->factor}});
    }
  }
  return found;
}

bool is_shown(const Column& column, std::span<const RunResult> runs) {
  switch (column.shown) {
    case Shown::always:
      return true;
    case Shown::with_classes:
      return std::any_of(runs.begin(), runs.end(), [](Run run) { return run.short_jobs; });
    case Shown::with_interruptions:
      return std::any_of(runs.begin(), runs.end(), [](Run run) { return run.interruptions > 0; });
    case Shown::with_services:
      return std::any_of(runs.begin(), runs.end(), [](Run run) { return run.services; });
  }
  return false;
}

void normalize(std::span<RunResult> runs) {
  normalize(runs, metric_table());
}

void normalize(std::span<RunResult> runs, std::span<const Metric> table) {
  std::unordered_map<std::uint64_t, const RunResult*> baselines;
  for (RunResult& run : runs) {
    // The first run of a seed is that of the first policy, and its own baseline: its ratios are 1.
    const RunResult& first = *baselines.emplace(run.seed, &run).first->second;
    for (const Metric& metric : table) {
      const Metric* base = find_metric(table, metric.relative_to);
      if (base == nullptr || base->better == Better::neither) continue;
      const Value value = base->of(run);
      const Value baseline = base->of(first);
      // A ratio to nothing is left out, not infinite: reports show "-".
      if (value && baseline && *baseline > 0) run.normalized[base->key] = *value / *baseline;
    }
  }
}

}  // namespace muster::metrics
