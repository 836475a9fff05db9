#pragma once

#include <string_view>
#include <vector>

namespace muster::config {

/// The pieces between the separators, at least one; each may be empty.
inline std::vector<std::string_view> pieces_of(std::string_view text, char between) {
  std::vector<std::string_view> pieces;
  for (bool more = true; more;) {
    const std::size_t end = text.find(between);
    more = end != std::string_view::npos;
    pieces.push_back(text.substr(0, end));
    if (more) text.remove_prefix(end + 1);
  }
  return pieces;
}

/// Without those at its begin and its end.
inline std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace muster::config
