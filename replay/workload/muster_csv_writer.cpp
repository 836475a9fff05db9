#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "replay/workload/demands_text.hpp"
#include "replay/workload/muster_csv_columns.hpp"
#include "replay/workload/readers.hpp"

// Writes rows that the reader in muster_csv.cpp reads back as an equal workload: numbers with all
// their digits, and nothing where the reader's default is equal.

namespace muster::replay {
namespace {

constexpr std::string_view kDistinct = "distinct_instances";
constexpr std::string_view kMost = "most_an_instance";
constexpr std::string_view kLasts = "lasts_s";

/// A row under construction: fields by column name.
class Row {
 public:
  void set(std::string_view column, std::string_view text) {
    const auto found = std::find_if(kMusterColumns.begin(), kMusterColumns.end(),
                                    [&](const CsvColumn& known) { return known.name == column; });
    MUSTER_CHECK(found != kMusterColumns.end(), "only columns of the format are written");
    fields_[static_cast<std::size_t>(found - kMusterColumns.begin())] = csv_field(text);
  }
  void set(std::string_view column, double number) { set(column, number_text(number)); }
  void set(std::string_view column, Duration time) { set(column, seconds_text(time)); }
  /// Leaves the field empty when the reader takes zero for that anyway.
  template <class Amount>
  void set_unless_zero(std::string_view column, Amount amount) {
    if (amount != Amount{}) set(column, amount);
  }
  /// The fields of the columns from one on and before another.
  std::string text(std::size_t from, std::size_t to) const {
    return fmt::format("{}", fmt::join(fields_.begin() + static_cast<std::ptrdiff_t>(from),
                                       fields_.begin() + static_cast<std::ptrdiff_t>(to), ","));
  }

