#pragma once

#include <string>
#include <string_view>

namespace muster::test {

/// The first line of a text that has this in it; empty where no line has. For a note below a table,
/// whose text is checked in tests/golden/ without the figures of the table.
inline std::string line_with(std::string_view text, std::string_view part) {
  const std::size_t found = text.find(part);
  if (found == std::string_view::npos) return {};
  const std::size_t before = text.rfind('\n', found);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return std::string(text.substr(begin, text.find('\n', found) - begin));
}

}  // namespace muster::test
