#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/byte_cut.hpp"
#include "actors/messages/messages.hpp"
#include "model/expected.hpp"
#include "schedulers/site/actor/submission_reply.hpp"
#include "schedulers/site/handoff_queue.hpp"
#include "schedulers/site/site_peers.hpp"

namespace muster {

/// A job or a part of one on its way.
struct PendingHandoff {
  Job job;
  std::shared_ptr<SubmissionReply> reply{};  ///< that waits for it; null after a restart
  bool sent = false;                         ///< the receiver may have it
  std::size_t bytes = 0;                     ///< of the job in a message
  bool ending = false;         ///< the record that it will not be handed over is being written
  bool alone = false;          ///< was handed over by itself and not confirmed
  std::uint32_t failures = 0;  ///< messages with it that were not confirmed
};

/// Why there are no verdicts on jobs that were handed over.
enum class HandoffFailure : std::uint8_t {
  never_left,  ///< no receiver can have read the message
  unconfirmed  ///< a receiver that did not answer in time may have the jobs
};

/// The ways out of a site, to masters and to other sites: hands over the jobs on each, one message
/// at a time, until all have a verdict. A job leaves the way with its verdict and at no other time;
/// a receiver that gets it twice drops it by its number.
class Handoffs {
 public:
  /// Tasks of the jobs of one message, unless a single one has more: alike ones take hardly a byte
  /// there, and each its room with who gets them.
  static constexpr std::size_t kMaxTasks = 100'000;

  using Verdicts = std::vector<SubmitVerdict>;
  using Outcome = Expected<Verdicts, HandoffFailure>;
  using Done = std::function<void(const Outcome&)>;
  struct Host {
    /// Calls `done` once.
    std::function<void(const HandoffTarget&, std::vector<Job>, Done done)> hand;
    /// The peer has taken the first and refused the others, which stay on their way until they are
    /// ended.
    std::function<void(const HandoffTarget&, const std::vector<JobId>& taken,
                       const Verdicts& refused)>
        settled;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> retry;
    /// Is told what a user should know of.
    std::function<void(const std::string&)> note;
  };
  /// At most `most` jobs go into a message. The peers and the store have to outlive it.
  Handoffs(const SitePeers& peers, SiteStore& store, std::size_t most, Host host);

  /// False, and nothing changes, when the job is on that way already.
  bool push(const HandoffTarget& to, PendingHandoff handoff);
  /// Hands over the next jobs, unless a message is out.
  void send(const HandoffTarget& to);
  void send_all();

  /// Null when the job is not on that way.
  const PendingHandoff* find(const HandoffTarget& to, JobId job) const;
  const HandoffQueue<PendingHandoff>& queue(const HandoffTarget& to) const;
  /// Without those that wait here.
  std::size_t jobs_in_hand() const;
  /// Jobs that wait here, for others, for a time or to be released; they are on the way to the site
  /// itself, and are not sent.
  std::size_t jobs_waiting() const;
  /// A job that waits here, for changes; null when there is no such job, or it may
  /// have left, or ends.
  Job* waiting_job(JobId job);
  /// Those of the waiting jobs, which may have left from now on. end_waiting() follows for each.
  std::vector<Job> begin_waiting(const std::vector<JobId>& jobs);
  /// The job has other ways out from now on, or waits on.
  void end_waiting(JobId job, bool begun);
  /// Whether a job of that number waits for a master that was submitted as another one. Of those
  /// that have gone on there is only the number.
  bool holds_another(const Job& job) const;

  /// The end of a job that is on that way, which is not handed over any more; end() or resume()
  /// follows.
  EndedHandoff begin_end(const HandoffTarget& to, JobId job, JobOutcome outcome,
                         std::string reason);
  /// It has ended: its listeners need not wait any longer.
  void end(const HandoffTarget& to, JobId job);
  /// Its end could not be kept: it is handed over again.
  void resume(const HandoffTarget& to, JobId job);
  /// Drops all that is on its way, with the answers that wait for it.
  void clear();

 private:
  /// The way to a peer.
  struct Way {
    HandoffQueue<PendingHandoff> waiting{};
    std::size_t most = 0;       ///< jobs of the next message: fewer after one that failed
    std::deque<JobId> alone{};  ///< those that go alone, the one whose turn comes next first
    bool was_alone = false;     ///< the last message was one of these
    bool busy = false;          ///< the peer has been handed jobs and has not answered
  };
  /// Jobs that are handed over by one message.
  struct Batch {
    bool take(PendingHandoff& each, std::size_t most);

    std::vector<Job> jobs{};
    std::vector<JobId> ids{};
    std::vector<JobId> fresh{};  ///< of these, those that were never sent before
    ByteCut cut{};
    std::size_t tasks = 0;
  };

  static Batch next_batch(Way& out);
  static void take_alone(Way& out, Batch& batch);
  void on_verdicts(const HandoffTarget& to, const Verdicts& verdicts);
  void on_failed(const HandoffTarget& to, const std::vector<JobId>& jobs);
  void mark_unsent(const HandoffTarget& to, const std::vector<JobId>& jobs);
  void send_later(const HandoffTarget& to);
  static void arrived(const PendingHandoff& handoff);

  const SitePeers& peers_;
  SiteStore& store_;
  const std::size_t most_;
  Host host_;
  PerPeer<Way> ways_;
};

}  // namespace muster
