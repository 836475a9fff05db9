#include <fmt/format.h>

#include <limits>
#include <map>

#include "tools/replay/workload/demands_text.hpp"
#include "tools/replay/workload/muster_csv_columns.hpp"
#include "tools/replay/workload/readers.hpp"

namespace muster::replay {
namespace {

constexpr NumberRange kPriority{.low = std::numeric_limits<std::int32_t>::min(),
                                .high = std::numeric_limits<std::int32_t>::max(),
                                .whole = true};

JobId read_id(CsvReader& row) {
  const std::optional<std::uint64_t> number = parse_whole(row.text("id"));
  if (number && JobId{*number}.valid()) return JobId{*number};
  row.complain("id",
               fmt::format("has to be a whole number of at least 0; it is '{}'", row.text("id")));
  return {};
}

bool read_gang(CsvReader& row) {
  const std::string& text = row.text("gang");
  if (!text.empty() && text != "true" && text != "false") {
    row.complain("gang", fmt::format("has to be true or false; it is '{}'", text));
  }
  return text != "false";
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

WorkloadJob read_job(CsvReader& row) {
  WorkloadJob to;
  to.job.id = read_id(row);
  to.submit = Instant{row.seconds("submit_s", kLongest)};
  if (!row.has("submit_s")) row.needed_text("submit_s");
  to.job.user = row.text("user");
  to.job.name = row.text("name");
  to.job.workload_class = row.needed_text("class");
  to.truth.interference =
      row.has("interference") ? row.text("interference") : interference_name(to.job.workload_class);
  read_work(row, to.truth);
  to.job.priority = static_cast<int>(row.number_or("priority", kPriority, 0));
  to.job.gang = read_gang(row);
  if (row.has("runtime_hint_s")) to.job.runtime_hint = row.seconds("runtime_hint_s", kLongest);
  TaskSpec task;
  task.demands = read_demands(row);
  read_steps(row, task.delays, task.image);
  to.job.tasks.assign(static_cast<std::size_t>(row.number("tasks", kTasks)), task);
  return to;
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
      row.complain("families",
                   fmt::format("has to be {}; it is '{}'", kWantedDemands, row.text("families")));
      return {};
    }
    entries = std::move(*parsed);
  }
  const bool any_stated = row.has("gpu") || row.has("cpu") || row.has("memory_gib") ||
                          row.has("storage_gib") || row.has("network_gbit_s");
  if (!entries.empty() && !any_stated) return Demands(std::move(entries));
  Resources any = Resources::of(row.number("gpu", kAmount), row.number("cpu", kAmount),
                                row.number("memory_gib", kAmount));
  any[Resource::storage] = row.number_or("storage_gib", kAmount, 0);
  any[Resource::network] = row.number_or("network_gbit_s", kAmount, 0);
  for (const FamilyDemand& entry : entries) {
    if (!entry.family.empty()) continue;
    row.complain("families", "'any' has its demands in the columns gpu, cpu, ... already");
  }
  entries.insert(entries.begin(), FamilyDemand{"", any});
  return Demands(std::move(entries));
}

WorkloadResult read_muster_csv(const std::filesystem::path& file) {
  auto table = read_csv(file);
  if (!table) return as_workload_error(table.error());
  ErrorList errors;
  CsvReader reader(table.value(), kMusterColumns, errors);
  Workload workload;
  std::map<JobId, std::uint32_t> lines;
  for (const CsvRow& row : table->rows) {
    if (!reader.select(row)) continue;
    workload.jobs.push_back(read_job(reader));
    const JobId id = workload.jobs.back().job.id;
    const auto [first, is_new] = lines.emplace(id, row.line);
    if (!is_new && id.valid()) {
      reader.complain(
          "id", fmt::format("{} is already the id of the job in line {}", id.value, first->second));
    }
  }
  if (!errors.empty()) return invalid(errors);
  put_in_order(workload);
  workload.description = fmt::format("workload {}", file.filename().string());
  return workload;
}

}  // namespace muster::replay
