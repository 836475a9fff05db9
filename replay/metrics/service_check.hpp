#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"

namespace muster::metrics {

/// The laws of services in a log: their replicas have no end of their own, and each of them has a
/// place or waits and it is known why when its user ends its service.
class ServiceCheck {
 public:
  /// Takes the next event.
  void see(const Event& event);
  /// One sentence a broken law, in the order of events; not all where there are very many.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  struct Replica {
    JobId service;
    InstanceId at;            ///< invalid while it holds nothing
    bool assigned = false;    ///< it is to get a place when that is up
    bool spare = false;       ///< its service has its replicas without it
    bool has_reason = false;  ///< something was said about why it has no place
    std::uint64_t round = 0;  ///< number of those of its cell when it began to wait
    Instant since;
  };
  struct Service {
    std::vector<TaskId> replicas;
    bool terminating = false;
  };

  void accept(const Job& job);
  void start(const StartIssued& issued);
  void leave(const Event& event, TaskId task);
  void lose_all(InstanceId instance);
  void lose(Replica& replica, bool has_reason);
  void begin_wait(Replica& replica);
  void hold(JobId job, bool held);
  void terminate(JobId job);
  void end(const JobFinished& finished);
  Replica* find(TaskId task);
  void say(std::string what);

  std::unordered_map<TaskId, Replica> replicas_;
  std::unordered_map<JobId, Service> services_;
  std::unordered_map<InstanceId, std::vector<TaskId>> on_;  ///< some may have left
  std::map<std::uint32_t, std::uint64_t> rounds_;           ///< decided, by cell
  std::map<std::uint32_t, Instant> turn_until_;             ///< a gang's, by cell
  std::vector<std::string> broken_;
  std::uint32_t cell_ = 0;  ///< of the present event
  Instant now_{};
};

}  // namespace muster::metrics
