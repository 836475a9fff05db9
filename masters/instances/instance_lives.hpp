#pragma once

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
      : most_visits_(2 * settings.kept_attempts), most_gone_(settings.kept_instances) {}

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

  void drop_old();

  std::uint32_t most_visits_, most_gone_;
  std::map<InstanceId, InstanceHistory> lives_;
  std::deque<InstanceId> gone_;  ///< of these, by the time of their ends
};

}  // namespace muster
