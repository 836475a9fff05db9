#pragma once

#include <map>

#include "actors/messages.hpp"

namespace muster {

struct SiteSetup {
  MasterActor master;
  Duration accept_timeout{};  ///< how long a master may take to accept a job
};

/// Takes jobs in at one place of the world. This one passes every job through to its master.
class SiteScheduler : public SiteActor::base {
 public:
  SiteScheduler(caf::actor_config& config, SiteSetup setup);
  const char* name() const override { return "muster.site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  caf::result<JobId> accept(Job job, const JobListener& user);

  SiteSetup setup_;
  std::map<JobId, JobListener> users_;  ///< of jobs that are not over
};

}  // namespace muster
