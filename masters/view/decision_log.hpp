#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/cluster_state.hpp"
#include "model/views.hpp"

namespace muster {

/// Keeps the last decisions of a master that changed something, from the events it commits: for
/// those who want to know what was decided.
class DecisionLog {
 public:
  static constexpr std::size_t kKept = 200;
  /// Changes of one decision that are kept with their instances; those of equal tasks are one.
  static constexpr std::size_t kMostChanges = 50;
  /// Instances that are rented, and that are given back, which are named.
  static constexpr std::size_t kMostOfInstances = 25;
  /// Changes of tasks behind these, one a job and reason, without instances.
  static constexpr std::size_t kMostJobs = 50;

  /// `state`: with the events.
  void watch(const std::vector<Event>& events, const ClusterState& state);
  /// Events until its end are those of a slice of the newest round's plan.
  void begin_slice() { of_round_ = true; }
  void end_slice(bool more_follow) {
    of_round_ = false;
    if (!more_follow) shrink();
  }
  /// Those that are asked for, the newest first, as many as go into one message.
  DecisionsView view(const DecisionsQuestion& wanted, const std::string& master) const;

 private:
  struct Watch;

  void shrink();

  std::deque<DecisionView> kept_;  ///< the newest last
  bool open_ = false;              ///< the newest one is still being carried out
  bool of_round_ = false;          ///< so is what is watched next
};

}  // namespace muster
