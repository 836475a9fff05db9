#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "actors/job_watch.hpp"
#include "replay/sampling/sampling_group.hpp"

namespace muster::sampling {

/// Takes the jobs of a sampling group in, tells its schedulers of them as soon as the workers are
/// there, and who watches them when they are over. It numbers jobs as the first site of a cluster
/// does. Submitting takes no time.
class GroupSite : public GroupSiteActor::base {
 public:
  /// The group has to outlive the actor.
  GroupSite(caf::actor_config& config, GroupShared& group);
  const char* name() const override { return "muster.group-site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  using Verdicts = std::vector<SubmitVerdict>;
  using Ends = std::vector<JobEnd>;

  Verdicts take(std::vector<Job> jobs);
  SubmitVerdict begin(Job job);
  caf::result<Ends> watch(const JobListener& listener, const std::vector<JobId>& jobs);
  void place(const SharedJob& job);
  void refuse(JobId id, const Refusal& refusal);
  CancelReport cancel(JobId id);
  void notify_over(JobId id, JobOutcome outcome);

  GroupShared& group_;
  ActorTimer<GroupSiteActor, GroupSite> timer_;
  bool open_ = false;
  std::vector<SharedJob> waiting_;  ///< for the group to open
  std::uint64_t next_job_ = 1;
  std::map<std::string, JobId> tokens_;
  std::deque<std::string> tokens_by_age_;  ///< likewise, oldest first
  JobWatch listeners_{kMaxWatches};
  NewestEnds newest_ends_;
};

}  // namespace muster::sampling
