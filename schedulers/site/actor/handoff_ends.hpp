#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/waiting_room.hpp"
#include "schedulers/site/ended_jobs.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// The jobs, and parts of jobs, that end at a site because no master will have them: cancelled
/// before one had them, or refused for good. An end counts from when it is durable.
class HandoffEnds {
 public:
  using Verdicts = std::vector<CancelVerdict>;
  struct Host {
    std::function<Instant()> now;
    /// Whether another site has ever left the job to this one.
    std::function<bool(JobId)> was_forwarded;
    /// An end is durable.
    std::function<void(const EndedHandoff&)> ended;
    /// A cancel of the job is in the store: its other parts are for nothing.
    std::function<void(JobId)> cancel_kept;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> retry;
    /// Is told what a user should know of.
    std::function<void(const std::string&)> note;
  };
  struct Parts {
    const SitePeers& peers;
    SiteWriter& writer;
    JobNumbers& numbers;
    Handoffs& handoffs;
  };
  /// Remembers the newest `most` ends.
  HandoffEnds(const Parts& parts, std::size_t most, Host host);

  /// As the store has them, the oldest first.
  void recall(PastEnds past, std::vector<EndedHandoff> ended);
  const EndedJobs& ended() const { return ended_; }

  /// Ends what can never have left this site, and calls `then` with how each of the jobs stands
  /// here. Messages that may have left have to arrive first: a master that has the job without this
  /// site's knowing would run it.
  void cancel(const std::vector<JobId>& jobs, const std::function<void(const Verdicts&)>& then);
  /// Ends those of the jobs that wait here.
  void skip(const std::vector<SkippedJob>& jobs);
  /// Ends the parts that a peer has refused for good. The other parts of such a job are cancelled:
  /// it cannot be completed any more.
  void refuse(const HandoffTarget& by, const std::vector<SubmitVerdict>& verdicts);

 private:
  using Endings = std::vector<EndedHandoff>;

  CancelVerdict cancel(JobId job, Endings& ended);
  EndedHandoff begin_end(const HandoffTarget& to, JobId job, JobOutcome outcome,
                         std::string reason);
  void persist(SiteNews news, std::function<void(const Endings& ended, bool durable)> then);
  void resume(const Endings& ended);
  void skip_next();
  void skipped(std::vector<SkippedJob> later);

  const Parts parts_;
  Host host_;
  EndedJobs ended_;
  std::deque<SkippedJob> to_skip_;
  bool skips_ = false;  ///< some of these are being ended, or will be after a pause
};

}  // namespace muster
