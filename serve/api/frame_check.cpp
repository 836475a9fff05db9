#include "serve/api/frame_check.hpp"

#include <algorithm>

namespace muster::api {
namespace {

/// Of a size in hexadecimal: more would not fit 64 bits.
constexpr std::uint32_t kMaxDigits = 15;
constexpr std::uint32_t kMaxLineBytes = 0xffff'ffff;
constexpr std::uint32_t kMaxMethodBytes = 16;  // no method of HTTP has more

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

bool is_control(char letter) {
  return (static_cast<unsigned char>(letter) < ' ' && letter != '\t') || letter == 0x7f;
}

/// Of a token of RFC 9110: with a space before the colon a name would be another one to others.
bool is_of_name(char letter) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || kMarks.find(letter) != std::string_view::npos;
}

constexpr std::string_view kBareReturn = "a carriage return stands alone";
constexpr std::string_view kBareFeed = "a line ends with a line feed alone; CR LF has to end it";
constexpr std::string_view kBadName =
    "the name of a header has to be letters, digits and -, up to its colon";

}  // namespace

FrameCheck::Looked FrameCheck::look(std::string_view bytes, std::size_t most_of_lines) {
  if (part_ == Part::body || part_ == Part::chunk) {
    const std::uint64_t taken = std::min<std::uint64_t>(body_left_, bytes.size());
    body_left_ -= taken;
    if (body_left_ == 0 && part_ == Part::chunk) part_ = Part::chunk_end;
    return {static_cast<std::size_t>(taken), Cut::data};
  }
  cut_ = Cut::none;
  std::size_t used = 0;
  bytes = bytes.substr(0, most_of_lines);
  while (used < bytes.size() && cut_ == Cut::none) {
    const std::string_view fault = look_at_line(bytes[used++]);
    if (!fault.empty()) return {used, Cut::none, fault};
  }
  return {used, cut_};
}

/// Ends of lines have one form in all parts that are made of lines.
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
  if (part_ == Part::method || part_ == Part::first_line) return look_at_first_line(byte);
  return part_ == Part::name ? look_at_name(byte) : std::string_view();
}

std::string_view FrameCheck::look_at_first_line(char byte) {
  if (byte == '\t') return "there is a tab in its first line";
  if (byte == ' ') {
    part_ = Part::first_line;
    return ++spaces_ > 2 ? "its first line has more than two spaces" : std::string_view();
  }
  if (part_ != Part::method) return {};
  const bool fits = (byte >= 'A' && byte <= 'Z') || byte == '-';
  return fits && line_bytes_ <= kMaxMethodBytes ? std::string_view() : "its method is unknown";
}

std::string_view FrameCheck::look_at_name(char byte) {
  if (byte == ':' && line_bytes_ > 1) {
    part_ = Part::value;
    return {};
  }
  return is_of_name(byte) ? std::string_view() : kBadName;
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
    case Part::method:
      // Empty lines before a request are passed over, as RFC 9112 wishes.
      if (!empty) return "its first line has no target";
      cut_ = Cut::nothing;
      return {};
    case Part::first_line:
      part_ = Part::name;
      cut_ = Cut::first_line;
      return {};
    case Part::name:
      if (!empty) return kBadName;
      part_ = Part::body;
      cut_ = last_chunk_ ? Cut::last_chunk : Cut::head;
      return {};
    case Part::chunk_size:
      if (empty) return "the size of a chunk is missing";
      [[fallthrough]];
    case Part::chunk_words:
      // The last one goes on with trailers, which are lines as header fields are.
      last_chunk_ = body_left_ == 0;
      part_ = last_chunk_ ? Part::name : Part::chunk;
      if (!last_chunk_) cut_ = Cut::chunk_size;
      return {};
    case Part::chunk_end:
      part_ = Part::chunk_size;
      return {};
    default:
      part_ = Part::name;
      return {};
  }
}

}  // namespace muster::api
