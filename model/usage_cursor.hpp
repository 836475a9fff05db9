#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/usage_views.hpp"

namespace muster {

/// A place in the list of the running tasks of all masters, one master after the other.
struct UsageCursor {
  std::uint32_t master = 0;  ///< its position among the masters of the cluster
  UsagePlace from{};
};

/// "1:1700000000000000000:12:3", or "1" at the beginning of a master's list: as users get it to
/// give it back.
std::string to_text(const UsageCursor& cursor);
/// Nothing when the text is no such place.
std::optional<UsageCursor> usage_cursor_from(std::string_view text);

}  // namespace muster
