#include "masters/instances/instance_releases.hpp"

#include <algorithm>
#include <utility>

// Released instances end when their last task has left. They end in the order of their release, and
// not of their numbers, so that a replay and a restart end them alike. O(instances that have become
// empty) a look: the others are not gone over.

namespace muster {

/// Changes of an event to the list of released instances.
struct InstanceReleases::Tracker {
  InstanceReleases& releases;
  const ClusterState& state;

  void operator()(const ReleaseDecided& e) {
    releases.releasing_.emplace(e.instance, releases.releases_++);
    releases.emptied_.push_back(e.instance);
  }
  void operator()(const LaunchRefused& e) { releases.releasing_.erase(e.instance); }
  void operator()(const TerminateIssued& e) { releases.releasing_.erase(e.instance); }
  void operator()(const InstanceGone& e) { releases.releasing_.erase(e.instance); }
  void leave(TaskId id) {
    const InstanceRow& left = state.instance(state.find(id)->at);
    if (left.released) releases.emptied_.push_back(left.id);
  }
  void operator()(const TaskCheckpointed& e) { leave(e.task); }
  void operator()(const TaskFinished& e) { leave(e.task); }
  void operator()(const TaskFailed& e) { leave(e.task); }
  template <class Other>
  void operator()(const Other&) {}
};

InstanceReleases::InstanceReleases(MasterRecorder& recorder, CloudOrders& cloud)
    : recorder_(recorder), cloud_(cloud) {
  recorder_.listen(*this);
}

void InstanceReleases::before(const Event& event, const MasterFacts& facts) {
  std::visit(Tracker{*this, facts.state}, event.body);
}

void InstanceReleases::restored(const MasterFacts& facts) {
  for (const InstanceRow& row : facts.state.instances()) {
    if (!row.released || row.phase == InstancePhase::terminating) continue;
    releasing_.emplace(row.id, releases_++);
    emptied_.push_back(row.id);
  }
}

void InstanceReleases::release_if_unused(InstanceId id, Instant now) {
  const InstanceRow* row = recorder_.facts().state.find(id);
  if (row == nullptr || row->released || recorder_.fixed_fleet()) return;
  if (recorder_.memory().is_owned(*row)) return;
  if (!row->planned.empty() || !row->occupants.empty()) return;
  recorder_.record(ReleaseDecided{id, {CauseCode::empty, -row->price.usd_h()}}, now);
}

void InstanceReleases::end_empty(Instant now) {
  const ClusterState& state = recorder_.facts().state;
  std::vector<std::pair<std::uint64_t, InstanceId>> empty;  // in the order of their release
  for (InstanceId id : std::exchange(emptied_, {})) {
    const auto release = releasing_.find(id);
    if (release == releasing_.end() || !state.find(id)->occupants.empty()) continue;
    empty.emplace_back(release->second, id);
  }
  std::sort(empty.begin(), empty.end());
  empty.erase(std::unique(empty.begin(), empty.end()), empty.end());
  for (const auto& [order, id] : empty) cloud_.end(id, now);
}

}  // namespace muster
