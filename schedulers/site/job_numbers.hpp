#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/live_ids.hpp"
#include "schedulers/site/recent_jobs.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// The numbers of a site's jobs, also where its store may not know how far they have come: it was
/// made anew or is a backup, or somebody has another job of a number. Then nothing is numbered
/// before all who may have jobs of this site have said which is the newest that ever came to them,
/// and that is durable.
class JobNumbers {
 public:
  struct Host {
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> retry;
    /// Everybody is to be asked soon for the newest numbers.
    std::function<void()> ask_soon;
    /// Is told what a user should know of.
    std::function<void(const std::string&)> note;
  };
  /// `max_waiting`: jobs that may wait here, of which only users have been told.
  JobNumbers(const SitePeers& peers, SiteWriter& writer, std::uint64_t max_waiting, Host host);

  /// The numbers that the store remembers. With `asks` the next number may be too low.
  void recall(std::uint64_t next, bool asks);

  /// While it is so, nothing may be numbered.
  bool learns() const { return learns_; }
  /// Why nothing is numbered at present, in a few words.
  std::string who_is_learnt_from() const;
  /// The number is spent from here on.
  JobId give() { return job_id_of(peers_.number(), next_++); }
  /// The next number, which the store has to know before a job that was numbered is promised.
  std::uint64_t next() const { return next_; }
  /// Whether the job may be one of this site's. As long as it is not known, every job may be.
  bool has_given(JobId job) const;

  /// The number is another job's as well: it is not to be cancelled. Those of jobs that another
  /// site has numbered are told to that site with every load report.
  void note_conflict(JobId job);
  bool is_conflict(JobId job) const { return conflicts_.contains(job); }
  std::vector<JobId> conflicts_of_others() const { return conflicts_of_others_.oldest_first(); }
  /// Somebody has another job of that number. True: numbers are learnt anew, which the caller
  /// makes durable.
  bool learn_of_conflict(JobId job);
  /// A peer's word: numbers that are two jobs there, and the newest job of each site.
  void hear(const HandoffTarget& from, const std::vector<JobId>& conflicts,
            const std::vector<JobId>& newest);

 private:
  /// As many conflicts are remembered as jobs that are known to be over.
  static constexpr std::size_t kMaxConflicts = 10'000;
  /// As many as go into a load report.
  static constexpr std::size_t kMaxTold = 1'000;

  void learn();
  void hear_newest(const HandoffTarget& from, const std::vector<JobId>& newest);
  void persist();

  const SitePeers& peers_;
  SiteWriter& writer_;
  const std::uint64_t max_waiting_;
  Host host_;
  std::uint64_t next_ = 1;
  bool learns_ = false;             ///< next_ may be too low
  std::set<HandoffTarget> untold_;  ///< masters and sites that have to be heard before it is right
  RecentJobs conflicts_{kMaxConflicts};
  RecentJobs conflicts_of_others_{kMaxTold};  ///< of these, those that other sites have numbered
};

}  // namespace muster
