#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "masters/actor/attempt_places.hpp"

namespace muster::test {

/// Attempts are where the test says.
class ScriptedPlaces final : public AttemptPlaces {
 public:
  std::optional<InstanceId> runs_on(TaskId task, Attempt attempt) const override {
    const auto found = running.find({task, attempt});
    return found == running.end() ? std::nullopt : std::optional(found->second);
  }
  bool is_here(InstanceId id) const override { return here.contains(id); }
  std::optional<AttemptPlace> known(TaskId task) const override {
    const auto found = of_active_jobs.find(task);
    return found == of_active_jobs.end() ? std::nullopt : std::optional(found->second);
  }
  bool read(TaskId task, std::function<void(const AttemptPlace&)> then) const override {
    if (reads.size() >= most_reads) return false;
    reads.emplace_back(task, std::move(then));
    return true;
  }
  /// The oldest read ends.
  void read_one(const AttemptPlace& place) const {
    const auto then = std::move(reads.front().second);
    reads.pop_front();
    then(place);
  }

  std::map<std::pair<TaskId, Attempt>, InstanceId> running;
  std::set<InstanceId> here;
  std::map<TaskId, AttemptPlace> of_active_jobs;
  std::size_t most_reads = 1000;
  mutable std::deque<std::pair<TaskId, std::function<void(const AttemptPlace&)>>> reads;
};

}  // namespace muster::test
