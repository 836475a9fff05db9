#include "replay/sampling/group_member.hpp"

#include <utility>

// The queue counts room by itself and duties_ count it again: a task enters both, the queue first,
// and leaves duties_ first, so that the queue never offers room that is still taken.

namespace muster {

GroupMember::GroupMember(caf::actor_config& config, const WorkerSetup& setup)
    : GroupWorker::base(config),
      timer_(this, setup.origin),
      port_(this, timer_, setup.master),
      duties_(setup, port_) {}

void GroupMember::on_exit() {
  duties_.end();
  member_.reset();
}

GroupWorker::behavior_type GroupMember::make_behavior() {
  duties_.greet();
  return {
      [this](start_atom, const TaskOrder& order) { start_pushed(order); },
      [this](stop_atom, TaskId task, Attempt attempt) { duties_.stop(task, attempt); },
      [this](ack_atom, TaskId task, Attempt attempt) { duties_.acknowledge(task, attempt); },
      [this](greet_atom) { duties_.greet(); },
      [this](sample_atom, std::uint64_t sample_round) { duties_.answer_sample(sample_round); },
      [this](const LogRequest& request) { duties_.answer_log(request); },
      [this](const ExecRequest& request) { duties_.answer_exec(request); },
      [this](const UsageRequest& request) { duties_.answer_usage(request); },
      [](const Wakeup& wakeup) { wakeup.run(); },
      [this](GroupMembership& group) { join(std::move(group)); },
      [this](const sampling::Reservation& reservation) { hear(reservation); },
      [this](const sampling::Cancellation& cancellation) {
        if (member_) member_->queue.cancel(cancellation.job);
      },
      [this](const TaskAnswer& answer) { hear(answer); },
  };
}

void GroupMember::join(GroupMembership group) {
  sampling::LocalQueue queue(group.index, duties_.type(), duties_.capacity(), group.rules);
  member_.emplace(Member{std::move(group), std::move(queue)});
}

/// A task that was not asked for here takes capacity nevertheless.
void GroupMember::start_pushed(const TaskOrder& order) {
  if (member_) member_->queue.pushed(order.task.id, order.job, order.granted);
  duties_.start(order);
}

void GroupMember::hear(const sampling::Reservation& reservation) {
  // A scheduler may reserve only once the group is open; earlier news are of no group.
  if (!member_) return;
  if (auto rejection = member_->queue.add(reservation)) {
    const GroupMembership& group = member_->group;
    delayed_send(group.short_jobs, group.network_delay, std::move(*rejection));
    return;
  }
  ask_for_tasks();
}

void GroupMember::hear(const TaskAnswer& answer) {
  if (!member_) return;
  member_->queue.answered(answer.ticket,
                          answer.order ? std::optional(answer.order->task.id) : std::nullopt);
  if (answer.order) duties_.start(*answer.order);
  ask_for_tasks();
}

void GroupMember::ask_for_tasks() {
  const GroupMembership& group = member_->group;
  // More than one answer may be under way, as long as each has room.
  while (const auto request = member_->queue.next()) {
    const GroupScheduler& asked = request->task ? group.long_jobs : group.short_jobs;
    delayed_send(asked, group.network_delay, *request);
  }
}

void GroupMember::notify_over(TaskId task) {
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
