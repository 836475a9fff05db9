#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "config/master_settings.hpp"
#include "model/cluster_state.hpp"
#include "model/event.hpp"
#include "model/history.hpp"

namespace muster {

/// Lives of a master's instances and of the last ones that are gone, with the attempts that were
/// there: a fold over its events, for users. No event costs more than O(attempts that are kept of
/// an instance), but for the end of an instance, which looks at the tasks on it.
class InstanceLives {
 public:
  explicit InstanceLives(const MasterSettings& settings)
      : most_visits_(std::min(2 * settings.kept_attempts, kMostVisits)),
        most_gone_(settings.kept_instances),
        most_never_up_(std::min(most_gone_, kMostNeverUp)) {}

  /// `before`: the state without the event.
  void absorb(const Event& event, const ClusterState& before);
  /// Null: the instance is not known, or no longer.
  const InstanceHistory* find(InstanceId id) const;

  const std::map<InstanceId, InstanceHistory>& book() const { return lives_; }
  /// Instances of the state of which the book has nothing, as of earlier versions, begin with what
  /// the state says of them.
  void restore(std::map<InstanceId, InstanceHistory>&& book, const ClusterState& state);

 private:
  struct Fold;

  /// An event looks at all attempts that are kept of an instance, so that these have a bound.
  static constexpr std::uint32_t kMostVisits = 100;
  /// Refusals of a cloud that is full would else drive out the lives of instances that ran.
  static constexpr std::uint32_t kMostNeverUp = 50;

  /// It has ended.
  void put_gone(InstanceId id, const InstanceHistory& life);

  std::uint32_t most_visits_, most_gone_, most_never_up_;
  std::map<InstanceId, InstanceHistory> lives_;
  /// Of these, by the time of their ends: those that were up, and those that never were.
  std::deque<InstanceId> gone_, never_up_;
};

}  // namespace muster
