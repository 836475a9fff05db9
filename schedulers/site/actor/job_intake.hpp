#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/site_settings.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/job_starts.hpp"
#include "schedulers/site/actor/load_rounds.hpp"
#include "schedulers/site/actor/submission_reply.hpp"
#include "schedulers/site/actor/waiting_room.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/known_submissions.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// Takes jobs in at a site: gives them numbers, knows submissions that are repeated, and sees to it
/// that jobs and the choice of who gets them are durable before anything is said or sent.
class JobIntake {
 public:
  struct Host {
    /// The site that is to see to the job.
    std::function<HandoffTarget(const Job&)> choose_site;
    /// The parts of the job, each with the master that is to have it.
    std::function<std::vector<Handoff>(Job)> split;
    /// Runs the step after that time.
    std::function<void(Duration, std::function<void()> step)> after;
    /// The job is durable and waits here.
    std::function<void(const Job&)> waits;
    /// All jobs are told of that wait here since the last time.
    std::function<void()> all_wait;
    /// The job waited here, and is on its way from now on.
    std::function<void(JobId)> begun;
    /// Whether these jobs, of which some wait for others, may wait here as well.
    std::function<bool(const std::vector<Job>&)> has_room;
    /// That run of the recurring job is on its way.
    std::function<void(JobId job, JobId run)> recurred;
    /// Whether one that was to begin is to begin still.
    std::function<bool(JobId)> may_begin;
    /// Some of the jobs that are to wait here for `again`, a resubmission of the other one.
    std::function<std::vector<WaitingPair>(JobId failed, JobId again, std::size_t most)> kept_for;
    /// The second one is a resubmission of the first, and durable.
    std::function<void(JobId failed, JobId again)> resubmitted;
    std::function<Instant()> now{};
    /// These are durable: the ends of their jobs are to be told.
    std::function<void(std::vector<JobLetter>)> tells{};
  };
  using Parts = JobStarts::Parts;
  /// The settings have to outlive it.
  JobIntake(const Parts& parts, const SiteSettings& settings, Host host);

  /// The store's submissions, and those on their way, which may have left before the
  /// restart: a cancel must not end here what a master may run.
  void recall(std::vector<KnownToken> tokens, NumberSet forwarded, std::vector<Handoff> handoffs);

  /// Takes in jobs of users, or such as another site has numbered and left to this one, when what
  /// is known of the loads is fresh enough to choose by. The answer comes when the jobs are
  /// durable here and, if that does not take too long, with those who are to have them.
  void submit(std::vector<Job> jobs, bool forwarded, const SubmitAnswer& answer);

  /// Jobs that have waited here for others begin, some at a time: their receivers are chosen now.
  /// Repeats itself until that is durable.
  void begin(const std::vector<JobId>& jobs);

  const KnownSubmissions& known() const { return known_; }

 private:
  using Verdicts = std::vector<SubmitVerdict>;
  /// Jobs that come in together: their answers, and the news of them for the store.
  struct News {
    KnownSubmissions::Write write;  ///< number of the write that is to keep the news
    Verdicts verdicts{};
    SiteNews news{};
    /// The writes that have to succeed before the verdicts hold.
    std::set<KnownSubmissions::Write> writes{};

    void add_known(const KnownSubmissions::Known& known);
  };

  void take(std::vector<Job> jobs, bool forwarded, const SubmitAnswer& answer);
  std::optional<News> tokens_of_others(const std::vector<Job>& jobs,
                                       const std::vector<std::uint64_t>& digests) const;
  std::string why_too_late(const std::vector<Job>& jobs) const;
  News news_of(std::vector<Job> jobs, const std::vector<std::uint64_t>& digests);
  News news_of_forwarded(std::vector<Job> jobs);
  void give_numbers(std::vector<Job>& jobs, const std::vector<std::uint64_t>& digests, News& made);
  void choose(Job job, std::vector<Handoff>& handoffs);
  void add_kept(const Job& job, News& made) const;
  JobStarts::Host starts_host();
  void wait_here(Job job);
  std::set<HandoffTarget> put_on_way(std::vector<Handoff> handoffs,
                                     const std::shared_ptr<SubmissionReply>& reply);
  void persist(News news, const SubmitAnswer& answer);
  void hand_over(std::vector<Handoff> handoffs, const std::shared_ptr<SubmissionReply>& reply,
                 KnownSubmissions::Write write, const std::string& trouble);
  void written(KnownSubmissions::Write write, const std::string& trouble);

  const Parts parts_;
  const SiteSettings& settings_;
  Host host_;
  KnownSubmissions known_;
  std::map<KnownSubmissions::Write, std::vector<std::shared_ptr<SubmissionReply>>> awaiting_;
  KnownSubmissions::Write last_write_ = 0;
  JobStarts starts_;
};

}  // namespace muster
