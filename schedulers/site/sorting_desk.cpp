#include "schedulers/site/sorting_desk.hpp"

namespace muster {

Classification SortingDesk::sort(Job& job, const SystemUse& use) {
  const Classification answer = sorter_.classify(job, use);
  job.length = answer.length;
  job.spot_safe = answer.spot.allowed();
  ++sorted_;
  shorts_ += answer.length == JobLength::short_run;
  forget(job.id);
  open_[job.id] = {job, use, 0, {}};
  open_tasks_ += job.tasks.size();
  in_order_.push_back(job.id);
  while (in_order_.size() > kMaxOpen || open_tasks_ > kMaxOpenTasks) {
    forget(in_order_.front());
    in_order_.pop_front();
  }
  return answer;
}

void SortingDesk::forget(JobId id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  open_tasks_ -= found->second.job.tasks.size();
  open_.erase(found);
}

void SortingDesk::heard(JobId id, std::uint32_t tasks, Duration together) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  Open& open = found->second;
  open.tasks += tasks;
  open.together += together;
  const std::uint32_t all = open.job.task_count();
  if (open.tasks < all) return;
  sorter_.learn({open.job, open.use, open.together / all});
  forget(id);
}

}  // namespace muster
