#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/money.hpp"
#include "replay/metrics/elastic_work.hpp"
#include "replay/metrics/occupancy.hpp"
#include "replay/metrics/rented_price.hpp"

namespace muster::metrics {

/// How much is rented, held and spent at one point of a log.
class FleetLevels {
 public:
  explicit FleetLevels(const Catalog& catalog)
      : catalog_(&catalog), up_by_type_(catalog.size(), 0) {}

  void apply(const Event& event);

  /// Tasks that hold resources / instances that are up and not being ended; nothing without one.
  std::optional<double> tasks_per_instance() const;
  /// Resources held by those tasks / resources of those instances; nothing when they have none of
  /// the kind.
  std::optional<double> allocation(Resource kind) const;
  /// Resources that those tasks hold, and that those instances have.
  const Resources& used() const { return used_; }
  const Resources& capacity() const { return capacity_; }
  /// Resources of instances that are wanted: from the order to the decision to give them back.
  const Resources& rented() const { return rented_; }
  /// Capacity x hours of the instances that are gone, as they were billed.
  const Resources& billed_h() const { return billed_h_; }
  /// The sum of the speedups that elastic jobs have of the workers that they hold; see ElasticWork.
  std::optional<double> speedups() const { return elastic_.speedups(); }
  /// Billed instances by position of their type in the catalog.
  const std::vector<std::uint32_t>& up_by_type() const { return up_by_type_; }
  /// Cost until `now`, which is not before the last event.
  Money spent(Instant now) const { return spent_ + Money::of(rate_, now - settled_); }
  /// How long each instance that is gone was billed, in hours, in the order of their ends.
  const std::vector<double>& uptimes_h() const { return uptimes_h_; }
  std::uint64_t launched() const { return launched_; }

 private:
  struct Instance {
    TypeId type;
    RentedPrice price{};
    std::optional<Instant> up_since{};
    bool serving = false;  ///< up and not being ended
    bool wanted = true;    ///< no decision to give it back was made
  };

  void come_up(Instance& instance, Instant now, Instant billed_from);
  void stop_serving(Instance& instance);
  void give_back(InstanceId id);
  void go(InstanceId id, Instant now, Instant billed_until);
  void reprice(const Event& event);
  void hold(const StartIssued& start);
  void release(TaskId task);

  const Catalog* catalog_;
  Occupancy occupancy_;
  std::unordered_map<InstanceId, Instance> instances_;
  std::unordered_map<TaskId, Resources> held_;
  Resources used_, capacity_, rented_, billed_h_;
  std::uint64_t wanted_ = 0;
  ElasticWork elastic_;
  std::uint64_t serving_ = 0;
  std::vector<std::uint32_t> up_by_type_;
  Money spent_;
  Price rate_;  ///< of all billed instances together
  Instant settled_;
  std::vector<double> uptimes_h_;
  std::uint64_t launched_ = 0;
};

}  // namespace muster::metrics
