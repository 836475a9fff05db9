#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "masters/services/autoscaler.hpp"
#include "masters/services/rollout.hpp"
#include "masters/tasks/job_ends.hpp"
#include "masters/tasks/restarts.hpp"
#include "model/feasible.hpp"

namespace muster {

/// Answer of a master to a wish to change a service.
enum class ServiceResult : std::uint8_t {
  done,
  unknown,      ///< no such service, or it is ending
  too_many,     ///< more replicas than its job has tasks for
  out_of_range  ///< its goal chooses between other numbers
};

/// Gives the services of a master the replicas that they are to have: others where some have to
/// leave, another revision for the one before. See next_step(). O(tasks of a service) for each
/// event of a service that is not steady, and of no other.
class Services final : public EventListener {
 public:
  Services(MasterRecorder& recorder, TaskOrders& tasks, InstanceReleases& releases, JobEnds& ends);

  /// It follows a master that has died: news of its replicas are heard anew, which takes a while.
  void take_over() { takes_over_ = true; }
  /// Takes the steps that are due, and lets replicas that have rested wait for a place again;
  /// whether tasks came to wait for one.
  bool advance(Instant now);
  /// When time alone brings the next one.
  std::optional<Instant> next() const;

  /// Revisions of a service that are not over, at the most.
  static constexpr std::size_t kMostRevisions = 4;
  /// Whether the service may come, or the revision of one: no other one has its name, and its
  /// service is there. Says of a revision which one it follows now, and its number.
  bool admit(Job& job) const;
  /// The service of that job is to have this number of replicas.
  ServiceResult scale(JobId id, std::uint32_t replicas, Instant now);
  /// The replica is to leave where it runs, as soon as others do without it. False: it does not
  /// run, or is no replica.
  bool relieve(const TaskRow& task, CauseCode why, Instant now);
  /// Likewise all replicas on the instance, whose worker is silent.
  void relieve_silent(InstanceId id, Instant now);
  /// A task that stands in for the replica, which is to run in another place: wanted, without a
  /// place. Nothing: its service has no task to spare that may run there.
  std::optional<TaskId> stand_in(const Placing& elsewhere, const Cause& why, Instant now);

  void before(const Event& event, const MasterFacts& facts) override;
  void after(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  using Key = std::pair<std::string, std::string>;  ///< user and name
  struct Known {
    std::vector<JobId> revisions{};  ///< not over, the oldest first
    std::optional<Instant> look_again{};
  };

  static Key key_of(const JobRow& job) { return {job.job.user, job.job.name}; }
  const ClusterState& state() const { return recorder_.facts().state; }
  void touch(const JobRow& job);
  void touch(TaskId id);
  void set_look(const Key& key, Known& known, std::optional<Instant> when);
  bool step(const Key& key, Instant now);
  void unwant(TaskId id, CauseCode why, Instant now);

  MasterRecorder& recorder_;
  TaskOrders& tasks_;
  InstanceReleases& releases_;
  JobEnds& ends_;
  Restarts restarts_;
  Autoscaler autoscaler_;
  std::map<Key, Known> services_;
  std::set<Key> due_;                          ///< something has happened to them
  std::set<std::pair<Instant, Key>> by_time_;  ///< those that time alone may bring a step
  bool takes_over_ = false;
  std::optional<Instant> began_;  ///< when this master looked first
};

}  // namespace muster
