#include "config/submission.hpp"

#include <nlohmann/json.hpp>

#include "config/array_indices.hpp"
#include "config/job_request.hpp"
#include "config/notify_address.hpp"

namespace muster::config {

SubmissionView shown_submission(const Job& job) {
  JobRequest request = request_of(job);
  request.command.clear();
  request.token.clear();
  request.script.clear();
  // Values may be secrets.
  for (auto& [name, value] : request.env) value.clear();
  // The path of a webhook often is its password.
  for (std::string& each : request.notify) each = shown_address(each);
  SubmissionView shown{make_job(request), {}};
  shown.job.gang = job.gang;
  shown.job.max_running = job.max_running;
  shown.job.again_of = job.again_of;
  // Of a part it would be the part's alone.
  if (job.task_count() == job.tasks.size()) {
    std::vector<std::uint32_t> indices;
    indices.reserve(job.tasks.size());
    for (const TaskSpec& task : job.tasks) indices.push_back(task.array_index);
    shown.array = array_text(indices);
  }
  return shown;
}

SubmittedAs submitted_as(const SubmissionView& submission, std::uint64_t tasks) {
  JobRequest request = request_of(submission.job);
  SubmittedAs said;
  said.array = submission.array;
  said.checkpoints = request.checkpoints;
  said.workload_class = request.workload_class;
  said.cpus = request.cpus;
  said.distinct_instances = request.distinct_instances;
  for (const auto& [name, value] : request.env) said.env_names.push_back(name);
  said.gang = submission.job.gang;
  said.gpus = request.gpus;
  said.market = request.market;
  said.max_fails = request.max_fails;
  said.max_running = submission.job.max_running;
  said.memory_gib = request.memory_gib;
  said.most_an_instance = submission.job.most_an_instance;
  said.movable = request.movable;
  said.priority = request.priority;
  said.retries = request.retries;
  said.runtime_hint_s = request.runtime_hint_s;
  said.stop_grace_s = request.stop_grace_s;
  said.tasks = tasks;
  said.time_limit_s = request.time_limit_s;
  said.work_dir = request.work_dir;
  // A job is shown with these anyhow.
  for (std::string* told : {&request.name, &request.user, &request.token}) told->clear();
  request.env.clear();
  using Json = nlohmann::json;
  const Json given = Json::parse(to_json(request));
  for (const auto& [key, value] : given.items()) {
    if (has_member<SubmittedAs>(key)) continue;
    said.others.push_back({key, value.dump(-1, ' ', false, Json::error_handler_t::replace)});
  }
  if (const JobId first = submission.job.again_of; first.valid()) {
    said.others.push_back({kResubmittedFrom, std::to_string(first.value)});
  }
  if (submission.job.every.empty() && submission.job.recurs.valid()) {
    said.others.push_back({kRunOf, std::to_string(submission.job.recurs.value)});
  }
  return said;
}

}  // namespace muster::config
