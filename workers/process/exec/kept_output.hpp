#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::process {

/// Output of a command that its client has not taken yet. Places are counted from the first byte.
class KeptOutput {
 public:
  /// Beyond it no more is read: the command waits until its client has taken some.
  static constexpr std::size_t kMost = std::size_t{256} << 10;

  std::size_t room() const { return kMost - std::min(kMost, text_.size()); }
  void add(std::string_view text) { text_ += text; }
  /// Bytes before that place have come, and are not asked for again.
  void drop_before(std::uint64_t place) {
    if (place <= begin_) return;
    const std::size_t count = std::min<std::uint64_t>(place - begin_, text_.size());
    text_.erase(0, count);
    begin_ += count;
  }
  /// Where what is kept begins.
  std::uint64_t begin() const { return begin_; }
  std::string_view text() const { return text_; }

 private:
  std::string text_;
  std::uint64_t begin_ = 0;
};

}  // namespace muster::process
