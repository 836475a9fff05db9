#pragma once

#include <set>
#include <vector>

#include "masters/master_recorder.hpp"
#include "masters/plan/plan_check.hpp"

namespace muster {

/// A master's orders to the cloud: it numbers and orders instances, orders their ends, and knows
/// which of these orders the cloud has not answered. An instance's number is the order's token, so
/// that an order may be repeated at any time.
class CloudOrders final : public EventListener {
 public:
  CloudOrders(MasterRecorder& recorder, std::uint64_t first_instance);

  /// Orders the plan's launches that were not refused; the number of each, at its index. First what
  /// the oldest job of the highest priority needs: where the cloud has not enough for all, one gang
  /// gets whole what several would get in parts. A gang that was refused already comes after the
  /// others: its lack does not keep them waiting.
  std::vector<InstanceId> launch(const Plan& plan, const CheckedPlan& checked, Instant now);
  void end(InstanceId id, Instant now);

  /// Repeats every order that has not been answered.
  void remind();
  /// Repeats the last order for the instance, or for all: the cloud says what has become of them.
  void ask_after(InstanceId id);
  void ask_after_all();
  const std::set<InstanceId>& unanswered() const { return unanswered_; }

  /// Which numbers were given out may not be known here.
  void ask_numbers() { asks_numbers_ = true; }
  /// Numbers on from above those. True: they were asked for.
  bool know_instances(const std::vector<InstanceId>& newest);
  bool knows_numbers() const { return !asks_numbers_; }

  void before(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  MasterRecorder& recorder_;
  std::uint64_t first_instance_;
  bool asks_numbers_ = false;
  std::set<InstanceId> unanswered_;
};

}  // namespace muster
