#include <fmt/format.h>

#include <array>

#include "replay/workload/demands_text.hpp"
#include "replay/workload/muster_csv_columns.hpp"

// The columns of Muster's workload CSV that make a service of a job: lasts_s, performance, goal and
// day_load.

namespace muster::replay {
namespace {

constexpr NumberRange kLifetime{.low = 0, .high = to_seconds(kLongest), .above_low = true};
constexpr NumberRange kGoal{.low = 0, .high = 1, .above_low = true};
constexpr NumberRange kDayLoad{.low = 0, .high = 100, .above_low = true};
/// Columns that speak of an end of a job's own.
constexpr std::array<std::string_view, 5> kOfAnEnd = {
    "duration_s", "iterations", "iterations_per_s", "task_iterations", "runtime_hint_s"};

void read_performance(CsvReader& row, ServiceTruth& truth) {
  if (!row.has("performance")) return;
  auto performance = parse_performance(row.text("performance"));
  if (!performance) {
    return row.complain("performance", fmt::format("has to be {}; it is '{}'", kWantedPerformance,
                                                   brief(row.text("performance"))));
  }
  truth.performance = std::make_shared<const ServicePerformance>(std::move(*performance));
}

void read_goal(CsvReader& row, ServiceTruth& truth) {
  if (!row.has("goal")) return;
  truth.goal = row.number("goal", kGoal);
  if (!row.has("performance")) {
    row.complain("goal", "has a meaning only together with performance");
  }
}

void read_day(CsvReader& row, ServiceTruth& truth) {
  if (!row.has("day_load")) return;
  const std::vector<std::string_view> hours = split(row.text("day_load"), ';');
  for (const std::string_view hour : hours) {
    const auto load = parse_number(hour);
    if (load && kDayLoad.contains(*load)) truth.day.push_back(*load);
  }
  if (hours.size() != kDayHours || truth.day.size() != kDayHours) {
    row.complain(
        "day_load",
        fmt::format("has to be {} numbers with semicolons between them, one an hour of the "
                    "day, each {}; it is '{}'",
                    kDayHours, describe(kDayLoad), brief(row.text("day_load"))));
  }
  if (truth.performance && !truth.performance->is_measured()) return;
  row.complain("day_load",
               "needs a performance of a kind of services, as a measured one is of one "
               "load");
}

/// Complains of columns that do not go with a service.
void check_service(CsvReader& row, const JobDraft& draft) {
  for (const std::string_view column : kOfAnEnd) {
    if (!row.has(column)) continue;
    row.complain(column,
                 "has to be empty for a service, which runs until its user ends it after "
                 "lasts_s");
  }
  if (draft.job.job.gang) {
    row.complain("gang", "has to be false for a service, whose replicas start one by one");
  }
  if (draft.tasks > kLargestService) {
    row.complain("tasks", fmt::format("has to be at most {} for a service; it is {}",
                                      kLargestService, draft.tasks));
  }
}

}  // namespace

void read_service(CsvReader& row, JobDraft& draft) {
  if (!row.has("lasts_s")) {
    for (const std::string_view column : {"performance", "goal", "day_load"}) {
      if (!row.has(column)) continue;
      row.complain(column, "is of services, which say in lasts_s when their user ends them");
    }
    return;
  }
  JobTruth& job = draft.job.truth;
  job.iterations = row.number("lasts_s", kLifetime);
  ServiceTruth truth;
  read_performance(row, truth);
  read_goal(row, truth);
  read_day(row, truth);
  check_service(row, draft);
  job.service = std::make_shared<const ServiceTruth>(std::move(truth));
  draft.job.job.kind = ServiceSpec{};
}

}  // namespace muster::replay
