#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "model/fleet.hpp"

namespace muster {

/// A part of a fixed fleet, as a config states it.
struct FleetPart {
  std::uint32_t count = 1;
  std::string type;
  Market market = Market::on_demand;

  friend bool operator==(const FleetPart&, const FleetPart&) = default;
};

/// The instances that are there from the start and stay, of all masters together; none: masters
/// rent and give back as their policy wants.
struct FleetConfig {
  std::vector<FleetPart> parts;
  std::vector<std::string> texts;  ///< the texts that it was read from
};

/// Reads "COUNT*TYPE" or "COUNT*TYPE:spot"; nothing when it is not of that form.
std::optional<FleetPart> parse_fleet_part(std::string_view text);
/// The form that parse_fleet_part reads.
std::string to_text(const FleetPart& part);

enum class FleetError : std::uint8_t { unknown_type, no_such_market };

/// The share of one of `masters` masters that have the fleet together: as even as can be, the first
/// ones have one more. Errors name what the catalog does not offer.
Expected<Fleet, FleetError> fleet_share(const std::vector<FleetPart>& parts, const Catalog& catalog,
                                        std::uint32_t index = 0, std::uint32_t masters = 1);

}  // namespace muster
