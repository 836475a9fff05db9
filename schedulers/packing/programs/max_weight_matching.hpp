#pragma once

#include <cstdint>
#include <vector>

// This header and its source are C++17 and speak of the standard library alone: the library behind
// them does not know C++20.

namespace muster {

/// An edge of a graph whose nodes are numbered from 0.
struct WeightedEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t weight = 0;
};

inline constexpr std::uint32_t kNoMate = 0xffffffff;

/// The mate of each node in a matching of the largest sum of weights; kNoMate: it stays alone.
std::vector<std::uint32_t> max_weight_matching(std::uint32_t nodes,
                                               const std::vector<WeightedEdge>& edges);

}  // namespace muster
