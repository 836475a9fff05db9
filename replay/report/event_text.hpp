#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "replay/metrics/occupancy.hpp"
#include "replay/metrics/rented_price.hpp"

namespace muster::report {

/// A log as stories need it: each task and instance, known from the start, and the places of tasks
/// at the point up to which the log was followed.
class EventText {
 public:
  struct Instance {
    TypeId type;
    Market market = Market::on_demand;
    metrics::RentedPrice price{};
    std::optional<Instant> up{}, gone{};
  };
  struct Task {
    const Job* job = nullptr;
    const TaskSpec* spec = nullptr;
  };

  EventText(std::span<const Event> events, const Catalog& catalog);

  /// Moves on past the event.
  void follow(const Event& event);

  const std::map<TaskId, Task>& tasks() const { return tasks_; }
  const std::map<InstanceId, Instance>& instances() const { return instances_; }
  const metrics::Occupancy& occupancy() const { return occupancy_; }

  /// "task 8 (gpt2[3])".
  std::string name(TaskId id) const;
  /// "instance 5 (p3.2xlarge)".
  std::string name(InstanceId id) const;
  /// "alone" or "with task 3 (vit), task 9 (gcn)": the tasks there, but for `except`.
  std::string company(InstanceId id, TaskId except) const;
  /// " [round 12: full]" when the last round was decided less than a second before `now`.
  std::string round_text(Instant now) const;
  /// "instance 5 (p3.2xlarge) at $3.06/h was up for 3.25 h, from day 0 ... to ...: $9.95".
  std::string cost_text(InstanceId id) const;
  /// Bill of the instance until it was gone, or until the end of the log.
  Money cost(InstanceId id) const;

 private:
  Instant end_;
  const Catalog* catalog_;
  std::map<TaskId, Task> tasks_;
  std::map<InstanceId, Instance> instances_;
  metrics::Occupancy occupancy_;
  std::optional<Instant> round_at_;
  RoundDecided round_;
};

}  // namespace muster::report
