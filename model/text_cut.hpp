#pragma once

#include <cstddef>
#include <string_view>

namespace muster {

/// The longest beginning of the UTF-8 text that has at most that many bytes: a character of several
/// bytes is in it whole or not at all.
std::string_view whole_characters(std::string_view text, std::size_t most_bytes);

}  // namespace muster
