#pragma once

#include <optional>
#include <string>
#include <string_view>

// Paths as text: for people, and for a field of a line.

namespace muster::files {

/// Whether every byte is part of a valid character of UTF-8 (RFC 3629).
bool is_utf8(std::string_view text);

/// The path for a message: bytes that are no printable character are written as \xNN, and a path
/// of more than 200 bytes is cut off.
std::string shown_path(std::string_view path);

/// The text for a field of a line: backslash, tab and line feed are written as \\, \t and \n.
std::string escaped_field(std::string_view text);

/// The text behind a field; nothing when no text is written so.
std::optional<std::string> unescaped_field(std::string_view field);

}  // namespace muster::files
