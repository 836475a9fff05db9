#pragma once

#include <cstdint>
#include <vector>

#include "model/catalog.hpp"

namespace muster {

/// How many instances of one offer belong to a fixed fleet.
struct FleetShare {
  TypeId type;
  Market market = Market::on_demand;
  std::uint32_t count = 0;
};

/// The instances that a master has, no more and no less; empty: it rents what its policy asks for.
/// A master that may rent beyond it (MasterSettings::rent_beyond_fleet) has at least these.
using Fleet = std::vector<FleetShare>;

}  // namespace muster
