#pragma once

#include <cstdint>
#include <string_view>

namespace muster::api {

/// Holds the bytes of a request against the framing of RFC 9112 where the parser is lenient:
/// whoever stands before the server must see the same lines, and the same end of the body, as it
/// does.
class FrameCheck {
 public:
  /// Forgets the request; the next byte is the first of another one.
  void reset() { *this = {}; }
  /// What follows the head; said before the head's last byte is looked at.
  void expect_body(std::uint64_t bytes) { body_left_ = bytes; }
  void expect_chunks() { chunked_ = true; }

  /// What is wrong with the next bytes, for people; empty: nothing. O(bytes).
  std::string_view look(std::string_view bytes);

 private:
  enum class Part : std::uint8_t {
    first_line,
    fields,
    body,
    chunk_size,
    chunk_words,
    chunk,
    chunk_end
  };

  std::string_view look_at_line(char byte);
  std::string_view look_at_size(char byte);
  std::string_view end_line();

  Part part_ = Part::first_line;
  std::uint64_t body_left_ = 0;  ///< of the body, or of the chunk
  std::uint32_t line_bytes_ = 0;
  std::uint32_t spaces_ = 0;  ///< in the first line
  bool chunked_ = false;
  bool last_chunk_ = false;
  bool after_return_ = false;
};

}  // namespace muster::api
