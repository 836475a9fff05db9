#include "model/job_cursor.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace muster {
namespace {

constexpr std::string_view kActive = "active:";
constexpr std::string_view kOver = "over:";

/// A whole number of 0 to 2^63 - 1, which every JSON library knows.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  if (!whole || number < 0) return std::nullopt;
  return number;
}

/// The text behind the state; nothing when it begins with no state.
std::optional<std::string_view> behind_state(std::string_view text) {
  for (const std::string_view state : {kActive, kOver}) {
    if (text.starts_with(state)) return text.substr(state.size());
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(const JobCursor& cursor) {
  return std::string(cursor.over ? kOver : kActive) +
         std::to_string(cursor.behind.at.time_since_epoch().count()) + ":" +
         std::to_string(cursor.behind.job.value);
}

std::optional<JobCursor> job_cursor_from(std::string_view text) {
  const auto place = behind_state(text);
  if (!place) return std::nullopt;
  const std::size_t colon = place->find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto at = whole_number(place->substr(0, colon));
  const auto job = whole_number(place->substr(colon + 1));
  if (!at || !job) return std::nullopt;
  return JobCursor{text.starts_with(kOver),
                   {Instant{Duration{*at}}, JobId{static_cast<std::uint64_t>(*job)}}};
}

bool is_earlier_cursor(std::string_view text) {
  const auto number = behind_state(text);
  return number && whole_number(*number);
}

}  // namespace muster
