#pragma once

#include <map>
#include <vector>

#include "schedulers/site/sampling/sampling_group.hpp"

namespace muster::sampling {

/// Takes the jobs of a sampling group in, tells its schedulers of them as soon as the workers are
/// there, and its users when they are over. Submitting takes no time.
class GroupSite : public GroupSiteActor::base {
 public:
  /// The group has to outlive the actor.
  GroupSite(caf::actor_config& config, GroupShared& group);
  const char* name() const override { return "muster.group-site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  caf::result<JobId> accept(Job job, const JobListener& user);
  void place(const SharedJob& job);
  void refuse(JobId id, const Refusal& refusal);
  CancelReport cancel(JobId id);
  void tell_over(JobId id, JobOutcome outcome);

  GroupShared& group_;
  ActorTimer<GroupSiteActor, GroupSite> timer_;
  bool open_ = false;
  std::vector<SharedJob> waiting_;      ///< for the group to open
  std::map<JobId, JobListener> users_;  ///< of jobs that are not over
};

}  // namespace muster::sampling
