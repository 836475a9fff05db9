#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/money.hpp"

namespace muster {

/// What an instance-second was paid for when no task held it.
enum class Idleness : std::uint8_t {
  boot,          ///< up, not ready yet
  idle,          ///< ready, wanted, without a task
  drain,         ///< no longer wanted, without a task, not gone yet
  fragmentation  ///< the part of an instance with tasks that no task holds
};
inline constexpr std::size_t kIdlenessKinds = 4;
std::string_view name_of(Idleness kind);

/// Every instance-second billed, once: to the tasks that held it, in proportion to their dominant
/// share of the instance, or to a kind of idleness. Sums are exact: parts always add up to the
/// total.
class Ledger {
 public:
  /// Books what the event ends. `before` is the state just before the event is applied.
  void observe(const Event& event, const ClusterState& before);

  /// What the cloud charges for all instances that are gone, and for the others until their last
  /// event.
  Money total() const { return total_; }
  Money idleness(Idleness kind) const { return idle_[static_cast<std::size_t>(kind)]; }
  Money tasks() const;
  /// What was booked to one task; nothing for one that never held an instance.
  Money task(TaskId id) const;
  /// What is charged until `now`, the time since the instances' last events included.
  Money accrued(const ClusterState& state, Instant now) const;
  /// The task is over and asked for no more: only the sum over all tasks remembers it.
  void close(TaskId id);

 private:
  friend struct StateImageAccess;

  void settle(const InstanceRow& row, const ClusterState& state, Instant now);
  Money accrued_by(const InstanceRow& row, Instant now) const;
  void give_back(const InstanceRow& row, Instant until);
  void split(const InstanceRow& row, const ClusterState& state, Money amount);
  void book_idle(Idleness kind, Money amount);

  Money total_;
  std::array<Money, kIdlenessKinds> idle_{};
  Money closed_tasks_;
  std::unordered_map<TaskId, Money> by_task_;
  std::unordered_map<InstanceId, Instant> settled_until_;
};

}  // namespace muster
