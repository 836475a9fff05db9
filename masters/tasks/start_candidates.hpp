#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/cluster_state.hpp"

namespace muster {

/// Which assigned tasks have to be tried again: those for which an event has changed whether they
/// can start, or why they cannot. All others would get the answer that they had. Slots may be of
/// rows that are gone by now; trying such a one does nothing.
class StartCandidates {
 public:
  /// Has to be told of each event, before the state knows of it and after.
  void before(const Event& event, const ClusterState& state);
  void after(const ClusterState& state);
  /// Everything is to be tried: nothing is known of what came before.
  void mark_all(const ClusterState& state);

  /// Goes through the candidates in the order of assignment. A change that a try makes for tasks
  /// further on is seen by this pass, as if every assigned task were tried in turn.
  void begin_pass(const ClusterState& state);
  std::optional<Slot> next(const ClusterState& state);

  /// Room that comes free on the instance may let a task of it start, or a gang has something to
  /// try. Costs what was told since it was asked last, not what is meant for the instance.
  bool may_start_some(const ClusterState& state, Slot instance);
  /// Gangs at which may_start_some() looks.
  std::size_t marked_gangs() const { return gangs_.slots().size(); }

  /// Adds the gang's tasks that have to be tried to `out`.
  void gang_tasks_to_try(const ClusterState& state, Slot job, std::vector<Slot>& out);

 private:
  struct Marker;

  /// Slots that are marked at most once.
  class Marks {
   public:
    bool add(Slot slot) {
      if (slot >= place_.size()) place_.resize(slot + std::size_t{1}, 0);
      if (place_[slot] != 0) return false;
      slots_.push_back(slot);
      place_[slot] = slots_.size();
      return true;
    }
    void drop(Slot slot) {
      if (!contains(slot)) return;
      place_[slots_.back()] = place_[slot];
      slots_[place_[slot] - 1] = slots_.back();
      slots_.pop_back();
      place_[slot] = 0;
    }
    bool contains(Slot slot) const { return slot < place_.size() && place_[slot] != 0; }
    std::vector<Slot> take() {
      for (Slot slot : slots_) place_[slot] = 0;
      return std::exchange(slots_, {});
    }
    bool empty() const { return slots_.empty(); }
    const std::vector<Slot>& slots() const { return slots_; }

   private:
    std::vector<std::size_t> place_;  ///< of each slot in slots_, counted from 1; 0: not marked
    std::vector<Slot> slots_;
  };

  void mark_gang(const ClusterState& state, Slot job);
  void note_told(const TaskRow& task);
  bool gang_has_to_try(const ClusterState& state, Slot job) const;
  bool waits_for_room(const ClusterState& state, Slot instance);
  void expand(const ClusterState& state);
  void push(const ClusterState& state, Slot slot);

  Marks tasks_, up_, room_, gangs_;
  Marks later_;  ///< for the next pass: the one in hand is past them
  /// Gangs that nothing keeps from starting any more since all of their tasks were last tried.
  std::vector<bool> opened_;
  std::vector<bool> was_open_;
  std::vector<Slot> told_;  ///< tasks that the event in hand tells why they do not start
  /// By instance, tasks that were told to wait for room there; some may not any more.
  std::vector<std::vector<Slot>> told_room_;
  std::vector<Slot> touched_;                      ///< gangs that the event in hand concerns
  std::set<std::pair<std::uint64_t, Slot>> pass_;  ///< by their place in the assigned list
  std::uint64_t at_ = 0;                           ///< where the pass is
};

}  // namespace muster
