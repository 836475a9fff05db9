#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::config {

/// The bytes are UTF-8 as Unicode defines it: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// UTF-8 in one line: no control characters.
bool is_one_line(std::string_view text);

/// The character cannot be seen, or leads what is around it astray: control characters (C0, C1),
/// what Unicode calls format (writing direction, joiners, zero width), separators of lines and
/// paragraphs, and fillers.
bool is_hidden(char32_t character);

/// Rule of is_label() besides one line, for messages.
inline constexpr std::string_view kLabelRule =
    "not of blanks alone, without characters that cannot be seen";

/// A user's label: UTF-8 in one line, with something to be seen in it and no hidden character.
bool is_label(std::string_view text);

/// The first character of a text that is not empty; nothing when it begins with no UTF-8.
/// `bytes`: its length, 1 when it is not a character.
std::optional<char32_t> first_character(std::string_view text, std::size_t& bytes);

/// The text for people, whom it cannot lead astray: a break or a tab becomes a blank, any other
/// control character and what is no UTF-8 '?', another hidden character its number, like \u202E.
/// `keep_breaks`: line breaks stay.
std::string readable(std::string_view text, bool keep_breaks);

/// Name of an environment variable: UTF-8 text, not empty, without '=' and zero bytes.
bool is_variable_name(std::string_view text);

/// The name is one that Muster sets for every task itself.
bool is_own_variable(std::string_view name);

}  // namespace muster::config