 private:
  std::array<std::string, kMusterColumns.size()> fields_;
};

void write_work(const JobTruth& truth, Row& row) {
  std::string each;
  for (const double iterations : truth.task_iterations) {
    if (!each.empty()) each += ';';
    each += number_text(iterations);
  }
  row.set("task_iterations", each);
  // At one iteration a second the duration is the work, and says it in a way that is read at a
  // glance.
  if (truth.iterations_per_s == 1 && truth.iterations <= to_seconds(kLongest)) {
    row.set("duration_s", truth.iterations);
    return;
  }
  // For the reader's eye only; the iterations count.
  constexpr double kRounding = 1000;
  const double duration_s = truth.iterations / truth.iterations_per_s;
  if (duration_s <= to_seconds(kLongest)) {
    row.set("duration_s", std::round(duration_s * kRounding) / kRounding);
  }
  row.set("iterations", truth.iterations);
  row.set("iterations_per_s", truth.iterations_per_s);
}

void write_demands(const Demands& demands, Row& row) {
  const std::vector<FamilyDemand>& entries = demands.entries();
  const bool in_columns = entries.size() == 1 && entries[0].family.empty() &&
                          entries[0].speed == 1 && entries[0].amount[Resource::spare] == 0;
  if (in_columns) {
    const Resources& any = entries[0].amount;
    row.set("gpu", any[Resource::gpu]);
    row.set("cpu", any[Resource::cpu]);
    row.set("memory_gib", any[Resource::memory]);
    row.set_unless_zero("storage_gib", any[Resource::storage]);
    row.set_unless_zero("network_gbit_s", any[Resource::network]);
    return;
  }
  row.set("families", demands_text(entries));
}

void write_task(const TaskSpec& task, Row& row) {
  write_demands(task.demands, row);
  row.set("image", task.image);
  row.set_unless_zero("fetch_s", task.delays.fetch);
  row.set_unless_zero("build_s", task.delays.build);
  row.set_unless_zero("init_s", task.delays.init);
  row.set_unless_zero("stop_s", task.delays.stop);
  row.set_unless_zero("upload_s", task.delays.upload);
}

void write_service(const JobTruth& truth, Row& row) {
  row.set(kLasts, lifetime_of(truth));
  const ServiceTruth& service = *truth.service;
  if (service.performance) row.set("performance", service.performance->text());
  row.set_unless_zero("goal", service.goal);
  std::string day;
  for (const double load : service.day) {
    if (!day.empty()) day += ';';
    day += number_text(load);
  }
  row.set("day_load", day);
}

constexpr std::size_t place_of(std::string_view column) {
  std::size_t place = 0;
  while (kMusterColumns[place].name != column) ++place;
  return place;
}
constexpr std::size_t kDistinctPlace = place_of(kDistinct);
constexpr std::size_t kMostPlace = place_of(kMost);
static_assert(kMostPlace == kDistinctPlace + 1);
constexpr std::size_t kServicePlace = place_of(kLasts);
/// id and submit_s stand before all others.
constexpr std::size_t kMiddle = 2;
static_assert(kMusterColumns[0].name == "id" && kMusterColumns[1].name == "submit_s");

void check_alike(const std::vector<TaskSpec>& tasks) {
  MUSTER_CHECK(!tasks.empty(), "a job without tasks cannot be written");
  const bool alike = std::all_of(tasks.begin(), tasks.end(), [&](const TaskSpec& task) {
    return task.demands == tasks[0].demands && task.image == tasks[0].image &&
           task.delays == tasks[0].delays;
  });
  MUSTER_CHECK(alike, "one row describes all tasks of a job, so they have to be alike");
}

}  // namespace

std::string MusterRow::line(Duration begin, const WantedColumns& wanted) const {
  std::string text = id;
  text += ',';
  text += seconds_text(submit.time_since_epoch() - begin);
  text += ',';
  text += middle;
  if (wanted.distinct_instances) text += most_an_instance == 1 ? ",true" : ",";
  if (wanted.most_an_instance) {
    text += most_an_instance > 1 ? fmt::format(",{}", most_an_instance) : ",";
  }
  text += ',';
  text += rest;
  if (wanted.services) {
    text += ',';
    text += service.empty() ? std::string(kMusterColumns.size() - kServicePlace - 1, ',') : service;
  }
  return text + '\n';
}

MusterRow muster_row(const WorkloadJob& job, std::size_t tasks) {
  check_alike(job.job.tasks);
  Row row;
  row.set("user", job.job.user);
  row.set("name", job.job.name);
  row.set("tasks", fmt::format("{}", tasks));
  row.set("class", job.job.workload_class);
  row.set("interference", job.truth.interference);
  if (!job.truth.service) write_work(job.truth, row);
  row.set_unless_zero("priority", static_cast<double>(job.job.priority));
  if (!job.job.gang && !job.truth.service) row.set("gang", "false");
  if (job.job.runtime_hint) row.set("runtime_hint_s", *job.job.runtime_hint);
  write_task(job.job.tasks[0], row);
  std::string service;
  if (job.truth.service) {
    write_service(job.truth, row);
    service = row.text(kServicePlace, kMusterColumns.size());
  }
  return {fmt::format("{}", job.job.id.value),     job.submit,
          row.text(kMiddle, kDistinctPlace),       job.job.most_an_instance,
          row.text(kMostPlace + 1, kServicePlace), std::move(service)};
}

std::string muster_header(const WantedColumns& wanted) {
  std::vector<std::string_view> names;
  for (std::size_t place = 0; place < kMusterColumns.size(); ++place) {
    const bool left_out = (place >= kServicePlace && !wanted.services) ||
                          (place == kDistinctPlace && !wanted.distinct_instances) ||
                          (place == kMostPlace && !wanted.most_an_instance);
    if (!left_out) names.push_back(kMusterColumns[place].name);
  }
  return fmt::format("{}\n", fmt::join(names, ","));
}

void write_workload_csv(const Workload& workload, std::ostream& out) {
  // A column for what few jobs want is there where one does, so that other files stay as they were.
  WantedColumns wanted;
  for (const WorkloadJob& job : workload.jobs) {
    wanted.distinct_instances |= job.job.most_an_instance == 1;
    wanted.most_an_instance |= job.job.most_an_instance > 1;
    wanted.services |= job.truth.service != nullptr;
  }
  out << muster_header(wanted);
  for (const WorkloadJob& job : workload.jobs) {
    out << muster_row(job, job.job.tasks.size()).line(Duration::zero(), wanted);
  }
}

}  // namespace muster::replay
