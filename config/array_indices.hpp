#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/expected.hpp"

namespace muster {

/// Which tasks an array has, and how many of them may run at once.
struct ArrayIndices {
  std::vector<std::uint32_t> indices;  ///< each once, in the order they were written
  std::uint32_t max_running = 0;       ///< the number behind '%'; 0: no number
};

/// The largest index that a task of an array may have.
inline constexpr std::uint32_t kMaxArrayIndex = 999'999'999;

enum class ArrayError : std::uint8_t { malformed };

/// Understands "0-99", "1,3,7-9", "0-100:10" (each tenth) and "0-99%10". The message of an error
/// says what is wrong with which part: no number, a backward range, an index twice, too many of
/// them.
Expected<ArrayIndices, ArrayError> parse_array(std::string_view text);

/// The shortest of such texts for the indices, with ranges and steps; of a long one the beginning
/// and "...".
std::string array_text(const std::vector<std::uint32_t>& indices);

/// The text without what stands behind '%'.
std::string_view without_limit(std::string_view array);

}  // namespace muster
