// What a job was submitted as, for those who submit it again. It has the job's environment, so it
// goes to the node that serves the API and no further.

#include "config/job_request.hpp"
#include "masters/cell_view.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

using nlohmann::json;

/// How a task of it has ended: what it has to be for a word is for who asks.
constexpr const char* kFinished = "finished";
constexpr const char* kFailed = "failed";
constexpr const char* kNeither = "neither";

template <class EndOf>
std::string request_text(const Job& job, bool over, EndOf end_of) {
  json tasks = json::array();
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const TaskSpec& task = job.tasks[i];
    tasks.push_back({position_of(task.id), task.array_index, end_of(i)});
  }
  const json out{{"request", to_json(request_of(job))},
                 {"whole_tasks", job.task_count()},
                 {"max_running", job.max_running},
                 {"gang", job.gang},
                 {"over", over},
                 {"tasks", std::move(tasks)}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

CellAnswer CellView::request(JobId id) const {
  if (const JobRow* row = master.state().find(id)) {
    const ClusterState& state = master.state();
    return {request_text(row->job, false,
                         [&](std::size_t i) {
                           const TaskPhase phase = state.task(row->tasks[i]).phase;
                           return phase == TaskPhase::finished ? kFinished
                                  : phase == TaskPhase::failed ? kFailed
                                                               : kNeither;
                         }),
            {}};
  }
  const std::string nothing = R"({"missing":true})";
  if (history == nullptr || !history->contains(id)) return {nothing, {}};
  return {{}, [id, over = history, nothing] {
            const auto found = over->find(id);
            if (!found) return nothing;
            return request_text(found->job, true, [&](std::size_t i) {
              const TaskHistory& task = found->tasks[i];
              return task.finished ? kFinished : task.failed ? kFailed : kNeither;
            });
          }};
}

}  // namespace muster
