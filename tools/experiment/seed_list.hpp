#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::experiment {

/// How many seeds a grid may have.
inline constexpr std::size_t kMostSeeds = 10'000;

/// The seeds that a text such as "1-10" or "1,3,7-9" names, in its order; nothing when it is no
/// such list, names one twice or more than kMostSeeds.
std::optional<std::vector<std::uint64_t>> parse_seeds(std::string_view text);

/// Forms that parse_seeds() takes, for error messages.
inline constexpr const char* kSeedsWanted =
    "seeds such as \"1-10\" or \"1,3,7-9\", or a list of different whole numbers";

}  // namespace muster::experiment
