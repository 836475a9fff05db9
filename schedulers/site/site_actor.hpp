#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/clock.hpp"
#include "actors/messages.hpp"
#include "storage/site_book.hpp"

namespace muster {

/// What a live site scheduler has besides what a replayed one has.
struct SiteLife {
  std::string name;
  std::uint32_t index = 0;       ///< of the site in its cluster: its jobs are numbered apart
  Duration load_every{};         ///< masters are asked for their load so often; 0: never
  Duration load_stale_after{};   ///< a master that has not answered for so long is taken for lost
  Duration hand_retry{};         ///< from a master's not answering to the next try
  std::size_t hand_batch = 500;  ///< jobs handed to a master at once
  std::size_t max_waiting = 100'000;  ///< jobs that no master has yet; more are not taken
};

struct SiteSetup {
  std::vector<MasterActor> masters;
  Duration accept_timeout{};  ///< how long a master may take to accept a job
  ClusterEpoch epoch;
  SiteBook* book = nullptr;
  SiteLife life;
};

/// Takes jobs in at one place of the world and passes each on to a master. A job that came by
/// `hand` is answered for here, over restarts, until its master has it: the same master always, the
/// least loaded one that was heard of when the job came.
class SiteScheduler : public SiteActor::base {
 public:
  SiteScheduler(caf::actor_config& config, SiteSetup setup);
  const char* name() const override { return "muster.site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// What is known of a master.
  struct Standing {
    LoadReport load;
    std::optional<Instant> heard_at;
    std::uint64_t given = 0;  ///< jobs given to it since it was heard
    std::deque<Job> waiting;  ///< jobs that it has not taken yet
    bool busy = false;        ///< it has been handed jobs and has not answered
  };

  Instant now() const { return timer_.now(); }
  caf::result<JobId> accept(Job job, const JobListener& user);
  caf::result<std::vector<AcceptVerdict>> take(std::vector<Job> jobs);
  JobId number(Job& job);
  std::uint32_t choose_master();
  void hand_over(std::uint32_t master);
  void taken(std::uint32_t master, const std::vector<AcceptVerdict>& verdicts);
  void ask_loads();
  void cancel(JobId id);
  std::string answer(const Query& query) const;

  SiteSetup setup_;
  ActorTimer<SiteActor, SiteScheduler> timer_;
  std::map<JobId, JobListener> users_;  ///< of jobs that are not over
  std::vector<Standing> masters_;
  std::map<std::string, JobId> tokens_;
  std::set<JobId> cancelled_;  ///< while no master had them
  std::uint64_t next_job_ = 1;
  std::uint64_t handed_ = 0;  ///< jobs that masters have taken
};

}  // namespace muster
