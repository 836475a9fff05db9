#pragma once

#include <vector>

#include "schedulers/packing/rules.hpp"
#include "schedulers/pollux/cluster_input.hpp"

namespace muster::pollux {

/// Gives tasks that are not the search's places: on nodes that are there whatever happens, from
/// which elastic jobs give way, and else on instances of their own, rented for them. A gang gets
/// places for all of its tasks or none. Its share of a node is taken from the search's room.
class LoneJobs {
 public:
  LoneJobs(const ClusterView& view, ClusterInput& input) : view_(view), input_(input) {}

  void place(Plan& plan);

 private:
  /// Where a task is to be: a node, or a type to rent.
  struct Place {
    Slot task = kNoSlot;
    RoundNode* node = nullptr;
    const OfferingRow* offer = nullptr;
  };

  bool find_places(const LoneWish& wish, std::vector<Place>& places);
  RoundNode* room_for(const TaskRow& task, bool beside_all) const;
  const OfferingRow* cheapest(const TaskRow& task) const;
  void refuse(const LoneWish& wish, Plan& plan) const;

  const ClusterView& view_;
  ClusterInput& input_;
  PeerRooms peers_;  ///< where tasks that are kept apart are put; rooms are instances by slot
};

}  // namespace muster::pollux
