#pragma once

#include <caf/all.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "serve/api/backend.hpp"
#include "serve/node/gather.hpp"
#include "serve/node/last_answers.hpp"
#include "serve/node/merge_jobs.hpp"

namespace muster {

/// Whom a look at jobs asks, and how it says who has not answered.
struct JobAsks {
  caf::actor_system& system;
  SiteForSubmitters own_site;           ///< says when a job is over
  std::vector<SiteForUsers> sites;      ///< all, in the order of the config
  std::vector<MasterForUsers> masters;  ///< likewise
  Duration timeout{};                   ///< for an answer
  /// Notes who has answered, and tells those who have not.
  std::function<Silent(const Answered& masters, const Answered& sites)> silent;
  /// The answer about a job of which no node that answered has a part.
  std::function<api::Answer(JobId job, const Answered& masters, bool all_answered)> unknown;
  std::function<Instant()> now{};
};

/// Views of jobs and their tasks, which masters and sites have in parts: pages are asked for in
/// pieces, so that no site or master writes out much at once. Has to outlive the actors that ask.
class JobLooks {
 public:
  explicit JobLooks(JobAsks asks) : asks_(std::move(asks)) {}

  /// A page of jobs.
  void look_at_jobs(const api::View& what, api::Reply reply);
  /// A job that some node knows.
  struct KnownJob {
    std::string user;
    bool recurs = false;  ///< and is not over
  };
  /// Jobs that no node knows which answers are not among them.
  using Users = std::map<JobId, KnownJob>;
  void find_users(const std::vector<JobId>& jobs,
                  std::function<void(const Users& users, bool all_answered)> done);
  /// A job with a page of its tasks, explained or not, at once or when it is over.
  void look_at_job(const api::View& what, api::Reply reply);

 private:
  struct JobsLook;
  struct JobLook;
  void ask_for_jobs(const std::shared_ptr<JobsLook>& look, const JobsQuestion& wanted,
                    std::function<void(bool any_master, merge::Jobs)> use);
  void add_jobs(const std::shared_ptr<JobsLook>& look);
  void take_jobs(const std::shared_ptr<JobsLook>& look, const merge::ListedPage& page);
  void add_tasks(const std::shared_ptr<JobLook>& look);
  void put_together(const std::shared_ptr<JobLook>& look, Answers<JobsView> sites,
                    Answers<JobDetails> masters);
  void take_tasks(const std::shared_ptr<JobLook>& look, std::optional<merge::WholeJob> piece);
  void finish_job(const std::shared_ptr<JobLook>& look);

  JobAsks asks_;
};

}  // namespace muster
