#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/link/worker_link_codec.hpp"

namespace muster::test {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

/// The result of `use` with the frame, which has to be a good one.
template <class T>
T read_back(const FrameBytes& bytes, const std::function<T(link_wire::Frame::Reader)>& use) {
  std::vector<std::uint64_t> words((bytes.size() - kFrameHeaderBytes) / sizeof(std::uint64_t));
  std::memcpy(words.data(), bytes.data() + kFrameHeaderBytes, words.size() * 8);
  std::optional<T> result;
  const auto problem = read_frame(words, [&](link_wire::Frame::Reader frame) {
    result = use(frame);
    return std::optional<std::string>();
  });
  EXPECT_EQ(problem, std::nullopt);
  return std::move(*result);
}

}  // namespace muster::test
