#include "replay/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/rounded_text.hpp"
#include "replay/workload/formats.hpp"
#include "replay/workload/readers.hpp"
#include "replay/workload/shape.hpp"
#include "replay/workload/stated.hpp"

// Steps that all formats of workloads share: jobs are read as rows, brought into order, cut to the
// wanted part and numbered. A row holds what differs between jobs and points to a template for the
// rest, so that millions of jobs fit into memory.

namespace muster::replay {
namespace {

/// Reads by the format of that name out of a list.
RawJobsResult read_by(const std::vector<WorkloadFormat>& formats, const std::string& name,
                      const WorkloadConfig& config, std::uint64_t seed) {
  for (const WorkloadFormat& format : formats) {
    if (format.part.name == name) return format.read(config, seed);
  }
  return Failure<WorkloadError>{WorkloadError::invalid,
                                unknown_word("workload format", name, names_of(formats))};
}

/// Brings the jobs into order (equal ones stay as they are) and takes what is wanted of them.
void select(RawJobs& raw_jobs, const WorkloadConfig& config) {
  std::vector<JobRow>& jobs = raw_jobs.jobs;
  leave_out_small(raw_jobs, config.min_tasks);
  // Stable, so that jobs of one instant keep the order of the file in every run.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobRow& a, const JobRow& b) { return a.submit < b.submit; });
  if (config.max_jobs > 0 && jobs.size() > config.max_jobs) {
    jobs.resize(config.max_jobs);
    raw_jobs.description += ", the first " + count_text(config.max_jobs, "job");
  }
  bool cut = false;
  for (JobRow& job : jobs) {
    if (config.max_tasks == 0 || job.tasks <= config.max_tasks) continue;
    job.tasks = config.max_tasks;
    cut = true;
    if (!job.task_iterations) continue;
    const auto begin = job.task_iterations->begin();
    job.task_iterations =
        // A copy: rows may share the vector.
        std::make_shared<const std::vector<double>>(begin, begin + config.max_tasks);
  }
  if (cut) raw_jobs.description += fmt::format(", at most {} tasks of each job", config.max_tasks);
}

Expected<CompactWorkload, WorkloadError> number_tasks(RawJobs raw_jobs,
                                                      const std::filesystem::path& file) {
  if (raw_jobs.jobs.empty()) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("{}: no job is left of it ({})", file.string(), raw_jobs.description)};
  }
  CompactWorkload workload;
  std::uint64_t tasks = 0;
  for (JobRow& job : raw_jobs.jobs) {
    job.first_task = tasks;
    tasks += job.tasks;
  }
  if (tasks > kMostTasks) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("{}: has {} tasks, which is more than {}; take fewer jobs (workload.max_jobs) "
                    "or fewer tasks of each (workload.max_tasks)",
                    file.string(), tasks, kMostTasks)};
  }
  workload.description = std::move(raw_jobs.description);
  workload.not_taken = std::move(raw_jobs.left_out);
  workload.rows = std::move(raw_jobs.jobs);
  return workload;
}

/// All of the template that may differ, so that equal texts are equal templates.
std::string content_of(const JobTemplate& one) {
  const Job& job = one.job;
  const TaskSpec& task = job.tasks.front();
  std::string content;
  const auto add = [&content](const auto& value) {
    // Bytes and not text: doubles count as equal only when all their bits are.
    content.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto add_text = [&](const std::string& text) {
    // Lengths first, so that two texts cannot run into each other and give the bytes of two
    // others.
    add(text.size());
    content += text;
  };
  for (const std::string* text : {&job.user, &job.workload_class, &one.interference, &task.image}) {
    add_text(*text);
  }
  add(job.priority);
  add(job.gang);
  add(job.most_an_instance);
  for (const Duration delay : {task.delays.fetch, task.delays.build, task.delays.init,
                               task.delays.stop, task.delays.upload}) {
    add(delay.count());
  }
  // The truth of an elastic job, or of a service, is shared by those that are alike in all they
  // state of it.
  add(one.elastic.get());
  add(one.service.get());
  for (const FamilyDemand& demand : task.demands.entries()) {
    add_text(demand.family);
    for (const double amount : demand.amount.amounts()) add(amount);
    add(demand.speed);
  }
  return content;
}

}  // namespace

RawJobsResult read_trace(const std::string& format, const WorkloadConfig& config) {
  return read_by(trace_formats(), format, config, 0);
}

Resources default_demand(const TaskDefaults& task) {
  Resources demand = Resources::of(0, task.cpu, task.memory_gib);
  demand[Resource::storage] = task.storage_gib;
  demand[Resource::network] = task.network_gbit_s;
  return demand;
}

Duration lifetime_of(const JobTruth& service) {
  return from_seconds(service.iterations);
}

JobRow RowPacker::pack(JobDraft draft) {
  JobTruth& truth = draft.job.truth;
  JobTemplate like{std::move(draft.job.job), std::move(truth.interference),
                   std::move(truth.elastic), std::move(truth.service)};
  JobRow row;
  row.id = std::exchange(like.job.id, {});
  row.submit = draft.job.submit;
  row.name = std::exchange(like.job.name, {});
  row.runtime_hint = std::exchange(like.job.runtime_hint, {});
  row.iterations = truth.iterations;
  row.iterations_per_s = truth.iterations_per_s;
  if (!truth.task_iterations.empty()) {
    row.task_iterations =
        std::make_shared<const std::vector<double>>(std::move(truth.task_iterations));
  }
  row.tasks = static_cast<std::uint32_t>(draft.tasks);
  // A row that is wrong has been complained about, and may lack its task.
  if (like.job.tasks.empty()) like.job.tasks.emplace_back();
  std::shared_ptr<const JobTemplate>& known = known_[content_of(like)];
  // Equal contents share one template; traces have few different ones.
  if (!known) known = std::make_shared<const JobTemplate>(std::move(like));
  row.like = known;
  return row;
}

