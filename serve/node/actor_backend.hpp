#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"
#include "config/cluster_config.hpp"
#include "serve/api/backend.hpp"
#include "serve/node/found_job.hpp"
#include "serve/node/gather.hpp"
#include "serve/node/job_looks.hpp"
#include "serve/node/job_owners.hpp"
#include "serve/node/keep_asking.hpp"
#include "serve/node/last_answers.hpp"
#include "serve/node/merge.hpp"
#include "serve/notify/cap_watch.hpp"
#include "serve/notify/node_post.hpp"

namespace muster {

/// The actors of the cluster as the API speaks to them.
struct ClusterHandles {
  SiteForSubmitters own_site;           ///< takes the jobs of this API
  std::vector<SiteForUsers> sites;      ///< all, in the order of the config
  std::vector<MasterForUsers> masters;  ///< likewise
  std::vector<std::uint32_t> numbers;   ///< of the masters, in ids
  CloudForUsers cloud;
  /// Whether a node of the config is linked (or this one).
  std::function<bool(const std::string& node)> connected;
  const Catalog* catalog = nullptr;        ///< the catalog; null: not known here
  Fleet fleet{};                           ///< of all masters together
  Fleet largest_share{};                   ///< of one master: a gang is never split
  std::filesystem::path day_costs{};       ///< file for what users cost on a day; empty: not kept
  const notify::NodePost* post = nullptr;  ///< sends the messages of the own site; may be null
  notify::CapWatch* caps = nullptr;        ///< hears what is spent; may be null
};

/// Answers the API by asking actors.
class ActorBackend final : public api::Backend {
 public:
  /// System and config have to outlive it, and it the actors that ask for it: the system's, once
  /// those that are asked have been ended.
  ActorBackend(caf::actor_system& system, const ClusterConfig& config, ClusterHandles handles,
               ClockOrigin origin);
  ~ActorBackend() override;
  ActorBackend(const ActorBackend&) = delete;
  ActorBackend& operator=(const ActorBackend&) = delete;

  /// From now on asks masters and sites for their figures by itself, too, so that it knows since
  /// when one is silent, and a master's last figures, without a user's question.
  void keep_asking();
  void end_asking();

  void submit(std::vector<Job> jobs, api::Reply reply) override;
  void resubmit(const api::Again& what, api::Reply reply) override;
  void owner(JobId job, std::function<void(api::JobOwner)> reply) override;
  void change_job(JobId job, api::JobChange change, api::Reply reply) override;
  void change_service(api::ServiceChange what, api::Reply reply) override;
  void change_instance(InstanceId instance, api::InstanceChange change, api::Reply reply) override;
  void read_log(const api::LogQuery& query, api::Reply reply) override;
  void exec(const api::ExecQuery& query, api::Reply reply) override;
  void plan(Job job, api::Reply reply) override;
  void view(const api::View& what, api::Reply reply) override;
  void metrics(std::function<void(std::optional<api::MetricsInput>)> reply) override;

 private:
  JobPlaces places() const;
  /// Calls `use` with a task that a master has; else the reply says why there is no such one.
  struct TaskPlace {
    MasterForUsers master;
    TaskId task;
  };
  void find_task(JobId job, std::uint32_t index, const api::Reply& reply,
                 std::function<void(const TaskPlace&)> use);
  void say_what_is_missing(JobId job, const api::Reply& reply);
  void check(std::vector<Job> jobs, bool again, api::Reply reply);
  void hand_in(std::vector<Job> jobs, bool again, api::Reply reply);

  void cancel_job(JobId job, const api::Reply& reply);
  void view_instances(api::Reply reply);
  void add_instances(std::size_t master, std::shared_ptr<InstancesView> so_far,
                     std::function<void(caf::expected<InstancesView>)> done);
  template <class View, class Merge, class... Question>
  void gather(api::Reply reply, Merge merge, const Question&... question);
  void view_cost(const api::View& what, api::Reply reply);
  void view_life(const api::View& what, api::Reply reply);
  void view_decisions(const api::View& what, api::Reply reply);
  /// Asks the masters that question, and the sites for their figures.
  template <class Question>
  void figures(Question of_masters,
               std::function<void(Answers<CellFigures>, Answers<SiteFigures>)> use);
  /// Notes who has answered, and tells those who have not; no `sites`: they were not asked.
  Silent silent(const Answered& masters, const Answered& sites);
  JobAsks job_asks();
  std::vector<NodeView> node_list(const Answers<CellFigures>& masters) const;
  Instant now() const;

  caf::actor_system& system_;
  const ClusterConfig& config_;
  ClusterHandles handles_;
  ClockOrigin origin_;
  Duration timeout_;
  std::shared_ptr<LastAnswers> last_;
  const AskedParts asked_;
  JobOwners owners_;
  JobLooks looks_;
  std::atomic<std::uint32_t> lookers_{0};  ///< threads that look at work folders
  caf::actor asker_;                       ///< while it keeps asking
};

}  // namespace muster
