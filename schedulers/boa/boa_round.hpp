#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "schedulers/boa/boa_memory.hpp"
#include "schedulers/packing/node_packing.hpp"
#include "schedulers/packing/rules.hpp"
#include "schedulers/packing/types/placement_mask.hpp"

namespace muster::boa {

/// All of its tasks have a settled place, and may run.
inline bool can_change(const JobRow& job) {
  return !job.in_transit() && !job.terminal_outcome && !job.held_by_user;
}

/// One decision. Jobs go in the order of arrival: those whose width does not change keep their
/// places, the others share the rest; for jobs without room instances are rented.
class BoaRound {
 public:
  BoaRound(const ClusterView& view, const BoaMemory& memory, const PlacementMask& mask)
      : view_(view), memory_(memory), mask_(mask), left_(view.left) {}

  Plan run(std::string_view choice);

 private:
  /// Workers that are to be placed together.
  struct Wish {
    const JobRow* job = nullptr;
    std::uint32_t workers = 0;
    Slot task = kNoSlot;  ///< of a job whose tasks go each their own way: that task
  };

  /// Launches stay within the master's caps, or are left to it to refuse.
  enum class Caps : std::uint8_t { are_kept, are_the_masters };

  void list_nodes();
  void list_wishes();
  void keep_or_free(const JobRow& job);
  void free_places_of(const JobRow& job);
  void serve(const Wish& wish);
  void start(const Wish& wish, const std::vector<NodeShare>& shares);
  bool go_on_meanwhile(const Wish& wish, const WorkerDemand& worker,
                       const std::optional<std::vector<NodeShare>>& kept);
  std::optional<std::vector<NodeShare>> rent(const Wish& wish, const WorkerDemand& worker,
                                             const OfferingRow* offer, Caps caps);
  bool needs_a_turn(const JobRow& job, std::uint32_t node_holds) const;
  Refusal cap_refusal(const OfferingRow& offer, std::uint32_t instances) const;
  void hold_places_of(const JobRow& job);
  void launch(const OfferingRow& offer);
  void take_back(std::size_t launches, const RentLeft& left);
  bool serve_under_cap(const Wish& wish, const WorkerDemand& worker, const OfferingRow& offer);
  void empty_a_node();
  std::vector<std::size_t> nodes_to_empty() const;
  std::optional<double> cost_of_moving(const JobRow& job, const TaskRow& task) const;
  std::vector<const JobRow*> jobs_worth_moving(const InstanceRow& row) const;
  bool try_to_empty(std::size_t node);
  void give_back();
  void note(std::string_view choice);
  const OfferingRow* best_offer(const JobRow& job, ShapeId shape) const;
  std::uint32_t room_of(const OfferingRow& row, Market market, ShapeId shape) const;
  std::string_view family_of(const JobRow& job) const;
  std::string_view family_now(const JobRow& job) const;
  bool is_on_its_family(const JobRow& job) const;
  void refuse(const Wish& wish, const Refusal& refusal);

  const ClusterView& view_;
  const BoaMemory& memory_;
  const PlacementMask& mask_;
  Plan plan_;
  std::vector<PackingNode> nodes_;  ///< those that are ready, then those that come, by number
  std::map<InstanceId, std::size_t> by_id_;
  PeerRooms peers_;             ///< where tasks are put that are kept apart; rooms are nodes
  std::vector<Wish> narrower_;  ///< of jobs that leave room to others
  std::vector<Wish> wishes_;
  bool someone_is_partly_served_ = false;
  bool someone_is_under_cap_ = false;  ///< one job a round has what caps leave
  RentLeft left_;                      ///< by caps, after what the plan launches
  double wanted_ = 0;
};

}  // namespace muster::boa
