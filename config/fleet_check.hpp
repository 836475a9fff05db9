#pragma once

#include <fmt/format.h>

#include "config/key_reader.hpp"

namespace muster::config {

/// Reads the texts of master.fleet, and says which are not of its form.
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
}

}  // namespace muster::config
