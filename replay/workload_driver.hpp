#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"
#include "model/rng.hpp"
#include "replay/workload/workload.hpp"

namespace muster::replay {

using WorkloadDriverHandle =
    JobListener::extend<caf::reacts_to<Wakeup>, caf::reacts_to<cancel_atom>,
                        caf::reacts_to<cancel_atom, JobId>>;

/// How far the jobs of a run have come. Owned by the run, written by the user actor.
struct RunProgress {
  std::size_t submitted = 0;
  std::size_t over = 0;      ///< completed, failed, refused or not accepted
  std::size_t services = 0;  ///< accepted and not over, which their users will end in time
  std::vector<std::pair<JobId, std::string>> not_accepted;  ///< as the workload calls them
  std::set<JobId> idle;                ///< given up, as nothing ran any more; as it calls them
  std::map<JobId, std::string> never;  ///< given up, for they can never end; as it calls them

  /// Adds the reasons to jobs that did not complete, by the workload's names: of a job that was
  /// given up, `idle_reason` behind the reason why it waited.
  void tell(const std::string& idle_reason,
            std::vector<std::pair<std::string, std::string>>& not_completed) const;
};

struct WorkloadDriverSetup {
  const JobSource* workload = nullptr;
  std::vector<SiteForSubmitters>
      sites;  ///< each job is submitted at one of them, drawn by the seed
  std::uint64_t seed = 1;
  ClockOrigin origin;
  Duration answer_timeout{};  ///< of a site
  Duration retry{};           ///< from a failed try to the next
  double job_delay_scale = 1;
  bool checkpoints = true;  ///< of all jobs
  RunProgress* progress = nullptr;
};

/// Submits the jobs of a workload when their time comes, as the users of a live cluster do, and
/// waits for them to be over, and ends services when their time has come; told to cancel, gives up
/// those that are not, or the one that the workload calls so. The token of a job is
/// its id in the workload, so that trying again never makes two of it.
class WorkloadDriver : public WorkloadDriverHandle::base {
 public:
  WorkloadDriver(caf::actor_config& config, WorkloadDriverSetup setup);
  const char* name() const override { return "muster.user"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// Jobs on their way to one site: one batch at a time.
  struct SubmissionSlot {
    std::deque<std::size_t> due{};  ///< places in the workload
    std::size_t asked = 0;          ///< number of the first ones that are being submitted
    std::uint32_t tries = 0;        ///< of that batch
  };
  /// Jobs with their numbers and their places in the workload.
  using Numbered = std::map<JobId, std::size_t>;

  void submit_due();
  void submit(std::size_t site);
  void hear(std::size_t site, const std::vector<SubmitVerdict>& verdicts);
  void try_again(std::size_t site, const caf::error& error);
  void watch(std::size_t site, std::vector<JobId> jobs, std::uint32_t tries);
  void over(const JobEnd& end);
  void not_accepted(std::size_t rank, const std::string& reason);
  void give_up(JobId id) const;
  Job job(std::size_t rank);
  void await_end(JobId id, std::size_t rank);
  void end_services();

  WorkloadDriverSetup setup_;
  ActorTimer<WorkloadDriverHandle, WorkloadDriver> timer_;
  Rng rng_;
  std::size_t next_ = 0;
  std::vector<SubmissionSlot> slots_;  ///< one a site
  Numbered open_;                      ///< accepted and not over
  /// When the users of services end them, by places in the workload: of those not over.
  std::map<std::size_t, Instant> ends_;
  std::set<std::pair<Instant, JobId>> ending_;  ///< of services that were accepted
};

}  // namespace muster::replay
