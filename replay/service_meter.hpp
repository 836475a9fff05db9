#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/event.hpp"
#include "replay/metrics/run_result.hpp"
#include "replay/service_world.hpp"
#include "replay/workload/workload.hpp"

namespace muster::replay {

/// Measures how the services of a run did: folds its log, which says where replicas were and when
/// they were ready, with the truth of the workload, which says what they did there. Events speak by
/// the workload's names. Amounts are summed when something changes: a replica that is ready costs
/// nothing.
class ServiceMeter {
 public:
  ServiceMeter(const JobSource& jobs, ReplicaNoise noise);

  /// Services of the workload.
  std::size_t services() const { return services_.size(); }

  void see(const Event& event);
  /// Nothing where the workload has no services.
  std::optional<metrics::ServiceFigures> finish() const;

 private:
  struct Service {
    JobId id;
    std::shared_ptr<const ServiceTruth> truth;
    std::size_t replicas = 0;
    Instant submit;
    Instant end;  ///< when its user ends it
    bool ended = false;
    std::optional<ServiceSize> right;  ///< the cheapest that reaches its goal
  };
  struct Replica {
    Service* service = nullptr;
    InstanceId at;  ///< invalid while it holds nothing
    Attempt attempt = 0;
    bool running = false;
    bool ready = false;
    bool started_before = false;
    Instant settled_at;
    ReplicaStand stand{};
  };
  using Neighbours = std::vector<Replica*>;

  void accept(const Job& job);
  void start(const StartIssued& issued, Instant now);
  void run(Replica& replica, Instant now);
  void leave(Replica& replica, Instant now);
  void set_ready(Replica& replica, bool ready, Instant now);
  void regroup(Neighbours& neighbours, Instant now);
  void lose_all(InstanceId instance, Instant now);
  void end(const JobFinished& finished, Instant now);
  void settle(Replica& replica, Instant now);
  void add_performance(const Replica& replica, Instant from, Instant until);
  Replica* find(TaskId task);

  ReplicaNoise noise_;
  std::map<JobId, Service> services_;
  std::unordered_map<TaskId, Replica> replicas_;  ///< of services that are not over
  std::unordered_map<JobId, std::vector<TaskId>> tasks_;
  std::unordered_map<InstanceId, std::vector<TaskId>> on_;
  std::map<std::pair<InstanceId, JobId>, Neighbours> neighbours_;
  metrics::ServiceFigures sums_;
};

}  // namespace muster::replay
