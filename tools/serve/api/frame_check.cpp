#include "tools/serve/api/frame_check.hpp"

#include <algorithm>

namespace muster::api {
namespace {

/// Of a size in hexadecimal: more would not fit 64 bits.
constexpr std::uint32_t kMaxDigits = 15;
constexpr std::uint32_t kMaxLineBytes = 0xffff'ffff;

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

bool is_control(char letter) {
  return (static_cast<unsigned char>(letter) < ' ' && letter != '\t') || letter == 0x7f;
}

constexpr std::string_view kBareReturn = "a carriage return stands alone";
constexpr std::string_view kBareFeed = "a line ends with a line feed alone; CR LF has to end it";

}  // namespace

std::string_view FrameCheck::look(std::string_view bytes) {
  while (!bytes.empty()) {
    if (part_ == Part::body || part_ == Part::chunk) {
      const std::uint64_t taken = std::min<std::uint64_t>(body_left_, bytes.size());
      // After a body of known length another request begins, which is another check's.
      if (taken == 0) return {};
      body_left_ -= taken;
      bytes.remove_prefix(static_cast<std::size_t>(taken));
      if (body_left_ == 0 && part_ == Part::chunk) part_ = Part::chunk_end;
      continue;
    }
    const char byte = bytes.front();
    bytes.remove_prefix(1);
    if (const std::string_view fault = look_at_line(byte); !fault.empty()) return fault;
  }
  return {};
}

/// Ends of lines are the same for all that is made of lines.
std::string_view FrameCheck::look_at_line(char byte) {
  if (after_return_) {
    after_return_ = false;
    return byte == '\n' ? end_line() : kBareReturn;
  }
  if (byte == '\r') {
    after_return_ = true;
    return {};
  }
  if (byte == '\n') return kBareFeed;
  if (is_control(byte)) return "there is a control character in it";
  if (part_ == Part::chunk_end) return "a chunk is longer than it says";
  if (part_ == Part::chunk_size) return look_at_size(byte);
  if (line_bytes_ == 0 && (byte == ' ' || byte == '\t')) {
    return "a line begins with a space: headers that go on in another line are obsolete";
  }
  if (line_bytes_ < kMaxLineBytes) ++line_bytes_;
  if (part_ == Part::first_line && byte == '\t') return "there is a tab in its first line";
  if (part_ == Part::first_line && byte == ' ' && ++spaces_ > 2) {
    return "its first line has more than two spaces";
  }
  return {};
}

std::string_view FrameCheck::look_at_size(char byte) {
  if (byte == ';' && line_bytes_ > 0) {
    part_ = Part::chunk_words;
    return {};
  }
  const int digit = digit_of(byte);
  if (digit < 0) return "the size of a chunk has to be in hexadecimal digits alone";
  if (++line_bytes_ > kMaxDigits) return "the size of a chunk has too many digits";
  body_left_ = body_left_ * 16 + static_cast<std::uint64_t>(digit);
  return {};
}

std::string_view FrameCheck::end_line() {
  const bool empty = line_bytes_ == 0;
  line_bytes_ = 0;
  switch (part_) {
    case Part::first_line:
      // Empty lines before a request are passed over, as RFC 9112 wishes.
      if (!empty) part_ = Part::fields;
      return {};
    case Part::chunk_size:
      if (empty) return "the size of a chunk is missing";
      [[fallthrough]];
    case Part::chunk_words:
      last_chunk_ = body_left_ == 0;
      part_ = last_chunk_ ? Part::fields : Part::chunk;
      return {};
    case Part::chunk_end:
      part_ = Part::chunk_size;
      return {};
    default:
      if (!empty) return {};
      part_ = chunked_ && !last_chunk_ ? Part::chunk_size : Part::body;
      return {};
  }
}

}  // namespace muster::api
