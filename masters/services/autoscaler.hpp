#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "masters/master_recorder.hpp"

namespace muster {

/// The number of a service's goal, as its ready replicas have said it.
struct GoalFigure {
  double mean = 0;
  std::uint32_t replicas = 0;  ///< that have said it, > 0
};

/// Of the replicas that do not leave, by which they are scaled. Of a probe's numbers those count
/// whose replica is in no trouble. Nothing: no ready replica has said a number that counts. O(tasks
/// of the job).
std::optional<GoalFigure> goal_figure(const ClusterState& state, const JobRow& job);
/// Likewise of all that clients are sent to: those that leave serve until others do without them.
std::optional<GoalFigure> served_figure(const ClusterState& state, const JobRow& job);

/// The number of replicas that the goal of a service that scales asks for at a moment: ceil(n x
/// measured / bound) of n that have said their number, or bound / measured for a goal of at least
/// the bound; twice n at most, within the bounds of the service, and as many as it has where the
/// number differs from the bound by a tenth at most. Where it asks for fewer, the replicas without
/// a number stay; where it asks for more, there are never fewer than now. O(1).
std::uint32_t wished_replicas(const JobRow& job, const GoalFigure& measured);

/// Says when services whose goals scale them are to have another number of replicas: more as soon
/// as that is measured and all that were asked for run, fewer when that was enough for
/// kShrinkAfter. Each is looked at every kScaleEvery, and not while it changes: O(its tasks) then,
/// and O(log services) an event.
class Autoscaler final : public EventListener {
 public:
  explicit Autoscaler(MasterRecorder& recorder) : recorder_(recorder) { recorder_.listen(*this); }

  /// The services whose time has come, and that are to have another number.
  std::vector<ServiceScaled> take_due(Instant now);
  /// When the next one is to be looked at.
  std::optional<Instant> next() const;

  static constexpr Duration kScaleEvery{std::chrono::seconds{30}};
  static constexpr Duration kShrinkAfter{std::chrono::minutes{5}};

  void after(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  /// Wishes of the last kShrinkAfter, one a look: at most kShrinkAfter / kScaleEvery and one more.
  using Wishes = std::deque<std::pair<Instant, std::uint32_t>>;

  void begin(const Job& job, Instant at);
  std::optional<ServiceScaled> look_at(const JobRow& job, Wishes& wishes, Instant now) const;

  MasterRecorder& recorder_;
  std::map<JobId, Wishes> services_;
  std::set<std::pair<Instant, JobId>> by_time_;  ///< some may be over
};

}  // namespace muster
