#pragma once

#include <span>
#include <vector>

#include "schedulers/muster/muster_params.hpp"
#include "schedulers/muster/piece.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/policy.hpp"

namespace muster::own {

/// An instance of a type on a market as a set of tasks sees it before it is rented: the part of its
/// price that counts over the horizon, and the time until tasks can start on it. Without
/// interruptions.
Host to_rent(const PricedTypes& types, TypeId type, Market market, double horizon_h);

/// Instances that may be rented now, by rising types and markets: all that are on offer and were
/// not refused lately, without counted machines (PricedTypes), and without those that another one
/// of their market replaces.
std::vector<Host> offers(const ClusterView& view, const ReservationPrices& prices,
                         const MusterParams& params);

/// Takes out what has another offer of its market and group of types (PlacementMask) beside it that
/// holds as much, costs no more, is there as soon and is taken back no more often. Of equal ones
/// the first stays.
void drop_replaced(std::vector<Host>& offers, const ReservationPrices& prices);

/// How often the cloud is expected to take an instance of the offering back, in an hour: by its
/// word, or as the parameters say where it has said nothing. Never on demand.
double interruptions_h(const ClusterView& view, TypeId type, Market market,
                       const MusterParams& params);

/// Cost per hour of the host's interruptions to the tasks on it: each stops all tasks there, and
/// all of a gang of which one task is there.
double risk_usd_h(const Host& host, std::span<const Piece* const> pieces);

}  // namespace muster::own
