#include "model/job_view.hpp"

namespace muster {

JobView view_of(const Job& job) {
  JobView view;
  view.job = job.id;
  view.place = list_place(job);
  view.submitted = job.submitted;
  view.name = job.name;
  view.user = job.user;
  view.workload_class = job.workload_class;
  view.command = job.program.argv;
  view.market = job.markets;
  view.gang = job.gang;
  view.movable = job.movable;
  view.checkpoints = job.checkpoints;
  view.distinct_instances = job.most_an_instance == 1;
  view.most_an_instance = job.most_an_instance;
  view.tasks = job.tasks.size();
  view.whole = job.task_count();
  view.max_fails = job.max_fails;
  if (const auto* elastic = std::get_if<ElasticSpec>(&job.kind)) {
    ElasticView& shown = view.elastic.emplace();
    shown.least = elastic->min_width;
    shown.most = elastic->max_width;
    shown.unit = elastic->unit;
    if (!elastic->epochs.empty()) shown.whole = elastic->epochs.all().back().until;
  }
  for (const AfterJob& after : job.after) {
    view.after.push_back({after.job, after.end, after.by_index});
  }
  view.again_of = job.again_of;
  // A recurring job names its newest run there.
  view.recurs = !job.every.empty();
  if (!view.recurs) view.run_of = job.recurs;
  if (const ServiceSpec* service = job.service()) view.revision = service->revision;
  return view;
}

}  // namespace muster
