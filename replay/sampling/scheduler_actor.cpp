#include "replay/sampling/scheduler_actor.hpp"

#include <utility>

namespace muster::sampling {

SchedulerActor::SchedulerActor(caf::actor_config& config, GroupShared& group,
                               std::unique_ptr<Scheduler> scheduler)
    : GroupScheduler::base(config),
      group_(group),
      timer_(this, group.origin),
      scheduler_(std::move(scheduler)) {}

GroupScheduler::behavior_type SchedulerActor::make_behavior() {
  return {
      [this](open_atom) {
        scheduler_->open(group_.roster, actions_);
        perform();
      },
      [this](const TaskBatch& batch) {
        scheduler_->take(batch, timer_.now(), actions_);
        perform();
      },
      [this](const TaskRequest& request) {
        scheduler_->asked(request, timer_.now(), actions_);
        perform();
      },
      [this](const Rejection& rejection) {
        scheduler_->rejected(rejection, actions_);
        perform();
      },
      [this](const TaskDone& news) {
        scheduler_->done(news, timer_.now(), actions_);
        perform();
      },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

// Schedulers are pure: they list actions, which become events and messages here, in their order.
void SchedulerActor::perform() {
  for (const Action& action : actions_) {
    std::visit([this](const auto& a) { perform(a); }, action);
  }
  actions_.clear();
}

void SchedulerActor::perform(const Reserve& action) {
  const Reservation& reservation = action.reservation;
  if (reservation.task) {
    assign({reservation.job->id, *reservation.task}, action.worker, CauseCode::least_waiting);
  }
  delayed_send(group_.members[action.worker].worker, group_.params.network_delay, reservation);
}

void SchedulerActor::perform(const Cancel& action) {
  delayed_send(group_.members[action.worker].worker, group_.params.network_delay,
               action.cancellation);
}

void SchedulerActor::perform(const Answer& action) {
  TaskAnswer answer{action.ticket, std::nullopt};
  if (action.task) {
    // Long tasks have been assigned when they were placed.
    if (!action.placed) assign(*action.task, action.worker, CauseCode::sampled);
    answer.order = start(*action.task, action.worker);
  }
  delayed_send(group_.members[action.worker].worker, group_.params.network_delay,
               std::move(answer));
}

void SchedulerActor::perform(const Push& action) {
  assign(action.task, action.worker, CauseCode::first_free);
  delayed_send(group_.members[action.worker].worker, group_.params.network_delay, start_atom_v,
               start(action.task, action.worker));
}

void SchedulerActor::perform(const Forward& action) {
  delayed_send(group_.schedulers[action.to], group_.params.network_delay, action.batch);
}

void SchedulerActor::perform(const JobOver& action) {
  group_.event_log->close(action.job, JobOutcome::completed, timer_.now());
  send(group_.site, over_atom_v, JobEnd{action.job, JobOutcome::completed});
}

/// Settles the job after all messages that are due at this instant: virtual time delivers those of
/// one instant in the order in which they were sent, and this one is sent now.
void SchedulerActor::perform(const Later& action) {
  timer_.at(timer_.now(), [this, job = action.job] {
    scheduler_->settle(job, actions_);
    perform();
  });
}

Host SchedulerActor::host(WorkerIndex worker) const {
  return {group_.instance(worker), group_.roster.types[worker]};
}

void SchedulerActor::assign(const TaskRef& task, WorkerIndex to, CauseCode why) {
  group_.event_log->assign(task, host(to), why, timer_.now());
}

TaskOrder SchedulerActor::start(const TaskRef& task, WorkerIndex on) {
  return group_.event_log->start(task, host(on), timer_.now());
}

}  // namespace muster::sampling
