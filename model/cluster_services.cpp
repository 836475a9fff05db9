#include <algorithm>
#include <memory>

#include "model/cluster_applier.hpp"

// Replicas of services: which of a service's tasks are to be some, and how these are doing.

namespace muster {
namespace {

/// Revisions of a service that are there at once, and more.
constexpr int kMostLinks = 16;

}  // namespace

void ClusterState::Applier::OfServices::begin(JobRow& job, const ServiceSpec& service) const {
  const auto tasks = static_cast<std::uint32_t>(job.job.tasks.size());
  job.replicas = service.replicas == 0 ? tasks : std::min(service.replicas, tasks);
  job.progressed_at = a.at;
  // While the revision before is there, this one's replicas come as fast as it may leave.
  const auto before = s.job_slots_.find(service.replaces);
  job.wanted = before == s.job_slots_.end() ? job.replicas : 0;
  job.last_revision = service.revision;
  if (before == s.job_slots_.end()) return;
  // When this one is given up its number is not given again. Bounded, whatever jobs call each other
  // their predecessors.
  auto earlier = before;
  for (int left = kMostLinks; left > 0 && earlier != s.job_slots_.end(); --left) {
    JobRow& row = s.jobs_[earlier->second];
    row.last_revision = std::max(row.last_revision, service.revision);
    const ServiceSpec* spec = row.job.service();
    earlier = spec == nullptr ? s.job_slots_.end() : s.job_slots_.find(spec->replaces);
  }
}

void ClusterState::Applier::OfServices::apply(const ReplicaChanged& e) const {
  TaskRow& row = a.task(e.task);
  MUSTER_CHECK(a.job_of(row).job.service() != nullptr, "only services have replicas");
  MUSTER_CHECK(row.at != kNoSlot && row.attempt == e.attempt,
               "only the present attempt is a replica");
  row.replica = std::make_shared<const ReplicaState>(e.state);
  if (!e.state.ready) {
    row.ready_since = {};
  } else if (row.ready_since == Instant{}) {
    row.ready_since = a.at;
  }
}

void ClusterState::Applier::OfServices::apply(const ReplicaWanted& e) const {
  TaskRow& row = a.task(e.task);
  JobRow& job = a.job_of(row);
  MUSTER_CHECK(job.job.service() != nullptr, "only services have replicas");
  if (row.wanted == e.wanted) return;
  const bool is_back = e.wanted && row.at != kNoSlot;
  MUSTER_CHECK(!is_back || (row.phase == TaskPhase::running && row.target == kNoSlot),
               "a replica that stops has to leave, as does one of which nothing is heard");
  // Whether a capped task is counted as spare depends on this.
  s.work_.beyond_width -= is_spare(row, job);
  row.wanted = e.wanted;
  s.work_.beyond_width += is_spare(row, job);
  job.wanted += e.wanted ? 1 : -1;
  job.leaving += row.at != kNoSlot && !e.wanted;
  job.leaving -= is_back;
  row.rests_until = {};
  row.setbacks = 0;
  // One more of a revision is wanted when one of those before has become healthy.
  if (e.wanted && e.cause.code == CauseCode::revision) job.progressed_at = a.at;
  if (e.wanted) {
    if (row.phase == TaskPhase::capped) a.let_wait(row);
  } else if (row.phase == TaskPhase::pending || row.phase == TaskPhase::assigned) {
    a.wait_again(row, kSpare);
  } else {
    // One that runs has no place to go on at, so that its instance may be given back behind it.
    // With a worker that is silent it keeps its room, in which others could not start.
    const bool silent = e.cause.code == CauseCode::worker_lost && row.target == row.at;
    if (row.target != kNoSlot && !silent) a.drop_target(row);
    if (row.phase == TaskPhase::capped) row.reason = kSpare;
  }
}

void ClusterState::Applier::OfServices::apply(const ServiceScaled& e) const {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  MUSTER_CHECK(job.job.service() != nullptr, "only services are scaled");
  MUSTER_CHECK(e.replicas <= job.tasks.size(), "a service has a task for each of its replicas");
  job.replicas = e.replicas;
  job.progressed_at = a.at;
}

void ClusterState::Applier::OfServices::apply(const ServiceSettled& e) const {
  JobRow& job = s.jobs_[slot_of(s.job_slots_, e.job)];
  MUSTER_CHECK(job.job.service() != nullptr, "only services have revisions");
  job.settled = true;
}

void ClusterState::Applier::OfServices::tell_given_up(const JobRow& job) const {
  const ServiceSpec* service = job.job.service();
  if (service == nullptr) return;
  const auto before = s.job_slots_.find(service->replaces);
  if (before != s.job_slots_.end()) s.jobs_[before->second].failed_update = job.job.id;
}

bool ClusterState::Applier::OfServices::has_stood(const TaskRow& row) const {
  return a.job_of(row).job.service() != nullptr && a.at - a.started(row) >= kForgetSetbacks;
}

}  // namespace muster
