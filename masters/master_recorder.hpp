#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "masters/effects.hpp"
#include "masters/event_listener.hpp"
#include "masters/master_memory.hpp"

namespace muster {

/// The one way in which the parts of a master change anything. An event goes to those that listen,
/// to the facts, and into the next commit; with it wait the effects that it has.
class MasterRecorder {
 public:
  MasterRecorder(const MasterSettings& settings, const MasterDependencies& parts);
  MasterRecorder(const MasterRecorder&) = delete;
  MasterRecorder& operator=(const MasterRecorder&) = delete;

  /// Listeners hear of each event in the order in which they came. They have to outlive the last
  /// event that they listen to.
  void listen(EventListener& listener) { listeners_.push_back(&listener); }
  void unlisten(const EventListener& listener) { std::erase(listeners_, &listener); }

  const MasterFacts& facts() const { return memory_.facts(); }
  const MasterMemory& memory() const { return memory_; }
  bool fixed_fleet() const { return memory_.fixed_fleet(); }

  void record(EventBody body, Instant now);
  template <class OneOfEffects>
  void effect(OneOfEffects&& effect) {
    commit_.effects.emplace_back(std::forward<OneOfEffects>(effect));
  }
  /// The instance is ended without waiting for the disk.
  void at_once(InstanceId id) { commit_.at_once.push_back({id}); }
  /// For the history.
  void over(JobHistory job) { commit_.over.push_back(std::move(job)); }
  /// From now on events are handed over when their number is reached, and are not in the commit:
  /// for a log that is lost with its master, as no crash can then come between the events of a
  /// commit.
  using Part = std::function<void(std::vector<Event>&&)>;
  void hand_over(std::size_t events, Part take) {
    part_size_ = events;
    take_part_ = std::move(take);
  }
  /// Work since the last call.
  Commit commit() { return std::exchange(commit_, {}); }

  /// A calm ends, if there is one: the regular rounds that were not held in it count, but for
  /// `held` of them.
  void end_calm(Instant now, std::uint64_t held);
  /// Instances before this one were known to others.
  void skip_instances(std::uint64_t below) { memory_.skip_instances(below); }

  /// The snapshot of a master that died, before anything else.
  void restore(MasterSnapshot&& snapshot);
  /// The next event of its log: it is on record already.
  void replay(const Event& event);

 private:
  Duration period_;  ///< of the regular rounds
  Duration round_settle_;
  MasterMemory memory_;
  std::vector<EventListener*> listeners_;
  Commit commit_;
  std::size_t part_size_ = 0;  ///< 0: nothing is handed over before the commit
  Part take_part_;
};

}  // namespace muster
