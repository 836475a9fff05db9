#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::api {

/// Cuts the bytes of a request where a part of it ends, and holds them against the framing of RFC
/// 9112 where the parser is lenient: a proxy before the server must see the lines, and the end of
/// the body, as the server does.
class FrameCheck {
 public:
  /// Where the bytes that were looked at last end.
  enum class Cut : std::uint8_t {
    none,        ///< the beginning of lines whose end has not come
    nothing,     ///< an empty line before the request
    first_line,  ///< its end
    head,        ///< the end of the header fields
    chunk_size,  ///< the end of the line before a chunk
    data,        ///< bytes of the body, or of one chunk
    last_chunk   ///< the end of the last chunk and of its trailers
  };
  struct Looked {
    std::size_t used = 0;  ///< bytes up to the cut
    Cut cut = Cut::none;
    std::string_view fault{};  ///< their fault, for people; empty: no fault
  };

  /// Forgets the request; the next byte is the first of another one.
  void reset() { *this = {}; }
  /// The bytes behind the head, once that has ended.
  void expect_body(std::uint64_t bytes) { body_left_ = bytes; }
  void expect_chunks() { part_ = Part::chunk_size; }

  /// Looks at the next bytes up to the first cut, and at most at `most_of_lines` bytes of lines.
  /// O(bytes).
  Looked look(std::string_view bytes, std::size_t most_of_lines);

 private:
  enum class Part : std::uint8_t {
    method,
    first_line,
    name,
    value,
    body,
    chunk_size,
    chunk_words,
    chunk,
    chunk_end
  };

  std::string_view look_at_line(char byte);
  std::string_view look_at_first_line(char byte);
  std::string_view look_at_name(char byte);
  std::string_view look_at_size(char byte);
  std::string_view end_line();

  Part part_ = Part::method;
  Cut cut_ = Cut::none;
  std::uint64_t body_left_ = 0;  ///< of the body, or of the chunk
  std::uint32_t line_bytes_ = 0;
  std::uint32_t spaces_ = 0;  ///< in the first line
  bool last_chunk_ = false;
  bool after_return_ = false;
};

}  // namespace muster::api
