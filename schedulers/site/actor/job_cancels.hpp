#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/expected.hpp"
#include "schedulers/site/ended_jobs.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/open_cancels.hpp"
#include "schedulers/site/recent_jobs.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// The cancels of a site: each is kept, and repeated until everybody has confirmed it who may have
/// a part of the job. Masters are asked once the outcome of the write is known, for a master may
/// have told of the job's end and tells no more of it once it was asked.
class JobCancels {
 public:
  using Verdicts = std::vector<CancelVerdict>;
  using Answer = std::function<void(Expected<CancelReport, ActorError>)>;
  using Heard = std::function<void(const Verdicts&)>;
  struct Host {
    /// Asks a master or a site, this one too, to cancel; `heard` is called once, with no verdict
    /// when no answer came in time.
    std::function<void(const HandoffTarget&, std::vector<JobId>, Heard heard)> ask;
    /// Runs the step after that time.
    std::function<void(Duration, std::function<void()> step)> after;
  };
  struct Bounds {
    Duration answer_after{};     ///< a user's cancel is answered then, whoever has confirmed it
    Duration retry{};            ///< from an answer that did not settle everything to the next try
    std::size_t most_asked = 0;  ///< jobs of a message
    std::size_t most_open = 0;   ///< more are refused
    std::uint32_t site_numbers = 0;  ///< those of all sites are lower; 0: unknown
  };
  struct Parts {
    const SitePeers& peers;
    SiteWriter& writer;
    SiteStore& store;
    const JobNumbers& numbers;
    const EndedJobs& ended;  ///< jobs that ended here
  };
  JobCancels(const Parts& parts, const Bounds& bounds, Host host);

  /// The store has the cancel. All are asked again from the beginning: a master that confirmed
  /// before a restart confirms again.
  void recall(JobId job);

  /// Cancels the job. Answers when everybody has confirmed it, or after a while, if it is durable
  /// by then, with the names of those who have not. Without an answer no caller waits.
  void cancel(JobId id, const Answer& answer);
  /// The site itself cancels the job, which has no open cancel or one that is repeated with this.
  void begin(JobId id);
  /// A cancel of the job is in the store.
  void on_kept(JobId id);
  bool is_open(JobId id) const { return cancels_.contains(id); }

  /// Asks everybody who has not confirmed: one message at a time to each.
  void ask_all();
  /// The peer is asked again at once if it rests after an answer that did not settle everything.
  void end_rest(const HandoffTarget& whom);

  /// All of the job has ended: its cancel needs no question, as far as that is remembered.
  void note_over(JobId job) { over_.add(job); }

 private:
  static constexpr std::size_t kMaxOver = 10'000;  ///< jobs that are known to be over
  /// Somebody who waits for a cancel.
  struct Waiter {
    Answer answer;
    bool due = false;  ///< has waited long enough
    bool given = false;
  };
  /// The state of an open cancel here.
  struct Open {
    bool durable = false;
    std::string trouble{};  ///< why it is not, if that is known
    std::vector<std::shared_ptr<Waiter>> waiters{};
  };

  std::optional<CancelStanding> known_standing(JobId job) const;
  void write(JobId id);
  void ask(const HandoffTarget& to);
  void on_verdicts(const HandoffTarget& from, const std::vector<OpenCancels::Asked>& asked,
                   const Verdicts& verdicts);
  void end(JobId id);
  void answer_due(JobId id);

  const Parts parts_;
  const Bounds bounds_;
  Host host_;
  OpenCancels cancels_;
  std::map<JobId, Open> open_;          ///< each open cancel
  std::map<HandoffTarget, bool> busy_;  ///< has been asked and has not answered, or rests
  std::set<HandoffTarget> resting_;     ///< of these, those that rest
  RecentJobs over_{kMaxOver};           ///< all of which has ended
};

}  // namespace muster
