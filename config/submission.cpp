#include "config/submission.hpp"

#include <nlohmann/json.hpp>

#include "config/array_indices.hpp"
#include "config/job_request.hpp"

namespace muster::config {

SubmissionView shown_submission(const Job& job) {
  JobRequest request = request_of(job);
  request.command.clear();
  request.token.clear();
  request.script.clear();
  // Values may be secrets.
  for (auto& [name, value] : request.env) value.clear();
  SubmissionView shown{make_job(request), {}};
  shown.job.gang = job.gang;
  shown.job.max_running = job.max_running;
  // Of a part it would be the part's alone.
  if (job.task_count() == job.tasks.size()) {
    std::vector<std::uint32_t> indices;
    indices.reserve(job.tasks.size());
    for (const TaskSpec& task : job.tasks) indices.push_back(task.array_index);
    shown.array = array_text(indices);
  }
  return shown;
}

std::string submission_json(const SubmissionView& submission, std::uint64_t tasks) {
  using Json = nlohmann::json;
  JobRequest request = request_of(submission.job);
  const std::map<std::string, std::string> env = std::move(request.env);
  request.env.clear();
  Json out = Json::parse(to_json(request));
  for (const char* said_elsewhere : {"name", "user", "token"}) out.erase(said_elsewhere);
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  out["array"] = submission.array.empty() ? Json() : Json(submission.array);
  out["checkpoints"] = request.checkpoints;
  out["class"] = request.workload_class;
  out["cpus"] = request.cpus;
  out["distinct_instances"] = request.distinct_instances;
  out["gang"] = submission.job.gang;
  out["gpus"] = request.gpus;
  out["market"] = name_of(request.market);
  out["max_fails"] = or_null(request.max_fails);
  out["max_running"] = submission.job.max_running;
  out["memory_gib"] = request.memory_gib;
  out["movable"] = request.movable;
  out["priority"] = request.priority;
  out["retries"] = or_null(request.retries);
  out["runtime_hint_s"] = or_null(request.runtime_hint_s);
  out["stop_grace_s"] = or_null(request.stop_grace_s);
  out["tasks"] = tasks;
  out["time_limit_s"] = or_null(request.time_limit_s);
  out["work_dir"] = request.work_dir.empty() ? Json() : Json(request.work_dir);
  Json& names = out["env_names"] = Json::array();
  for (const auto& [name, value] : env) names.push_back(name);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::config
