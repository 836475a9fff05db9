#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
#include "model/rng.hpp"
#include "tools/replay/workload/workload.hpp"

namespace muster::replay {

using UserHandle = JobListener::extend<caf::reacts_to<Wakeup>, caf::reacts_to<cancel_atom>>;

/// How far the jobs of a run have come. Owned by the run, written by the user actor.
struct Board {
  std::size_t submitted = 0;
  std::size_t over = 0;  ///< completed, failed, refused or not accepted
  std::vector<std::pair<JobId, std::string>> not_accepted;
};

struct UserSetup {
  const JobSource* workload = nullptr;
  std::vector<SiteActor> sites;  ///< each job is submitted at one of them, drawn by the seed
  std::uint64_t seed = 1;
  ClusterEpoch epoch;
  Duration answer_timeout{};
  double job_delay_scale = 1;
  Board* board = nullptr;
};

/// Submits the jobs of a workload when their time comes and waits for them to be over; told to
/// cancel, gives up those that are not.
class User : public UserHandle::base {
 public:
  User(caf::actor_config& config, UserSetup setup);
  const char* name() const override { return "muster.user"; }
  void on_exit() override { setup_.sites.clear(); }

 protected:
  behavior_type make_behavior() override;

 private:
  void submit_due();
  void submit(const WorkloadJob& entry);

  UserSetup setup_;
  ActorTimer<UserHandle, User> timer_;
  Rng rng_;
  std::size_t next_ = 0;
  std::set<JobId> open_;  ///< accepted and not over
};

}  // namespace muster::replay
