#pragma once

#include <deque>
#include <functional>
#include <set>
#include <vector>

#include "config/site_settings.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/load_rounds.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"

namespace muster {

/// Jobs that have waited at a site begin, some at a time: in one write their receivers are chosen
/// and they wait no more. Of a recurring job a run begins, which is a job of its own, and it waits
/// on.
class JobStarts {
 public:
  struct Host {
    /// Adds who is to get the job, or its parts.
    std::function<void(Job, std::vector<Handoff>&)> choose;
    /// They are durable, and on their way; the peers that have them.
    std::function<std::set<HandoffTarget>(std::vector<Handoff>)> send;
    /// Runs the step after that time.
    std::function<void(Duration, std::function<void()> step)> after;
    /// Whether one that was to begin is to begin still.
    std::function<bool(JobId)> may_begin;
    /// The job waited here, and is on its way from now on.
    std::function<void(JobId)> begun;
    /// That run of the recurring job is on its way.
    std::function<void(JobId job, JobId run)> recurred;
    /// The ends of these are to be told.
    std::function<void(std::vector<JobLetter>)> tells;
    std::function<Instant()> now;
  };
  struct Parts {
    const SitePeers& peers;
    SiteWriter& writer;
    JobNumbers& numbers;
    LoadRounds& rounds;
    Handoffs& handoffs;
  };
  /// The settings have to outlive it.
  JobStarts(const Parts& parts, const SiteSettings& settings, Host host)
      : parts_(parts), settings_(settings), host_(std::move(host)) {}

  /// Repeats itself until that is durable.
  void begin(const std::vector<JobId>& jobs);

 private:
  void begin_next();
  void begin_later();
  void place(std::vector<JobId> jobs);
  void placed(const std::vector<JobId>& jobs, SiteNews news, bool durable);
  void add_run(Job job, SiteNews& news);

  const Parts parts_;
  const SiteSettings& settings_;
  Host host_;
  std::deque<JobId> to_begin_;
  bool begins_ = false;  ///< some of these are being placed, or will be after a pause
};

}  // namespace muster
