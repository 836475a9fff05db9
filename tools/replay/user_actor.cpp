#include "tools/replay/user_actor.hpp"

namespace muster::replay {
namespace {

Job with_scaled_delays(Job job, double factor) {
  const auto scale = [factor](Duration& delay) {
    delay = from_seconds(to_seconds(delay) * factor);
  };
  for (TaskSpec& task : job.tasks) {
    scale(task.delays.fetch);
    scale(task.delays.build);
    scale(task.delays.init);
    scale(task.delays.stop);
    scale(task.delays.upload);
  }
  return job;
}

}  // namespace

User::User(caf::actor_config& config, UserSetup setup)
    : UserHandle::base(config),
      setup_(std::move(setup)),
      timer_(this, setup_.epoch),
      rng_(setup_.seed) {}

UserHandle::behavior_type User::make_behavior() {
  submit_due();
  return {
      [this](over_atom, JobId id, JobOutcome) {
        ++setup_.board->over;
        open_.erase(id);
      },
      [](const Wakeup& wakeup) { wakeup.run(); },
      [this](cancel_atom) {
        for (JobId id : open_) anon_send(setup_.sites.front(), cancel_atom_v, id);
      },
  };
}

void User::submit_due() {
  const JobSource& jobs = *setup_.workload;
  while (next_ < jobs.size() && jobs.submit(next_) <= timer_.now()) submit(jobs.job(next_++));
  if (next_ < jobs.size()) timer_.at(jobs.submit(next_), [this] { submit_due(); });
}

void User::submit(const WorkloadJob& entry) {
  ++setup_.board->submitted;
  const JobId id = entry.job.id;
  const std::size_t many = setup_.sites.size();
  const SiteActor& near = setup_.sites[many == 1 ? 0 : rng_.below(many)];
  request(near, setup_.answer_timeout, accept_atom_v,
          with_scaled_delays(entry.job, setup_.job_delay_scale), JobListener{this})
      .then([this](JobId accepted) { open_.insert(accepted); },
            [this, id](const caf::error& error) {
              ++setup_.board->over;
              setup_.board->not_accepted.emplace_back(id, system().render(error));
            });
}

}  // namespace muster::replay
