#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "model/time.hpp"

namespace muster::client {

/// How many bytes of files one request carries: as many as the connection carries in a few seconds,
/// for a request that takes longer than a try may take never gets through.
class PieceSize {
 public:
  static constexpr std::size_t kFirst = std::size_t{1} << 20;
  static constexpr std::size_t kLeast = std::size_t{64} << 10;
  /// A request that was quicker is followed by one of twice the size, a slower one by one of half.
  static constexpr Duration kQuick = std::chrono::seconds{1};
  static constexpr Duration kSlow = std::chrono::seconds{4};

  explicit PieceSize(std::size_t most) : most_(most), bytes_(std::min(kFirst, most)) {}

  std::size_t bytes() const { return bytes_; }
  /// A request of about this size took that long.
  void took(Duration time) {
    if (time < kQuick) bytes_ = std::min(most_, bytes_ * 2);
    if (time > kSlow) bytes_ = std::min(most_, std::max(kLeast, bytes_ / 2));
  }
  /// The result of a request, whose time is taken.
  template <class Request>
  auto timed(Request request) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = request();
    took(std::chrono::steady_clock::now() - begin);
    return result;
  }

 private:
  std::size_t most_;
  std::size_t bytes_;
};

}  // namespace muster::client
