#include "tools/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

namespace muster::report {
namespace {

using metrics::ClassFigures;
using metrics::RunResult;

/// A column of figures: how to get one from a run, and how to show it.
struct Figure {
  SummaryColumn column;
  std::function<std::optional<double>(const RunResult&)> of;
  int decimals = 2;
  double factor = 1;
};

std::optional<double> count(std::uint64_t n) {
  return static_cast<double>(n);
}

const std::vector<Figure>& figures() {
  using R = const RunResult&;
  static const std::vector<Figure> kFigures = {
      {{"cost", "$"}, [](R r) { return std::optional(r.total_cost_usd); }},
      {{"of first", "%"}, [](R r) { return r.normalized_cost; }, 1, 100},
      {{"JCT mean", "h"}, [](R r) { return r.mean_jct_h; }},
      {{"p50", "h"}, [](R r) { return r.p50_jct_h; }},
      {{"p95", "h"}, [](R r) { return r.p95_jct_h; }},
      {{"p99", "h"}, [](R r) { return r.p99_jct_h; }},
      {{"idle", "h"}, [](R r) { return r.mean_idle_h; }},
      {{"tput", "of 1"}, [](R r) { return r.mean_normalized_throughput; }},
      {{"tasks", "/inst."}, [](R r) { return r.tasks_per_instance; }},
      {{"gpu", "%"}, [](R r) { return r.allocation_gpu; }, 1, 100},
      {{"cpu", "%"}, [](R r) { return r.allocation_cpu; }, 1, 100},
      {{"mem", "%"}, [](R r) { return r.allocation_memory; }, 1, 100},
      {{"launched", "inst."}, [](R r) { return count(r.instances_launched); }, 0},
      {{"migr.", "/task"}, [](R r) { return r.migrations_per_task; }},
      {{"full", "%"}, [](R r) { return r.full_reconfiguration_share; }, 1, 100},
      {{"rounds", ""}, [](R r) { return count(r.rounds); }, 0},
      {{"decision", "ms"}, [](R r) { return std::optional(r.decision_ms_mean); }, 3},
      {{"p99", "ms"}, [](R r) { return std::optional(r.decision_ms_p99); }, 3},
      {{"wall", "s"}, [](R r) { return std::optional(r.wall_s); }, 1}};
  return kFigures;
}

/// What runs with a cutoff show besides: jobs of each class and how full the fleet was.
const std::vector<Figure>& class_figures() {
  using R = const RunResult&;
  using Class = std::optional<ClassFigures> RunResult::*;
  using Jct = std::optional<double> ClassFigures::*;
  const auto jct = [](const char* name, const char* unit, Class of, Jct figure) {
    return Figure{{name, unit}, [=](R r) { return r.*of ? (*(r.*of)).*figure : std::nullopt; }};
  };
  const auto done = [](const char* name, Class of) {
    return Figure{
        {name, "done"}, [of](R r) { return r.*of ? count((r.*of)->completed) : std::nullopt; }, 0};
  };
  const auto in_time = [](const char* name, Class of) {
    return Figure{
        {name, "% in time"}, [of](R r) { return r.*of ? (r.*of)->slo_met : std::nullopt; }, 1, 100};
  };
  const auto used = [](const char* name, Resource kind) {
    const auto i = static_cast<std::size_t>(kind);
    return Figure{{name, "% used"}, [i](R r) { return r.utilization[i]; }, 1, 100};
  };
  constexpr Class kShort = &RunResult::short_jobs;
  constexpr Class kLong = &RunResult::long_jobs;
  static const std::vector<Figure> kFigures = {
      done("short", kShort),
      jct("p50", "s", kShort, &ClassFigures::p50_jct_s),
      jct("p90", "s", kShort, &ClassFigures::p90_jct_s),
      jct("p99", "s", kShort, &ClassFigures::p99_jct_s),
      jct("mean", "s", kShort, &ClassFigures::mean_jct_s),
      in_time("short", kShort),
      done("long", kLong),
      jct("p50", "s", kLong, &ClassFigures::p50_jct_s),
      jct("p90", "s", kLong, &ClassFigures::p90_jct_s),
      jct("p99", "s", kLong, &ClassFigures::p99_jct_s),
      jct("mean", "s", kLong, &ClassFigures::mean_jct_s),
      in_time("long", kLong),
      {{"JCT", "of first"}, [](R r) { return r.normalized_jct; }, 3},
      {{"jobs", "/h"}, [](R r) { return r.throughput_jobs_h; }},
      {{"jobs/h", "of first"}, [](R r) { return r.normalized_throughput; }, 3},
      used("gpu", Resource::gpu),
      used("cpu", Resource::cpu),
      used("mem", Resource::memory),
      used("disk", Resource::storage),
      used("net", Resource::network),
      {{"makespan", "h"}, [](R r) { return r.makespan_s; }, 2, 1.0 / 3600}};
  return kFigures;
}

/// What runs with interrupted instances show besides.
const std::vector<Figure>& spot_figures() {
  using R = const RunResult&;
  static const std::vector<Figure> kFigures = {
      {{"interr.", "inst."}, [](R r) { return count(r.interruptions); }, 0},
      {{"lost", "h"}, [](R r) { return std::optional(r.lost_work_h); }}};
  return kFigures;
}

std::vector<Figure> figures_for(std::span<const RunResult> runs) {
  std::vector<Figure> all = figures();
  const bool interrupted =
      std::any_of(runs.begin(), runs.end(), [](const RunResult& run) { return run.interruptions; });
  if (interrupted) {
    const auto after_launched = std::find_if(
        all.begin(), all.end(), [](const Figure& figure) { return figure.column.name == "migr."; });
    all.insert(after_launched, spot_figures().begin(), spot_figures().end());
  }
  const bool classes =
      std::any_of(runs.begin(), runs.end(), [](const RunResult& run) { return run.short_jobs; });
  if (!classes) return all;
  const auto after_jct = std::find_if(
      all.begin(), all.end(), [](const Figure& figure) { return figure.column.name == "idle"; });
  all.insert(after_jct, class_figures().begin(), class_figures().end());
  return all;
}

/// With commas between thousands, as amounts of money are read.
std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  std::size_t end = std::min(text.find('.'), text.size());
  while (end > begin + 3) text.insert(end -= 3, 1, ',');
  return text;
}

std::string cell(const Figure& figure, const std::vector<const RunResult*>& runs) {
  std::vector<double> values;
  for (const RunResult* run : runs) {
    if (const auto value = figure.of(*run)) values.push_back(*value * figure.factor);
  }
  if (values.empty()) return "-";
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return grouped(mean, figure.decimals);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return grouped(mean, figure.decimals) + " ± " +
         grouped(std::sqrt(squares / (n - 1)), figure.decimals);
}

std::string jobs_cell(const std::vector<const RunResult*>& runs) {
  std::uint64_t completed = 0;
  std::uint64_t submitted = 0;
  for (const RunResult* run : runs) {
    completed += run->jobs_completed;
    submitted += run->jobs_submitted;
  }
  return fmt::format("{}/{}", completed, submitted);
}

}  // namespace

std::vector<std::vector<const RunResult*>> by_policy(std::span<const RunResult> runs) {
  std::vector<std::vector<const RunResult*>> groups;
  for (const RunResult& run : runs) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->policy == run.policy;
    });
    if (same == groups.end()) {
      groups.push_back({&run});
    } else {
      same->push_back(&run);
    }
  }
  return groups;
}

Summary summarize(std::span<const RunResult> runs) {
  const std::vector<Figure> wanted = figures_for(runs);
  Summary summary{{{"policy", ""}, {"jobs", "done"}}, {}};
  for (const Figure& figure : wanted) summary.columns.push_back(figure.column);
  for (const auto& group : by_policy(runs)) {
    std::vector<std::string>& row = summary.rows.emplace_back();
    row = {group.front()->policy, jobs_cell(group)};
    for (const Figure& figure : wanted) row.push_back(cell(figure, group));
  }
  return summary;
}

}  // namespace muster::report
