#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "serve/api/backend.hpp"

namespace muster::api {

/// A piece of an attempt's output, as the cluster knows it.
struct LogPiece {
  Attempt attempt = 0;
  std::uint64_t offset = 0;
  std::string bytes;
  std::optional<std::uint64_t> size;  ///< of the stream so far
  bool more = false;                  ///< more is there, or may come
  std::string lost;                   ///< why output is missing; empty: no output is
};

/// The piece as JSON, with the stream that it is of. It ends between characters, unless nothing
/// follows: bytes that are cut off begin the next one. Each byte that is not of UTF-8 becomes one
/// U+FFFD.
Answer log_document(const LogQuery& query, const LogPiece& piece);
/// The piece's bytes, with the rest in headers.
Answer log_bytes(LogPiece piece);

/// The bytes as UTF-8.
std::string as_utf8(std::string_view bytes);
/// How many bytes are left when a character that the text ends in the midst of is cut off.
std::size_t whole_characters(std::string_view bytes);

}  // namespace muster::api
