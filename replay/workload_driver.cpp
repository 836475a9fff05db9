#include "replay/workload_driver.hpp"

#include <algorithm>

#include "model/live_ids.hpp"
#include "replay/workload_names.hpp"

// The user of a replay: submits the jobs of the workload at their times, waits for their ends, and
// gives up on those that will never end. To a site it is any user: it retries, and sends a batch
// only when the one before is answered.

namespace muster::replay {
namespace {

/// Jobs that are submitted with one message; further due ones come when it is answered.
constexpr std::size_t kMaxBatch = 1000;
/// Tries after which a site without an answer has not accepted the jobs.
constexpr std::uint32_t kMaxTries = 5;

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

void RunProgress::tell(const std::string& idle_reason,
                       std::vector<std::pair<std::string, std::string>>& not_completed) const {
  std::map<std::string, std::string> reasons;
  for (const auto& [job, why] : never) reasons[std::to_string(job.value)] = why;
  std::set<std::string> given_up;
  for (const JobId job : idle) given_up.insert(std::to_string(job.value));
  for (auto& [id, reason] : not_completed) {
    if (const auto found = reasons.find(id); found != reasons.end()) reason = found->second;
    if (given_up.contains(id)) reason += "; " + idle_reason;
  }
  for (const auto& [id, reason] : not_accepted) {
    not_completed.emplace_back(std::to_string(id.value), "not accepted: " + reason);
  }
}

WorkloadDriver::WorkloadDriver(caf::actor_config& config, WorkloadDriverSetup setup)
    : WorkloadDriverHandle::base(config),
      setup_(std::move(setup)),
      timer_(this, setup_.origin),
      rng_(setup_.seed),
      slots_(setup_.sites.size()) {}

void WorkloadDriver::on_exit() {
  // Sites hold this actor as a listener: handles both ways would keep both alive.
  setup_.sites.clear();
}

WorkloadDriverHandle::behavior_type WorkloadDriver::make_behavior() {
  submit_due();
  return {
      [this](over_atom, const JobEnd& end) { over(end); },
      [](const Wakeup& wakeup) { wakeup.run(); },
      [this](cancel_atom) {
        for (const auto& [id, rank] : open_) {
          setup_.progress->idle.insert(setup_.workload->id(rank));
          give_up(id);
        }
      },
      [this](cancel_atom, JobId named) {
        for (const auto& [id, rank] : open_) {
          if (setup_.workload->id(rank) == named) give_up(id);
        }
      },
  };
}

void WorkloadDriver::give_up(JobId id) const {
  const std::size_t site = std::min<std::size_t>(site_of(id), setup_.sites.size() - 1);
  caf::anon_send(setup_.sites[site], cancel_atom_v, id);
}

void WorkloadDriver::submit_due() {
  const JobSource& jobs = *setup_.workload;
  for (; next_ < jobs.size() && jobs.submit(next_) <= timer_.now(); ++next_) {
    ++setup_.progress->submitted;
    const std::size_t many = slots_.size();
    // A single site draws no number, so that the seed's numbers do not depend on it.
    slots_[many == 1 ? 0 : rng_.below(many)].due.push_back(next_);
  }
  for (std::size_t site = 0; site < slots_.size(); ++site) {
    if (slots_[site].asked == 0) submit(site);
  }
  if (next_ < jobs.size()) timer_.at(jobs.submit(next_), [this] { submit_due(); });
}

/// As it is submitted: without an id, which the site gives it.
Job WorkloadDriver::job(std::size_t rank) {
  WorkloadJob entry = setup_.workload->job(rank);
  if (entry.truth.service) ends_[rank] = entry.submit + lifetime_of(entry.truth);
  Job job = with_scaled_delays(std::move(entry.job), setup_.job_delay_scale);
  job.checkpoints = setup_.checkpoints;
  // Makes a batch that is sent again the same jobs, and tells which job an accepted one is.
  job.token = WorkloadNames::token_of(job.id);
  job.id = {};
  return job;
}

void WorkloadDriver::submit(std::size_t site) {
  SubmissionSlot& door = slots_[site];
  door.asked = std::min(door.due.size(), kMaxBatch);
  if (door.asked == 0) return;
  std::vector<Job> batch;
  for (std::size_t i = 0; i < door.asked; ++i) batch.push_back(job(door.due[i]));
  request(setup_.sites[site], setup_.answer_timeout, hand_atom_v, std::move(batch))
      .then([this, site](const std::vector<SubmitVerdict>& verdicts) { hear(site, verdicts); },
            [this, site](const caf::error& error) { try_again(site, error); });
}

void WorkloadDriver::hear(std::size_t site, const std::vector<SubmitVerdict>& verdicts) {
  SubmissionSlot& door = slots_[site];
  // One verdict a job, in their order: an answer of another size cannot be matched to them.
  if (verdicts.size() != door.asked) return try_again(site, ActorError::invalid_job);
  std::vector<JobId> accepted;
  for (const SubmitVerdict& verdict : verdicts) {
    const std::size_t rank = door.due.front();
    door.due.pop_front();
    if (!verdict.accepted) {
      not_accepted(rank, verdict.reason);
      continue;
    }
    open_[verdict.job] = rank;
    await_end(verdict.job, rank);
    accepted.push_back(verdict.job);
  }
  door.asked = 0;
  door.tries = 0;
  if (!accepted.empty()) watch(site, std::move(accepted), 1);
  submit(site);
}

void WorkloadDriver::try_again(std::size_t site, const caf::error& error) {
  SubmissionSlot& door = slots_[site];
  if (++door.tries < kMaxTries) {
    timer_.after(setup_.retry, [this, site] { submit(site); });
    return;
  }
  const std::string reason = system().render(error);
  // Given up for good: jobs that wait longer would keep the run from its end.
  for (; door.asked > 0; --door.asked) {
    not_accepted(door.due.front(), reason);
    door.due.pop_front();
  }
  door.tries = 0;
  submit(site);
}

void WorkloadDriver::watch(std::size_t site, std::vector<JobId> jobs, std::uint32_t tries) {
  const auto failed = [this, site, jobs, tries](const caf::error& error) {
    if (tries < kMaxTries) {
      timer_.after(setup_.retry, [this, site, jobs, tries] { watch(site, jobs, tries + 1); });
      return;
    }
    for (JobId id : jobs) {
      if (const auto job = open_.extract(id)) {
        if (ends_.erase(job.mapped()) > 0) --setup_.progress->services;
        not_accepted(job.mapped(), "no site reports its end: " + system().render(error));
      }
    }
  };
  request(setup_.sites[site], setup_.answer_timeout, watch_atom_v, JobListener{this},
          std::move(jobs))
      .then(
          [this](const std::vector<JobEnd>& ends) {
            for (const JobEnd& end : ends) over(end);
          },
          failed);
}

void WorkloadDriver::over(const JobEnd& end) {
  // Ends are told by message and in answers to watches, so that one may come twice.
  const auto job = open_.extract(end.job);
  if (!job) return;
  ++setup_.progress->over;
  if (ends_.erase(job.mapped()) > 0) --setup_.progress->services;
}

/// The job may be a service.
void WorkloadDriver::await_end(JobId id, std::size_t rank) {
  const auto end = ends_.find(rank);
  if (end == ends_.end()) return;
  // A batch that is sent again may be answered twice.
  if (!ending_.emplace(end->second, id).second) return;
  ++setup_.progress->services;
  timer_.at(end->second, [this] { end_services(); });
}

void WorkloadDriver::end_services() {
  while (!ending_.empty() && ending_.begin()->first <= timer_.now()) {
    const JobId id = ending_.begin()->second;
    ending_.erase(ending_.begin());
    if (open_.contains(id)) give_up(id);
  }
}

void WorkloadDriver::not_accepted(std::size_t rank, const std::string& reason) {
  ++setup_.progress->over;
  setup_.progress->not_accepted.emplace_back(setup_.workload->id(rank), reason);
}

}  // namespace muster::replay
