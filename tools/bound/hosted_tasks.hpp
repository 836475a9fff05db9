#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/catalog.hpp"
#include "model/cluster_state.hpp"
#include "model/constraint.hpp"
#include "model/event.hpp"
#include "replay/metrics/rented_price.hpp"

namespace muster::bound {

/// The tasks that hold resources at one moment, by their demands, and what is rented then.
class HostedTasks {
 public:
  /// Without tasks, at the catalog's prices. The catalog has to outlive this.
  explicit HostedTasks(const Catalog& catalog);
  /// Those of a master's state.
  HostedTasks(const Catalog& catalog, const ClusterState& state);

  /// Takes in the next event of a log. Events that make no sense change nothing.
  void see(const Event& event);

  /// Different demands and constraints, in the order in which they came up; grows.
  const std::vector<Shape>& kinds() const { return kinds_; }
  /// How many tasks of each kind hold resources.
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  /// The least that each type costs now on any market, $/h.
  const std::vector<double>& usd_h() const { return usd_h_; }
  double rented_usd_h() const { return static_cast<double>(rented_) / 1e9; }
  std::uint64_t tasks() const { return tasks_; }
  std::uint64_t instances() const { return billed_; }
  /// The tasks, the prices or what is rented have changed since the last call.
  bool take_changed();

 private:
  struct Task {
    std::uint32_t kind = 0;
    InstanceId on;
    bool holds = false;
  };
  struct Instance {
    metrics::RentedPrice price;
    std::set<TaskId> tasks;
    bool billed = false;
  };

  std::uint32_t kind_of(const Shape& shape);
  void accept(const Job& job);
  void start(TaskId task, InstanceId on);
  void leave(TaskId task);
  void bill(InstanceId instance);
  void end(InstanceId instance);
  void reprice(const Event& event);
  void learn(TypeId type, Market market, const std::string& zone, Price price);

  const Catalog& catalog_;
  std::vector<Shape> kinds_;
  std::map<std::string, std::uint32_t> kind_ids_;
  std::vector<std::uint32_t> counts_;
  std::unordered_map<TaskId, Task> known_;
  std::unordered_map<JobId, std::vector<TaskId>> jobs_;
  std::unordered_map<InstanceId, Instance> rented_instances_;
  std::map<std::tuple<std::uint32_t, Market, std::string>, double> prices_;  ///< of each offering
  std::vector<double> usd_h_;
  std::int64_t rented_ = 0;  ///< nano-dollars an hour
  std::uint64_t tasks_ = 0;
  std::uint64_t billed_ = 0;
  bool changed_ = true;
};

}  // namespace muster::bound
