#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/error_list.hpp"

namespace muster::replay {

/// Line and column of a byte of a text, both counted from 1.
TextPlace place_of_byte(std::string file, std::string_view text, std::size_t byte);

/// The dotted paths of keys that appear more than once in an object of a valid JSON text; the
/// parser would silently keep one of them.
std::vector<std::string> repeated_keys(std::string_view text);

/// On which line of a valid JSON text each key stands, by its dotted path ("12.tasks.0.demand").
/// A repeated key has the line of its first appearance.
std::map<std::string, std::uint32_t> key_lines(std::string_view text);

}  // namespace muster::replay
