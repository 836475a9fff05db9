#include "tools/serve/node/resubmission.hpp"

#include <map>
#include <string>
#include <utility>

#include "config/job_request.hpp"

namespace muster {
namespace {

using nlohmann::json;

struct KnownTask {
  std::uint32_t index = 0;
  bool wanted = false;
};

/// The part's tasks, by their positions in the job.
void add_tasks(const json& part, std::map<std::uint32_t, KnownTask>& tasks) {
  const bool over = part.value("over", false);
  for (const json& task : part.value("tasks", json::array())) {
    const std::string end = task.at(2).get<std::string>();
    tasks[task.at(0).get<std::uint32_t>()] = {task.at(1).get<std::uint32_t>(),
                                              end == "failed" || (over && end != "finished")};
  }
}

}  // namespace

Expected<Job, ResubmitError> submitted_again(const merge::Documents& parts, bool failed_only) {
  std::map<std::uint32_t, KnownTask> tasks;
  const json* any = nullptr;
  std::uint32_t max_running = 0;
  for (const json& part : parts) {
    if (!part.contains("request")) continue;
    any = &part;
    add_tasks(part, tasks);
    max_running += part.value("max_running", 0U);
  }
  if (any == nullptr) return Failure<ResubmitError>{ResubmitError::unknown, {}};
  const bool gang = any->value("gang", false);
  bool some = !failed_only;
  for (const auto& [position, task] : tasks) some |= task.wanted;
  if (tasks.size() < any->value("whole_tasks", 0U)) {
    return Failure<ResubmitError>{ResubmitError::partial, {}};
  }
  if (!some) return Failure<ResubmitError>{ResubmitError::nothing, {}};
  const auto request = job_request_from_json((*any)["request"].get<std::string>(), "the job");
  if (!request) return Failure<ResubmitError>{ResubmitError::partial, request.error().message};
  Job job = make_job(request.value());
  const TaskSpec like = job.tasks.front();
  job.tasks.clear();
  for (const auto& [position, task] : tasks) {
    if (failed_only && !gang && !task.wanted) continue;
    job.tasks.push_back(like);
    job.tasks.back().array_index = task.index;
  }
  job.gang = gang;
  job.max_running = max_running;
  return job;
}

}  // namespace muster
