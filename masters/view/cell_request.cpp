// Requests that jobs were made from, for those who submit them again.

#include "config/job_request.hpp"
#include "masters/view/cell_view.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

using Kind = TaskEnd::Kind;

template <class EndOf>
RequestView view_of(const Job& job, bool over, EndOf end_of) {
  RequestView view;
  view.known = true;
  const JobRequest request = request_of(job);
  if (faults(request).empty()) view.job = make_job(request);
  view.job.gang = job.gang;
  view.job.max_running = job.max_running;
  view.whole = job.task_count();
  view.over = over;
  view.tasks.reserve(job.tasks.size());
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const TaskSpec& task = job.tasks[i];
    view.tasks.push_back({position_of(task.id), task.array_index, end_of(i)});
  }
  return view;
}

}  // namespace

CellAnswer<RequestView> CellView::request(const RequestQuestion& wanted) const {
  if (const JobRow* row = master.state().find(wanted.job)) {
    const ClusterState& state = master.state();
    return {view_of(row->job, false,
                    [&](std::size_t i) {
                      const TaskPhase phase = state.task(row->tasks[i]).phase;
                      return phase == TaskPhase::finished ? Kind::finished
                             : phase == TaskPhase::failed ? Kind::failed
                                                          : Kind::neither;
                    }),
            {}};
  }
  if (history == nullptr || !history->contains(wanted.job)) return {};
  return {{}, [wanted, over = history] {
            const auto found = over->find(wanted.job);
            if (!found) return RequestView{};
            return view_of(found->job, true, [&](std::size_t i) {
              const TaskHistory& task = found->tasks[i];
              return task.finished ? Kind::finished : task.failed ? Kind::failed : Kind::neither;
            });
          }};
}

}  // namespace muster