JobDraft draft_of(const JobRow& row) {
  JobDraft draft;
  WorkloadJob& to = draft.job;
  to.job = row.like->job;
  to.job.id = row.id;
  to.job.name = row.name;
  to.job.runtime_hint = row.runtime_hint;
  to.submit = row.submit;
  to.truth = {row.iterations, row.iterations_per_s, row.like->interference};
  if (row.task_iterations) to.truth.task_iterations = *row.task_iterations;
  to.truth.elastic = row.like->elastic;
  to.truth.service = row.like->service;
  if (auto* elastic = std::get_if<ElasticSpec>(&to.job.kind)) {
    // Each of its tasks is a worker, and some may have been left out.
    elastic->max_width = std::min(elastic->max_width, row.tasks);
    elastic->min_width = std::min(elastic->min_width, row.tasks);
  }
  draft.tasks = row.tasks;
  return draft;
}

WorkloadJob CompactWorkload::job(std::size_t index) const {
  const JobRow& row = rows[index];
  WorkloadJob job = draft_of(row).job;
  std::vector<TaskSpec>& tasks = job.job.tasks;
  tasks.resize(row.tasks, TaskSpec(tasks.front()));
  std::uint64_t next = row.first_task;
  for (TaskSpec& task : tasks) task.id = TaskId{next++};
  // Tasks that are all alike are spoken of by the job's word.
  if (row.task_hint_factor > 0 && row.task_iterations) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const double run_s = job.truth.work_of(i) / job.truth.iterations_per_s;
      tasks[i].runtime_hint = from_seconds(run_s * row.task_hint_factor);
    }
  }
  return job;
}

void leave_out_small(RawJobs& raw_jobs, std::uint32_t min_tasks) {
  const std::size_t small =
      std::erase_if(raw_jobs.jobs, [&](const JobRow& job) { return job.tasks < min_tasks; });
  if (small > 0) {
    raw_jobs.description += fmt::format(", {} of fewer than {} tasks left out", small, min_tasks);
    raw_jobs.left_out.add(fmt::format("of fewer than {} tasks", min_tasks), small);
  }
}

std::string interference_name(std::string_view workload_class) {
  const std::string_view name = workload_class.substr(0, workload_class.find('['));
  return std::string(name.empty() ? workload_class : name);
}

Failure<WorkloadError> invalid(const ErrorList& errors) {
  return {WorkloadError::invalid, errors.text(kShownErrors)};
}

Failure<WorkloadError> as_workload_error(const Failure<ConfigError>& failure) {
  switch (failure.code) {
    case ConfigError::unreadable:
      return {WorkloadError::unreadable, failure.message};
    case ConfigError::malformed:
      return {WorkloadError::malformed, failure.message};
    case ConfigError::invalid:
    case ConfigError::bad_override:
      break;
  }
  return {WorkloadError::invalid, failure.message};
}

Failure<WorkloadError> as_workload_error(const Failure<TextFileError>& failure) {
  const bool unreadable = failure.code == TextFileError::unreadable;
  return {unreadable ? WorkloadError::unreadable : WorkloadError::malformed, failure.message};
}

Expected<CompactWorkload, WorkloadError> read_compact_workload(const WorkloadConfig& config,
                                                               std::uint64_t seed) {
  auto raw_jobs = read_by(workload_formats(), config.format, config, seed);
  if (!raw_jobs) return raw_jobs.error();
  select(raw_jobs.value(), config);
  raw_jobs = take_part(std::move(raw_jobs).value(), config, seed);
  if (raw_jobs && config.distinct_instances > 0) {
    want_distinct_instances(raw_jobs.value(), config.distinct_instances, seed);
  }
  if (raw_jobs) raw_jobs = state_run_times(std::move(raw_jobs).value(), config.stated, seed);
  if (!raw_jobs) return raw_jobs.error();
  if (config.move_mbit_s > 0) charge_moves(raw_jobs.value(), config.move_mbit_s);
  auto workload = number_tasks(std::move(raw_jobs).value(), config.path);
  // A factor of 1 leaves the times exactly as they are, and the description too.
  if (!workload || config.scale_time == 1) return workload;
  return with_times_scaled(std::move(workload).value(), config.scale_time);
}

Expected<Workload, WorkloadError> read_workload(const WorkloadConfig& config, std::uint64_t seed) {
  const auto compact = read_compact_workload(config, seed);
  if (!compact) return compact.error();
  Workload workload;
  workload.description = compact->description;
  workload.not_taken = compact->not_taken;
  workload.jobs.reserve(compact->size());
  for (std::size_t i = 0; i < compact->size(); ++i) workload.jobs.push_back(compact->job(i));
  return workload;
}

Expected<CompactWorkload, WorkloadError> with_times_scaled(CompactWorkload workload,
                                                           double factor) {
  for (JobRow& job : workload.rows) {
    const double scaled_s = to_seconds(job.submit) * factor;
    if (scaled_s > to_seconds(kLongest)) {
      return Failure<WorkloadError>{WorkloadError::invalid,
                                    fmt::format("workload: times of submission x {} go beyond {} s",
                                                number_text(factor), seconds_text(kLongest))};
    }
    job.submit = Instant{from_seconds(scaled_s)};
  }
  workload.description += fmt::format(", times of submission x {}", number_text(factor));
  return workload;
}

}  // namespace muster::replay
