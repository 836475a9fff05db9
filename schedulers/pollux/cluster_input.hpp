#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "schedulers/packing/types/placement_mask.hpp"
#include "schedulers/policy.hpp"

namespace muster::pollux {

/// An instance as a round sees it.
struct RoundNode {
  const InstanceRow* row = nullptr;
  Resources taken;          ///< by what is not the search's to place
  bool of_cluster = false;  ///< elastic jobs share it
  bool lone = false;        ///< somebody has it who is not elastic
};

/// Tasks that are to be placed together, whoever else is there.
struct LoneWish {
  const JobRow* job = nullptr;
  std::vector<Slot> tasks;
};

/// Demand of one worker of the cluster, and the type that its nodes are rented as.
struct ClusterKind {
  const OfferingRow* offer = nullptr;  ///< null: nothing is rented
  const FamilyDemand* demand = nullptr;
  std::uint32_t node_holds = 1;
  ShapeId shape{};  ///< of the workers of the job that it was chosen by
};

/// Inputs of a round: elastic jobs share a cluster, all others have places of their own. Depends on
/// the view alone, so that a second look gives equal inputs.
class ClusterInput {
 public:
  /// The mask knows the view's state.
  ClusterInput(const ClusterView& view, const PlacementMask& mask);

  const PlacementMask& mask() const { return mask_; }

  /// Elastic jobs that may be given other places, in the order of acceptance.
  const std::vector<const JobRow*>& elastic() const { return elastic_; }
  const std::vector<LoneWish>& lone() const { return lone_; }
  const std::vector<RoundNode>& nodes() const { return nodes_; }
  std::vector<RoundNode>& nodes() { return nodes_; }
  /// Of the first elastic job; nothing without one.
  const std::optional<ClusterKind>& kind() const { return kind_; }
  /// Workers without which some elastic job would never run.
  std::uint32_t least_workers() const { return least_workers_; }
  /// The search may give the job other places.
  bool is_searched(Slot job) const {
    const auto found = shares_cluster_.find(job);
    return found != shares_cluster_.end() && found->second;
  }
  /// The node of the instance; null: it is not listed.
  RoundNode* find(Slot instance);
  /// Its workers stay where they are, or have no place: it is another job's turn to start.
  bool must_stay(const JobRow& job) const;
  /// Workers of the cluster that a node has room for when it is empty.
  std::uint32_t workers_of(const RoundNode& node) const;

 private:
  void choose_kind();
  std::optional<ClusterKind> kind_by(const JobRow& job) const;
  bool suits(const JobRow& job) const;
  void sort_job(const JobRow& job);
  void list_nodes();

  const ClusterView& view_;
  const PlacementMask& mask_;
  std::optional<ClusterKind> kind_;
  std::vector<const JobRow*> elastic_;
  std::vector<LoneWish> lone_;
  std::vector<RoundNode> nodes_;
  std::map<Slot, std::size_t> by_slot_;  ///< nodes by their instances
  std::map<Slot, bool> shares_cluster_;  ///< by elastic job: whether the search places it
  std::uint32_t least_workers_ = 0;
};

/// The offering on which a worker of the job costs least; null: no offering can be had.
const OfferingRow* cheapest_per_worker(const ClusterView& view, const PlacementMask& mask,
                                       const JobRow& job);

}  // namespace muster::pollux
