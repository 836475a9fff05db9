#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/job.hpp"

namespace muster {

/// A job that will not begin, for another did not end as it should have.
struct SkippedJob {
  JobId job;
  std::string reason;
};

/// Which of a site's jobs wait for which others to be over. It keeps no job itself: those are in
/// the store, on the way to the site itself. O(log of all that wait) for each pair of a job and one
/// that it waits for.
class WaitingRoom {
 public:
  struct Host {
    /// hear() is to be called when each is over, soon for those that are.
    std::function<void(const std::vector<JobId>&)> watch;
    std::function<void(const std::vector<JobId>&)> unwatch;
    /// All that these waited for is over as it should be. drop() follows when they have left.
    std::function<void(const std::vector<JobId>&)> begin;
    /// These are to end.
    std::function<void(const std::vector<SkippedJob>&)> skip;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> later;
  };
  /// `most`: jobs that may wait; of one user half of them.
  WaitingRoom(std::size_t most, Host host) : most_(most), host_(std::move(host)) {}

  /// Those of the jobs that wait for others may be added: there are places enough, for their users
  /// too, and the jobs that they wait for are few enough to be remembered.
  bool has_room(const std::vector<Job>& jobs) const;

  /// The job waits here; ask() follows. One that is there already stays as it is.
  void add(const Job& job);
  /// Asks how those stand that jobs wait for. Goes on by itself as long as any job waits, for who
  /// was to say that a job is over may have lost count of that.
  void ask();
  /// A job is over, however often that is said.
  void hear(const JobEnd& whole);
  /// The job waits no more: it has begun, or has ended.
  void drop(JobId job);

  /// The job waits for others.
  bool waits(JobId job) const { return open_.contains(job); }
  /// Which jobs it waits for still, in words; empty: it waits for no job.
  std::string why(JobId job) const;

 private:
  void leave(const std::vector<AfterJob>& open, JobId job, std::vector<JobId>& unneeded);
  void look_again();

  struct Waiting {
    std::string user{};
    std::vector<AfterJob> open{};  ///< jobs that it waits for and that are not over
  };

  const std::size_t most_;
  Host host_;
  std::map<JobId, Waiting> open_;
  std::map<std::string, std::size_t> of_users_;  ///< how many wait
  std::set<std::pair<JobId, JobId>> followers_;  ///< a job and one that waits for it
  std::set<JobId> unasked_;                      ///< it has not been asked how they stand
  bool looks_ = false;                           ///< look_again() is to come
};

}  // namespace muster
