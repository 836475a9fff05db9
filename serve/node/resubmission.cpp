#include "serve/node/resubmission.hpp"

#include <map>

namespace muster {
namespace {

struct KnownTask {
  std::uint32_t index = 0;
  bool wanted = false;
};

/// The part's tasks, by their positions in the job.
void add_tasks(const RequestView& part, std::map<std::uint32_t, KnownTask>& tasks) {
  for (const TaskEnd& task : part.tasks) {
    const bool unfinished = part.over && task.kind != TaskEnd::Kind::finished;
    tasks[task.position] = {task.index, unfinished || task.kind == TaskEnd::Kind::failed};
  }
}

}  // namespace

Expected<Job, ResubmitError> submitted_again(const std::vector<RequestView>& parts,
                                             bool failed_only) {
  std::map<std::uint32_t, KnownTask> tasks;
  const RequestView* any = nullptr;
  std::uint32_t max_running = 0;
  for (const RequestView& part : parts) {
    if (!part.known) continue;
    any = &part;
    add_tasks(part, tasks);
    max_running += part.job.max_running;
  }
  if (any == nullptr) return Failure<ResubmitError>{ResubmitError::unknown, {}};
  bool some = !failed_only;
  for (const auto& [position, task] : tasks) some |= task.wanted;
  if (tasks.size() < any->whole || any->job.tasks.empty()) {
    return Failure<ResubmitError>{ResubmitError::partial, {}};
  }
  if (!some) return Failure<ResubmitError>{ResubmitError::nothing, {}};
  Job job = any->job;
  const TaskSpec like = job.tasks.front();
  job.tasks.clear();
  for (const auto& [position, task] : tasks) {
    if (failed_only && !job.gang && !task.wanted) continue;
    job.tasks.push_back(like);
    job.tasks.back().array_index = task.index;
  }
  job.max_running = max_running;
  // The others were over when it began; a task's counterpart may not have been.
  std::erase_if(job.after, [](const AfterJob& each) { return !each.by_index; });
  job.keeps_waiting = false;
  // Times of the first one.
  job.begin.reset();
  job.deadline.reset();
  job.recurs = {};
  if (auto* service = std::get_if<ServiceSpec>(&job.kind)) {
    // As a first revision, unless the one who asks makes it another one.
    service->revision = 1;
    service->replaces = {};
    service->master.clear();
  }
  return job;
}

}  // namespace muster
