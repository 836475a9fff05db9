#include "config/task_isolation.hpp"

#include <limits>

#include "config/numbers.hpp"

namespace muster {

std::optional<UidRange> parse_uid_range(std::string_view text) {
  // The largest number stands for no user, and 0 is root, as which no task may come to run so.
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max() - 1;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_whole(text.substr(0, dash));
  const auto last = parse_whole(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > kLargest) return std::nullopt;
  return UidRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
}

}  // namespace muster
