#include "model/usage_cursor.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace muster {

std::string to_text(const UsageCursor& cursor) {
  std::string text = std::to_string(cursor.master);
  if (!cursor.from.job.job.valid()) return text;
  text += ":" + std::to_string(cursor.from.job.at.time_since_epoch().count());
  text += ":" + std::to_string(cursor.from.job.job.value);
  return text + ":" + std::to_string(cursor.from.position);
}

std::optional<UsageCursor> usage_cursor_from(std::string_view text) {
  std::array<std::int64_t, 4> numbers{};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < numbers.size()) {
    const auto read = std::from_chars(at, end, numbers[count]);
    if (read.ec != std::errc{} || numbers[count] < 0) return std::nullopt;
    ++count;
    at = read.ptr;
    if (at == end || *at != ':') break;
    ++at;
  }
  const bool is_whole = at == end && !text.ends_with(':') && (count == 1 || count == 4);
  if (!is_whole || numbers[0] > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  UsageCursor cursor{static_cast<std::uint32_t>(numbers[0])};
  if (count == 1) return cursor;
  cursor.from.job = {Instant{Duration{numbers[1]}}, JobId{static_cast<std::uint64_t>(numbers[2])}};
  cursor.from.position = static_cast<std::uint64_t>(numbers[3]);
  return cursor;
}

}  // namespace muster
