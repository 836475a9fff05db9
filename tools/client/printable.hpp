#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::client {

/// The text in one line that no terminal can be led astray by, as config::readable() has it: bytes
/// that are not printable UTF-8 become '?', a break or a tab a space, a hidden character its
/// number.
std::string printable(std::string_view text);

/// As printable(), with line breaks kept.
std::string printable_lines(std::string_view text);

/// At most that number of columns; "..." at the end says that there was more.
std::string cut(const std::string& text, std::size_t max_columns);

/// How many columns of a terminal it takes: some characters take two.
std::size_t width_of(std::string_view text);

}  // namespace muster::client
