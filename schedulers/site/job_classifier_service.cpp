#include "schedulers/site/job_classifier_service.hpp"

namespace muster {

Classification JobClassifierService::classify(Job& job, const SystemUse& use, Instant now) {
  const Classification answer = classifier_.classify(job, use, now);
  job.prediction.length = answer.length;
  job.prediction.spot_safe = answer.spot.allowed();
  job.prediction.runtime = answer.estimate;
  job.prediction.confidence = answer.confidence;
  ++classified_;
  shorts_ += answer.length == JobLength::short_run;
  // An id that is classified again starts over, or its tasks would be counted twice.
  forget(job.id);
  open_[job.id] = {classified_, job, use, now, 0, {}};
  open_tasks_ += job.tasks.size();
  by_age_[classified_] = job.id;
  // The bounds are for jobs whose ends never come, as those of a master that is gone.
  while (open_.size() > kMaxOpen || open_tasks_ > kMaxOpenTasks) forget(by_age_.begin()->second);
  return answer;
}

void JobClassifierService::forget(JobId id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  open_tasks_ -= found->second.job.tasks.size();
  by_age_.erase(found->second.age);
  open_.erase(found);
}

void JobClassifierService::heard(JobId id, std::uint32_t tasks, Duration together) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  Open& open = found->second;
  open.tasks += tasks;
  open.together += together;
  // Parts end at different masters; the run time of a job is the mean over all of its tasks.
  const std::uint32_t all = open.job.task_count();
  if (open.tasks < all) return;
  classifier_.learn({open.job, open.use, open.together / all, open.submitted});
  forget(id);
}

}  // namespace muster
