#include "model/job_cursor.hpp"

#include <charconv>
#include <cstdint>
#include <limits>

namespace muster {
namespace {

constexpr std::string_view kActive = "active:";
constexpr std::string_view kOver = "over:";

}  // namespace

std::string to_text(const JobCursor& cursor) {
  return std::string(cursor.over ? kOver : kActive) + std::to_string(cursor.behind.value);
}

std::optional<JobCursor> job_cursor_from(std::string_view text) {
  const bool over = text.starts_with(kOver);
  if (!over && !text.starts_with(kActive)) return std::nullopt;
  text.remove_prefix(over ? kOver.size() : kActive.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!whole || number > most) return std::nullopt;
  return JobCursor{over, JobId{number}};
}

}  // namespace muster
