#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/event.hpp"

namespace muster::metrics {

/// The laws of services in a log: their replicas have no end of their own, each of them has a place
/// or waits and it is known why when its user ends its service, and the disruption budget: one that
/// is ready is stopped only when as many others are ready as its service is to have, less
/// `max_unavailable`, but for an end by its user, by the day's money or by its cloud.
class ServiceCheck {
 public:
  /// Begins in the middle of a log, with the state of that moment.
  void recall(const ClusterState& state);
  /// Takes the next event.
  void see(const Event& event);
  /// One sentence a broken law, in the order of events; not all where there are very many.
  std::vector<std::string> broken() const;

 private:
  struct Replica {
    JobId service;
    InstanceId at;            ///< invalid while it holds nothing
    bool assigned = false;    ///< it is to get a place when that is up
    bool spare = false;       ///< its service has its replicas without it
    bool has_reason = false;  ///< something was said about why it has no place
    bool ready = false;
    bool own_act = true;      ///< it leaves for a reason of the master's own, if it leaves
    std::uint64_t round = 0;  ///< number of those of its cell when it began to wait
    Instant since;
  };
  using Key = std::tuple<std::uint32_t, std::string, std::string>;  ///< cell, user and name
  struct Service {
    std::vector<TaskId> replicas;
    bool terminating = false;
    Key key{};
    std::uint32_t wanted = 0;  ///< replicas that it is to have; 0: the revision is given up
    std::uint32_t max_unavailable = 0;
  };
  /// All revisions of a service.
  struct Revisions {
    std::vector<JobId> jobs;  ///< not over, the oldest first
    std::uint32_t ready = 0;  ///< replicas
  };

  void accept(const Job& job);
  void start(const StartIssued& issued);
  void set_ready(Replica& replica, bool ready);
  void stop(TaskId task);
  void leave(const Event& event, TaskId task);
  void lose_all(InstanceId instance);
  void lose(Replica& replica, bool has_reason);
  void begin_wait(Replica& replica);
  void hold(JobId job, bool held);
  void terminate(JobId job);
  void end(const JobFinished& finished);
  Replica* find(TaskId task);
  std::string at_now(const std::string& what) const;
  void keep(std::string sentence);
  void say(const std::string& what) { keep(at_now(what)); }
  void excuse(InstanceId instance);

  std::unordered_map<TaskId, Replica> replicas_;
  std::unordered_map<JobId, Service> services_;
  std::map<Key, Revisions> revisions_;
  std::unordered_map<InstanceId, std::vector<TaskId>> on_;  ///< some may have left
  std::map<std::uint32_t, std::uint64_t> rounds_;           ///< decided, by cell
  std::map<std::uint32_t, Instant> turn_until_;             ///< a gang's, by cell
  std::vector<std::string> broken_;
  /// Sentences on stops of this moment that broke the budget, by instance: an instance that is
  /// given back for the day's money or its cloud's sake stops its replicas first.
  std::vector<std::pair<InstanceId, std::string>> stopped_{};
  std::uint32_t cell_ = 0;  ///< of the present event
  Instant now_{};
};

}  // namespace muster::metrics
