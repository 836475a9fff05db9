#include <fmt/format.h>

#include <limits>

#include "replay/workload/demands_text.hpp"
#include "replay/workload/formats.hpp"
#include "replay/workload/muster_csv_columns.hpp"

namespace muster::replay {
namespace {

constexpr NumberRange kPriority{.low = std::numeric_limits<std::int32_t>::min(),
                                .high = std::numeric_limits<std::int32_t>::max(),
                                .whole = true};

JobId read_id(CsvReader& row) {
  const std::optional<std::uint64_t> number = parse_whole(row.text("id"));
  if (number && JobId{*number}.valid()) return JobId{*number};
  row.complain("id", fmt::format("has to be a whole number of at least 0; it is '{}'",
                                 brief(row.text("id"))));
  return {};
}

/// The column's value, or else the default.
bool read_flag(CsvReader& row, std::string_view column, bool otherwise) {
  const std::string& text = row.text(column);
  if (text == "true") return true;
  if (text == "false") return false;
  if (!text.empty()) {
    row.complain(column, fmt::format("has to be true or false; it is '{}'", brief(text)));
  }
  return otherwise;
}

/// `distinct_instances` says 1.
std::uint32_t read_most_an_instance(CsvReader& row) {
  const bool is_one = read_flag(row, "distinct_instances", false);
  const auto most = static_cast<std::uint32_t>(row.number_or("most_an_instance", kTasks, 0));
  if (is_one && most > 1) {
    row.complain("most_an_instance",
                 fmt::format("is {} here, and distinct_instances says 1: say it once", most));
  }
  return is_one ? 1 : most;
}

/// The work: iterations at a pace or, without them, one for each second of the duration.
void read_work(CsvReader& row, JobTruth& truth) {
  const bool counted = row.has("iterations");
  if (row.has("duration_s") || !counted) {
    truth.iterations = row.number("duration_s", {.low = 0, .high = to_seconds(kLongest)});
  }
  if (counted) truth.iterations = row.number("iterations", kIterations);
  if (!counted && row.has("iterations_per_s")) {
    row.complain("iterations_per_s", "has a meaning only together with iterations");
  }
  truth.iterations_per_s = row.number_or("iterations_per_s", kPositive, 1);
}

/// The work of each task, where they differ.
void read_task_work(CsvReader& row, JobDraft& draft) {
  if (!row.has("task_iterations")) return;
  std::vector<double>& work = draft.job.truth.task_iterations;
  for (const std::string_view part : split(row.text("task_iterations"), ';')) {
    const std::optional<double> iterations = parse_number(part);
    if (!iterations || !kIterations.contains(*iterations)) {
      row.complain(
          "task_iterations",
          fmt::format("has to be numbers with semicolons between them, each {}; '{}' is not",
                      describe(kIterations), brief(part)));
      return;
    }
    work.push_back(*iterations);
  }
  if (draft.job.job.gang) {
    row.complain("task_iterations", "has a meaning only for jobs whose gang is false");
  }
  if (work.size() != draft.tasks) {
    row.complain("task_iterations", fmt::format("has to have one number for each of {} tasks; it "
                                                "has {}",
                                                draft.tasks, work.size()));
  }
}

JobDraft read_job(TraceReading& reading, CsvReader& row) {
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.job.id = read_id(row);
  if (to.job.id.valid()) reading.id(to.job.id.value);
  const Moment submit = row.moment("submit_s");
  to.submit = Instant{submit.at};
  if (submit.calendar) reading.dated();
  to.job.user = row.text("user");
  to.job.name = row.text("name");
  to.job.workload_class = row.needed_text("class");
  to.truth.interference =
      row.has("interference") ? row.text("interference") : interference_name(to.job.workload_class);
  const bool is_service = row.has("lasts_s");
  if (!is_service) read_work(row, to.truth);
  to.job.priority = static_cast<int>(row.number_or("priority", kPriority, 0));
  to.job.gang = read_flag(row, "gang", !is_service);
  to.job.most_an_instance = read_most_an_instance(row);
  if (row.has("runtime_hint_s")) to.job.runtime_hint = row.seconds("runtime_hint_s", kLongest);
  TaskSpec& task = to.job.tasks.emplace_back();
  task.demands = read_demands(row);
  read_steps(row, task.delays, task.image);
  draft.tasks = static_cast<std::size_t>(row.number("tasks", kTasks));
  read_service(row, draft);
  if (!is_service) read_task_work(row, draft);
  return draft;
}

}  // namespace

void read_steps(CsvReader& row, Delays& delays, std::string& image) {
  image = row.text("image");
  delays.fetch = row.seconds("fetch_s", kLongest);
  delays.build = row.seconds("build_s", kLongest);
  delays.init = row.seconds("init_s", kLongest);
  delays.stop = row.seconds("stop_s", kLongest);
  delays.upload = row.seconds("upload_s", kLongest);
}

Demands read_demands(CsvReader& row) {
  std::vector<FamilyDemand> entries;
  if (row.has("families")) {
    auto parsed = parse_demands(row.text("families"));
    if (!parsed) {
      row.complain("families", fmt::format("has to be {}; it is '{}'", kWantedDemands,
                                           brief(row.text("families"))));
      return {};
    }
    entries = std::move(*parsed);
  }
  const bool any_stated = row.has("gpu") || row.has("cpu") || row.has("memory_gib") ||
                          row.has("storage_gib") || row.has("network_gbit_s");
  if (!entries.empty()) {
    if (any_stated) {
      row.complain("families",
                   "stands in the place of gpu, cpu, memory_gib, storage_gib and network_gbit_s, "
                   "which have to be empty; write 'any:...' for all other families");
    }
    return Demands(std::move(entries));
  }
  Resources any = Resources::of(row.number("gpu", kAmount), row.number("cpu", kAmount),
                                row.number("memory_gib", kAmount));
  any[Resource::storage] = row.number_or("storage_gib", kAmount, 0);
  any[Resource::network] = row.number_or("network_gbit_s", kAmount, 0);
  return Demands({FamilyDemand{"", any}});
}

namespace {

/// Muster's own format (config/workloads/README.md describes the columns).
TraceResult read_muster_csv(TraceReading& reading) {
  const std::filesystem::path& file = reading.config().path;
  auto stream = CsvStream::open(file);
  if (!stream) return as_workload_error(stream.error());
  CsvReader reader(stream.value(), kMusterColumns, reading.errors());
  for (;;) {
    const auto row = stream->next();
    if (!row) return as_workload_error(row.error());
    if (row.value() == nullptr) break;
    reading.begin_row(row.value()->line);
    std::optional<JobDraft> draft;
    if (reader.select(*row.value())) draft = read_job(reading, reader);
    reading.end_row(std::move(draft));
  }
  return reading.finish({.description = fmt::format("workload {}", file.filename().string()),
                         .from_first = false,
                         .id_field = "id",
                         .id_of = "id of the job"});
}

}  // namespace

WorkloadFormat muster_csv_format() {
  return trace("muster-csv", read_muster_csv);
}

}  // namespace muster::replay
