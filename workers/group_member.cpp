// The part of a worker that makes it a member of a sampling group: its queue decides, this sends.
// Without a membership none of it does anything.

#include <utility>

#include "workers/worker_actor.hpp"

namespace muster {

void Worker::join(GroupMembership group) {
  sampling::LocalQueue queue(group.index, setup_.type, setup_.capacity, group.rules);
  member_.emplace(Member{std::move(group), std::move(queue)});
}

void Worker::hear(const sampling::Reservation& reservation) {
  if (!member_) return;
  if (auto rejection = member_->queue.add(reservation)) {
    const GroupMembership& group = member_->group;
    delayed_send(group.short_jobs, group.network_delay, std::move(*rejection));
    return;
  }
  ask_for_tasks();
}

void Worker::hear(const TaskAnswer& answer) {
  if (!member_) return;
  member_->queue.answered(answer.ticket,
                          answer.order ? std::optional(answer.order->task.id) : std::nullopt);
  if (answer.order) start(*answer.order);
  ask_for_tasks();
}

void Worker::ask_for_tasks() {
  const GroupMembership& group = member_->group;
  while (const auto request = member_->queue.next()) {
    const GroupScheduler& asked = request->task ? group.long_jobs : group.short_jobs;
    delayed_send(asked, group.network_delay, *request);
  }
}

void Worker::tell_group_over(TaskId task) {
  if (!member_) return;
  const GroupMembership& group = member_->group;
  const auto ended = member_->queue.over(task);
  if (!ended) return;
  const sampling::TaskDone news{group.index, ended->job};
  if (ended->is_long && group.long_jobs) delayed_send(group.long_jobs, group.network_delay, news);
  for (const GroupScheduler& listener : group.all_ends) {
    delayed_send(listener, group.network_delay, news);
  }
  ask_for_tasks();
}

}  // namespace muster
