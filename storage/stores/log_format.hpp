#pragma once

#include <cstddef>
#include <cstdint>

// How RocksDB writes its logs: blocks, in which each piece of a record has a header of checksum,
// length and type; a record begins with the number of its first change and the count of them.
// These sizes are RocksDB's format (db/log_format.h) and change only with it.

namespace muster::log_format {

inline constexpr std::size_t kBlock = 32768;
inline constexpr std::size_t kHeader = 7;
inline constexpr std::size_t kRecordHead = 12;
/// Part that a piece is of its record.
enum Piece : unsigned char { whole = 1, first_part = 2, middle_part = 3, last_part = 4 };

/// The number that the bytes are, at most eight, the lowest first.
inline std::uint64_t little_endian(const char* bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

}  // namespace muster::log_format
