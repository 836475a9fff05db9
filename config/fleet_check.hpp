#pragma once

#include <fmt/format.h>

#include "config/key_reader.hpp"

namespace muster::config {

/// Reads the texts of master.fleet, and says which are not of its form. Without a fleet there is
/// nothing to rent beyond.
template <class C>
void read_fleet(C& parsed, KeyReader<C>& reader) {
  for (const std::string& text : parsed.fleet.texts) {
    if (const auto part = parse_fleet_part(text)) {
      parsed.fleet.parts.push_back(*part);
      continue;
    }
    reader.complain("master.fleet", fmt::format("has to be \"COUNT*TYPE\" or \"COUNT*TYPE:spot\", "
                                                "each; one is \"{}\"",
                                                text));
  }
  if (parsed.master.rent_beyond_fleet && parsed.fleet.texts.empty()) {
    reader.complain("master.rent_beyond_fleet", "needs a fleet to rent beyond (master.fleet)");
  }
}

}  // namespace muster::config
