#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/cluster.hpp"
#include "tests/simulation/pipeline_users.hpp"
#include "tests/simulation/submission.hpp"

namespace muster::ring {

/// The users: they submit, repeat what is not answered, and change their minds.
class Users {
 public:
  Users(Cluster& cluster, Cluster::Complain complain);

  /// Lets the wishes come true at their times.
  void begin();
  void submit_again(std::uint64_t which);
  void cancel(std::uint64_t which);
  /// Gives up what can never run; again and again until it is over.
  void give_up_hopeless();
  void hold(std::uint64_t which, Duration length);
  void drain(std::uint64_t which);
  void interrupt(std::uint64_t which);

  const std::vector<Submission>& submissions() const { return submissions_; }
  /// Every wish has been answered, and nothing is held any more.
  bool content() const;
  /// The master has confirmed that it holds the job, and its user has not asked it to let go since.
  bool holds(std::uint32_t master, JobId job) const { return holds_.contains({master, job}); }
  /// The same of an instance that is to be drained, for good.
  bool drained(InstanceId instance) const { return drained_.contains(instance); }
  const PipelineUsers& pipelines() const { return pipelines_; }
  std::string trouble() const;

 private:
  /// A submission of a site, as it was asked for.
  struct Asked {
    Instant at;
    std::uint32_t site = 0;
    std::size_t submission = 0;
  };

  /// Once, or twice where users repeat themselves.
  void say(const std::function<void()>& words);
  void submit(std::size_t index);
  std::vector<std::size_t> submitted_with(std::size_t index) const;
  std::optional<Job> job_of(std::size_t index) const;
  void hand(std::size_t index);
  void refuse(std::size_t index);
  void check_name(std::size_t index, Instant asked);
  void end_service(std::size_t index);
  void change_service_of(std::size_t index);
  void scale(std::size_t index, std::uint32_t replicas);
  void update(std::size_t index);
  void take_revision(std::size_t before, Job job);
  void stream_on();
  bool wishes_are_over() const;
  bool may_be_forgotten(std::size_t index) const;
  void cancel_one(std::size_t index);
  void hold_job(JobId job, Duration length);
  void watch(std::size_t index);
  void over(const JobEnd& end);
  void heard(const std::vector<std::size_t>& together,
             const caf::expected<std::vector<SubmitVerdict>>& answer);
  void hear(std::size_t index, const SubmitVerdict* verdict, bool answered);
  PipelineUsers::Host pipelines_host();
  void release(JobId job, std::uint32_t master);
  std::optional<std::size_t> acknowledged(std::uint64_t which) const;
  std::optional<InstanceId> rented(std::uint64_t which) const;

  Cluster& cluster_;
  Cluster::Complain complain_;
  std::vector<Submission> submissions_;
  std::multiset<JobId> held_;  ///< not let go by every master yet
  std::set<std::pair<std::uint32_t, JobId>> holds_;
  std::map<std::pair<std::uint32_t, JobId>, std::uint64_t> releases_;  ///< asked for
  std::set<InstanceId> drained_;
  std::vector<Asked> asked_;
  std::deque<Wish> stream_;       ///< the small jobs that have come so far
  std::deque<Wish> revisions_;    ///< of services, after the first ones
  std::deque<Wish> again_;        ///< resubmissions
  std::set<std::uint32_t> late_;  ///< pipelines without their deadlines
  PipelineUsers pipelines_;
};

}  // namespace muster::ring
