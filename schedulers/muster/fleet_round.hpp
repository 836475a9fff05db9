#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedulers/muster/fleet_memory.hpp"
#include "schedulers/packing/rules.hpp"

namespace muster::own {

/// A round on a fixed fleet: waiting tasks, in their order, get places as long as there is room.
/// Costs what it places and the lists of shapes, not what waits.
class FleetRound {
 public:
  /// Takes room in the memory and gives it back by the end of run().
  FleetRound(const ClusterView& view, FleetMemory& memory);

  Plan run();

 private:
  void serve_kept();
  void serve_class_kept_out();
  void serve_one_of(bool is_long);
  void serve_in_order();
  void serve_turn();
  bool serve(const FleetQueue::Job& job, const FleetList& list, std::size_t most);
  enum class Placed : std::uint8_t {
    yes,
    no,        ///< nor would others that fit alike be
    is_apart,  ///< there is room, but for the task only beside as many peers as it may
  };
  Placed place(const TaskRow& row, bool is_long);
  RoomRule rule_for(const TaskRow& row) const;
  bool has_share(ShapeId shape, const ResourceSum& held) const;
  bool may_start_long(ShapeId shape) const;
  void count_long(ShapeId shape);
  void put(const TaskRow& row, InstanceId on);
  void place_gang(const FleetQueue::Job& job);
  bool may_fit(const FleetQueue::Job& gang) const;
  void tell();
  Refusal reason_for(const TaskRow& row, const FleetQueue::Job& job);
  Refusal reason_alone(const TaskRow& row, bool is_long) const;
  const Refusal& reason_for_gang(const FleetQueue::Job& job);

  const ClusterView& view_;
  FleetMemory& memory_;
  const FleetQueue& queue_;
  FleetRoom& room_;
  Plan plan_;
  std::set<Slot> placed_;
  PeerRooms peers_;  ///< where the round has put tasks that are kept apart; rooms are instances
  ResourceSum held_by_long_;      ///< with what the round has placed
  ResourceSum promised_to_long_;  ///< likewise, once those run that room is kept for
  Resources long_share_;
  /// Number of the shape's tasks that was too much for a gang: more of them are as well, as room
  /// only shrinks in a round.
  std::map<ShapeId, std::size_t> too_many_;
  std::map<FleetList, Refusal> reasons_;
  std::map<JobId, Refusal> gang_reasons_;
  std::optional<Resources> all_free_;  ///< as the round began, once somebody has asked
};

}  // namespace muster::own
