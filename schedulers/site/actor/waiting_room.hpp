#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/job.hpp"
#include "schedulers/site/job_pairs.hpp"
#include "schedulers/site/resubmissions.hpp"
#include "schedulers/site/user_counts.hpp"

namespace muster {

/// A job that will not begin: another did not end as it should have, or its deadline has passed.
struct SkippedJob {
  JobId job;
  std::string reason;
  JobOutcome outcome = JobOutcome::skipped;
};

/// A job that waits for another, and that other one.
struct WaitingPair {
  JobId job;
  JobId other;
  JobId instead{};       ///< it waits for this one in its place from now on; not valid: for no job
  bool started = false;  ///< the other one has, and nothing more is known
  bool unheard = false;  ///< not from now on, but once it hears that the other failed

  /// Puts that into the record of the job.
  void put_in(std::vector<AfterJob>& after) const;

  friend bool operator==(const WaitingPair&, const WaitingPair&) = default;
};

/// How many jobs may wait; of one user half of them.
struct WaitingBounds {
  std::size_t jobs = 0;
  std::size_t recurring = 0;  ///< of these, that recur, of one user
};

/// A job of the waiting room, which is WaitingRoom's alone.
struct WaitingJob {
  std::string user{};
  std::vector<AfterJob> open{};  ///< jobs that it waits for and that are not over
  std::string kept{};            ///< why it waits for a resubmission; empty: it does not
  Instant begin{};               ///< not before that; of a recurring job its next run
  Instant deadline = Instant::max();
  std::string every{};  ///< when it recurs; empty: it does not
  std::string zone{};
  std::optional<JobId> run{};  ///< of a recurring one, if it is not over
  bool overlaps = false;
  bool keeps = false;   ///< it may wait for resubmissions
  bool held = false;    ///< by its user
  bool begins = false;  ///< it has been told to
  bool ends = false;    ///< likewise
  bool missed = false;  ///< a run of a recurring job is to be made up for when the last is over
};

/// Which of a site's jobs wait, for which others to be over, for which time, or to be released. It
/// keeps no job itself: those are in the store, on the way to the site itself. O(log of all that
/// wait) for each pair of a job and one that it waits for.
class WaitingRoom {
 public:
  struct Host {
    /// hear() is to be called when each is over, soon for those that are.
    std::function<void(const std::vector<JobId>&)> watch;
    std::function<void(const std::vector<JobId>&)> unwatch;
    /// All that these waited for is over as it should be, and their time has come. drop() follows
    /// when they have left; recurred(), where they recur.
    std::function<void(const std::vector<JobId>&)> begin;
    /// These are to end.
    std::function<void(const std::vector<SkippedJob>&)> skip;
    /// hear_start() is to be called of each of unstarted(), until they are no more.
    std::function<void()> await_starts;
    /// The other one is over as it should be, or has been resubmitted. Soon kept, so that it is
    /// known after a restart, however short histories are.
    std::function<void(const WaitingPair&)> met;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> later;
    /// look_at_clock() is to be called at that time, if not before.
    std::function<void(Instant)> wake;
    std::function<Instant()> now;
  };
  WaitingRoom(const WaitingBounds& most, Host host) : most_(most), host_(std::move(host)) {}

  /// The job is to wait at the site before a master gets it.
  static bool is_for(const Job& job, Instant now);
  /// Those of the jobs that are to wait may be added: there are places enough, for their users too,
  /// and the jobs that they wait for are few enough to be remembered.
  bool has_room(const std::vector<Job>& jobs) const;

  /// The job waits here; ask() follows. One that is there already stays as it is.
  void add(const Job& job);
  /// Asks how those stand that jobs wait for. Goes on by itself as long as any job waits, for who
  /// was to say that a job is over may have lost count of that.
  void ask();
  /// A job is over, however often that is said.
  void hear(const JobEnd& whole);
  /// A task of the job has started, however often that is said.
  void hear_start(JobId other);
  /// The jobs whose first starts others wait for, after that one; as many at most.
  std::vector<JobId> unstarted(JobId after, std::size_t most) const {
    return unstarted_.others(after, most);
  }
  /// Some time has come.
  void look_at_clock();
  /// Whether the user holds it. It begins when it is released, if nothing else is in the way.
  void hold(JobId job, bool held);
  /// A run of the recurring job is on its way.
  void recurred(JobId job, JobId run);
  /// Those of the jobs for whose ends no other waits.
  std::vector<JobId> unneeded(std::vector<JobId> jobs) const;
  /// The job waits no more: it has begun, or has ended.
  void drop(JobId job);

  /// Those that are to wait for `again`, a resubmission of the job, and in whose place; no more
  /// than that. Some wait for a resubmission already, others have not heard yet how the job ended.
  std::vector<WaitingPair> kept_for(JobId failed, JobId again, std::size_t most) const;
  /// That is this one: all that wait for one, and those that hear later that the first has failed,
  /// wait for it. ask() follows.
  void resubmitted(JobId failed, JobId again);

  bool waits(JobId job) const { return open_.contains(job); }
  /// It was told to begin, and nothing has come between.
  bool may_begin(JobId job) const;
  bool is_held(JobId job) const;
  /// Why it waits still, in words; empty: it does not wait.
  std::string why(JobId job) const;

 private:
  void recall_runs(const Job& job, WaitingJob& waiting);
  void leave(const std::vector<AfterJob>& open, JobId job, std::vector<JobId>& unneeded);
  void look_again();
  std::optional<SkippedJob> hear_of(JobId job, const JobEnd& end, std::vector<JobId>& unneeded);
  void wait_instead(JobId job, JobId failed, JobId again);
  void put_time(JobId job, const WaitingJob& waiting);
  void take_time(JobId job);

  const WaitingBounds most_;
  Host host_;
  std::map<JobId, WaitingJob> open_;
  UserCounts of_users_;                        ///< how many wait
  UserCounts recurring_of_;                    ///< of these, how many recur
  JobPairs followers_;                         ///< a job and one that waits for it
  JobPairs keepers_;                           ///< of these, those that may wait for resubmissions
  JobPairs unstarted_;                         ///< of these, those that wait for its start
  JobPairs kept_;                              ///< one that failed, and one that waits for another
  std::set<std::pair<Instant, JobId>> times_;  ///< when each is to be looked at, if at a time
  std::map<JobId, Instant> time_of_;           ///< of those in times_
  Resubmissions again_;                        ///< of jobs whose failure may not have been heard
  std::set<JobId> unasked_;                    ///< it has not been asked how they stand
  bool looks_ = false;                         ///< look_again() is to come
};

}  // namespace muster
