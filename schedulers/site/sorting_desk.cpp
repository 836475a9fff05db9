#include "schedulers/site/sorting_desk.hpp"

namespace muster {

Classification SortingDesk::sort(Job& job, const SystemUse& use) {
  const Classification answer = sorter_.classify(job, use);
  job.length = answer.length;
  job.spot_safe = answer.spot.allowed();
  ++sorted_;
  shorts_ += answer.length == JobLength::short_run;
  open_[job.id] = {job, use, 0, {}};
  in_order_.push_back(job.id);
  for (; in_order_.size() > kMaxOpen; in_order_.pop_front()) open_.erase(in_order_.front());
  return answer;
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
  open_.erase(found);
}

}  // namespace muster
