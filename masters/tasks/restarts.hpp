#pragma once

#include <optional>
#include <set>
#include <utility>

#include "masters/master_recorder.hpp"

namespace muster {

/// Replicas of services whose attempts have ended rest before they are started again, longer and
/// longer ones that do not stand: this lets them wait for a place when their time has come. O(log
/// of those that rest) an event.
class Restarts final : public EventListener {
 public:
  explicit Restarts(MasterRecorder& recorder) : recorder_(recorder) { recorder_.listen(*this); }

  /// Those whose time has come wait for a place from now on; whether there were any.
  bool release_due(Instant now);
  /// When the next one's time comes.
  std::optional<Instant> next() const;

  void after(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  void add_all(const JobRow& job, const ClusterState& state);

  MasterRecorder& recorder_;
  std::set<std::pair<Instant, TaskId>> resting_;  ///< some may have gone meanwhile
};

}  // namespace muster
