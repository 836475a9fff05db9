#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedulers/lrasched/limit_book.hpp"
#include "schedulers/lrasched/lrasched_params.hpp"
#include "schedulers/lrasched/new_nodes.hpp"
#include "schedulers/lrasched/node_rooms.hpp"
#include "schedulers/lrasched/service.hpp"
#include "schedulers/lrasched/service_memory.hpp"
#include "schedulers/lrasched/size_book.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster::lrasched {

/// Replicas of a service that wait for places together. They ask alike.
struct WaitingService {
  Slot job = kNoSlot;
  std::vector<Slot> tasks;
  bool stands = false;           ///< other replicas of it have places
  std::optional<Grant> grant{};  ///< of each; nothing: its demand
  /// Another cause: they run, and stay where they are while they find no other place.
  CauseCode cause = CauseCode::packed;

  bool runs() const { return cause != CauseCode::packed; }
};

/// An offering of the cloud, beside the NodeOffer of that number.
struct OfferChoice {
  TypeId type;
  Market market = Market::on_demand;
  Price price;
  std::string zone{};  ///< empty: the cloud chooses
};

/// Everything that a round of services decides on: services and instances as the algorithms number
/// them.
struct ServiceInput {
  std::vector<WaitingService> waiting;
  std::vector<Service> services;  ///< each of those that wait
  std::vector<Spots> standing;    ///< likewise, its replicas that have a place
  NodeRooms rooms{kMostDims};
  std::vector<InstanceId> nodes;  ///< of each room
  std::vector<NodeOffer> offers;  ///< empty where the instances are given
  std::vector<OfferChoice> choices;
  Demand demand;                 ///< of the services that came lately, those that wait included
  std::vector<Refuse> refusals;  ///< of replicas that fit nowhere
};

/// Inputs of gather_services(); they outlive the call.
struct ServiceParts {
  const LraParams& params;
  const ClusterView& view;
  const ReservationPrices& prices;  ///< of both markets; they know the state
  const ServiceMemory& memory;
  const SizeBook& sizes;
  const LimitBook& limits;
};

/// Number of the kind of instances by which services tell where they may be.
inline std::uint32_t kind_of(TypeId type, Market market) {
  return 2 * type.value + (market == Market::spot ? 1 : 0);
}

/// The replica has no place, or runs on an instance that it has to leave.
inline bool wants_place(const TaskRow& task) {
  return task.phase == TaskPhase::pending ||
         (task.phase == TaskPhase::running && task.target == kNoSlot && task.wanted);
}
/// Of some of its replicas. O(replicas).
bool wants_places(const ClusterState& state, const JobRow& service);
/// Likewise, or some are to have another size, or are too many on their instance.
bool wants_places(const ClusterView& view, const JobRow& service, const SizeBook& sizes,
                  const LimitBook& limits);

/// O(replicas of services that are not over); where some of them waits, O(instances) besides.
ServiceInput gather_services(const ServiceParts& parts);
/// Replicas that run on the instance, to be placed anywhere else. O(instances and replicas).
ServiceInput gather_moves(const ServiceParts& parts, InstanceId from, std::span<const Slot> tasks);

}  // namespace muster::lrasched
