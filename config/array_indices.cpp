#include "config/array_indices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/job_request.hpp"
#include "config/numbers.hpp"

namespace muster {
namespace {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t step = 1;

  std::uint64_t count() const { return (last - first) / step + 1; }
};

Failure<ArrayError> malformed(std::string message) {
  return {ArrayError::malformed, std::move(message)};
}

Expected<Range, ArrayError> parse_range(std::string_view part) {
  const std::size_t colon = part.find(':');
  const std::string_view range = part.substr(0, colon);
  const std::size_t dash = range.find('-');
  const std::string_view second = dash == std::string_view::npos ? range : range.substr(dash + 1);
  const auto first = parse_whole(range.substr(0, dash));
  const auto last = parse_whole(second);
  if (!first || !last) {
    return malformed(fmt::format(
        "'{:.40}' is neither an index nor a range like 0-99 or, with a step, 0-100:10", part));
  }
  std::uint64_t step = 1;
  if (colon != std::string_view::npos) {
    const auto given = parse_whole(part.substr(colon + 1));
    if (!given || *given == 0 || *given > kMaxArrayIndex || dash == std::string_view::npos) {
      return malformed(fmt::format(
          "'{:.40}': a step is a whole number from 1 behind a range, like 0-100:10", part));
    }
    step = *given;
  }
  if (*last > kMaxArrayIndex || *first > kMaxArrayIndex) {
    return malformed(fmt::format("'{}' goes beyond the largest index, {}", part, kMaxArrayIndex));
  }
  if (*first > *last) return malformed(fmt::format("'{}' runs backwards", part));
  return Range{*first, *last, step};
}

/// Adds the range's indices unless they are too many.
bool add(const Range& range, std::vector<std::uint32_t>& indices) {
  // Counted before they are listed: "0-999999999" must not fill the memory.
  if (indices.size() + range.count() > kMaxTasksPerJob) return false;
  for (std::uint64_t i = range.first; i <= range.last; i += range.step) {
    indices.push_back(static_cast<std::uint32_t>(i));
  }
  return true;
}

}  // namespace

std::string array_text(const std::vector<std::uint32_t>& indices) {
  constexpr std::size_t kMostChars = 200;
  std::string text;
  for (std::size_t from = 0; from < indices.size();) {
    if (text.size() > kMostChars) return text + ",...";
    const auto gap = [&](std::size_t i) { return std::int64_t{indices[i + 1]} - indices[i]; };
    std::size_t to = from;
    const std::int64_t step = from + 1 < indices.size() ? gap(from) : 0;
    while (to + 1 < indices.size() && gap(to) == step) ++to;
    // Two with a gap between them are read more easily as two; falling numbers are not a range.
    if (step < 1 || (to == from + 1 && step > 1)) to = from;
    text += fmt::format("{}{}", from == 0 ? "" : ",", indices[from]);
    if (to > from) text += fmt::format("-{}", indices[to]);
    if (to > from && step > 1) text += fmt::format(":{}", step);
    from = to + 1;
  }
  return text;
}

std::string_view without_limit(std::string_view array) {
  return array.substr(0, array.find('%'));
}

Expected<ArrayIndices, ArrayError> parse_array(std::string_view text) {
  ArrayIndices array;
  std::string_view rest = without_limit(text);
  if (rest.size() < text.size()) {
    const auto limit = parse_whole(text.substr(rest.size() + 1));
    if (!limit || *limit == 0 || *limit > kMaxTasksPerJob) {
      return malformed(fmt::format("behind '%' has to stand how many may run at once, from 1 to {}",
                                   kMaxTasksPerJob));
    }
    array.max_running = static_cast<std::uint32_t>(*limit);
  }
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return range.error();
    if (!add(range.value(), array.indices)) {
      return malformed(fmt::format("there are more than {} indices", kMaxTasksPerJob));
    }
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  // A copy: the order in which indices are written is that of the tasks.
  std::vector<std::uint32_t> sorted = array.indices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return malformed(fmt::format("index {} is there twice", *twice));
  return array;
}

}  // namespace muster
