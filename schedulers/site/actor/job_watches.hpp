#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/interfaces.hpp"
#include "model/expected.hpp"
#include "schedulers/site/ended_jobs.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/site_peers.hpp"

namespace muster {

/// How those who wait for jobs at a site hear of their ends. Masters tell of the parts that they
/// had, and the site of those that no master had; which of them had one does not matter: a job is
/// over when the reported parts have all of its tasks.
class JobWatches {
 public:
  using Ends = std::vector<JobEnd>;
  using Answer = std::function<void(Expected<Ends, ActorError>)>;
  using Heard = std::function<void(const Ends*)>;
  struct Host {
    /// Asks a master of which jobs it has ended parts, or another site which are over; it tells of
    /// the others later. Calls `heard` once; null: no answer came in time.
    std::function<void(const HandoffTarget& whom, std::vector<JobId>, Heard heard)> ask;
    std::function<void(const HandoffTarget& master, const std::vector<JobId>&)> unwatch;
    /// A job is over.
    std::function<void(const JobListener&, const JobEnd&)> tell;
    /// drop() is to be called when the listener ends.
    std::function<void(const JobListener&)> monitor;
    /// The job cannot be completed: its other parts are for nothing.
    std::function<void(JobId)> cancel;
    /// All of the job has ended, whether it was cancelled or not.
    std::function<void(const JobEnd& whole)> over;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> retry;
  };
  struct Parts {
    const SitePeers& peers;
    const JobNumbers& numbers;
    const EndedJobs& ended;  ///< jobs that ended here
  };
  /// `most`: jobs that are watched, by all who watch together.
  JobWatches(const Parts& parts, std::size_t most, Host host);

  /// Answers with those of the jobs that are over, when all masters have answered or have not in
  /// time. The listener is told of the others as they end.
  void watch(const JobListener& listener, const std::vector<JobId>& jobs, Answer answer);
  /// The site itself waits for the jobs: Host::over says when each is over, soon for those that
  /// are. It may be asked again of jobs that it waits for, which repeats the questions.
  void watch_here(const std::vector<JobId>& jobs);
  /// The site waits for the jobs no more.
  void unwatch_here(const std::vector<JobId>& jobs);
  /// A master tells that a part of a job is over, maybe more than once.
  void hear(const JobEnd& end) { over(end, nullptr); }
  /// No master has had the part.
  void ended_here(const EndedHandoff& ended) { part_ended_here(ended, nullptr); }
  /// The listener has ended.
  void drop(const caf::actor_addr& listener);
  void clear();

 private:
  /// A job that is watched, as far as masters have said that parts of it are over.
  struct Subscription {
    std::vector<std::uint32_t> parts{};  ///< by their first tasks
    std::uint32_t tasks = 0;             ///< of these
    JobOutcome outcome = JobOutcome::completed;
    bool here = false;  ///< the site itself waits for it
  };
  /// A watch that waits for what masters say of it.
  struct PendingWatch {
    Answer answer;
    JobListener listener;
    Ends ends{};           ///< of jobs that turned out to be over
    std::size_t open = 0;  ///< masters that have not answered
  };
  /// Questions that a master has not answered.
  struct Unanswered {
    std::set<JobId> jobs{};   ///< watched here, and it has not said whether they are over
    bool asks_again = false;  ///< about these, or will after a pause
  };

  void watch_at(const HandoffTarget& master, std::vector<JobId> jobs,
                std::shared_ptr<PendingWatch> asking);
  void watch_again(const HandoffTarget& master, const std::vector<JobId>& jobs);
  static void answered(PendingWatch& asking);
  void hear_of_ended(const std::vector<JobId>& jobs, PendingWatch* asking);
  void over(const JobEnd& end, PendingWatch* asking);
  void part_ended_here(const EndedHandoff& ended, PendingWatch* asking);
  void unwatch(const std::vector<JobId>& jobs);

  const Parts parts_;
  Host host_;
  JobWatch listeners_;
  std::map<JobId, Subscription> subscriptions_;  ///< of which there are listeners
  PerPeer<Unanswered> unanswered_;
};

}  // namespace muster
