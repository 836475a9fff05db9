#include "storage/stores/damaged_log.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "storage/stores/log_format.hpp"
#include "storage/stores/store_folder.hpp"

// Write-ahead logs read piece by piece (log_format.hpp); the checksum of a piece is a masked
// CRC-32C of its type and bytes. A damaged piece is passed over by the length that it says only
// when a whole piece follows there. Pieces are not looked for elsewhere in the block: the bytes of
// a user's job could be made to look like one.

namespace muster {
namespace {

namespace fs = std::filesystem;

using log_format::first_part;
using log_format::kBlock;
using log_format::kHeader;
using log_format::kRecordHead;
using log_format::last_part;
using log_format::little_endian;
using log_format::middle_part;
using log_format::Piece;
using log_format::whole;

std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kCastagnoli = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kCastagnoli : 0);
    table[byte] = sum;
  }
  return table;
}

/// CRC-32C as RocksDB writes it: turned and shifted, so that a sum over sums is no special case.
std::uint32_t masked_sum(const char* bytes, std::size_t count) {
  static const std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t sum = ~std::uint32_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    sum = kTable[(sum ^ static_cast<unsigned char>(bytes[i])) & 0xff] ^ (sum >> 8);
  }
  sum = ~sum;
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8U;
}

/// Whole records of a log, in their order.
class LogReader {
 public:
  explicit LogReader(const fs::path& log) : in_(log, std::ios::binary) {}

  std::vector<std::string> records() {
    std::string block(kBlock, '\0');
    while (in_) {
      in_.read(block.data(), kBlock);
      const auto got = static_cast<std::size_t>(in_.gcount());
      if (got == 0) break;
      take_block(block.data(), got);
    }
    return std::move(records_);
  }

 private:
  static bool fits(const char* piece, std::size_t room) {
    const auto kind = static_cast<unsigned char>(piece[6]);
    return kind >= whole && kind <= last_part && kHeader + little_endian(piece + 4, 2) <= room;
  }
  static bool is_whole(const char* piece, std::size_t room) {
    return room >= kHeader && fits(piece, room) &&
           masked_sum(piece + 6, 1 + little_endian(piece + 4, 2)) == little_endian(piece, 4);
  }

  void take_block(const char* block, std::size_t size) {
    std::size_t at = 0;
    while (at + kHeader <= size) {
      const char* piece = block + at;
      const std::size_t room = size - at;
      const std::size_t length = kHeader + little_endian(piece + 4, 2);
      if (is_whole(piece, room)) {
        take_piece(static_cast<Piece>(piece[6]), {piece + kHeader, length - kHeader});
      } else {
        // A record of which a piece is damaged is lost with all its pieces.
        inside_ = false;
        if (!fits(piece, room) || !is_whole(piece + length, room - length)) return;
      }
      at += length;
    }
  }

  void take_piece(Piece kind, std::string_view bytes) {
    const bool begins = kind == whole || kind == first_part;
    if (begins) record_.clear();
    if (!begins && !inside_) return;
    record_ += bytes;
    inside_ = kind == first_part || kind == middle_part;
    if (!inside_ && record_.size() >= kRecordHead) records_.push_back(record_);
  }

  std::ifstream in_;
  std::vector<std::string> records_;
  std::string record_;
  bool inside_ = false;  ///< the record goes on in another piece
};

/// The log of these records.
std::string log_of(const std::vector<std::string>& records) {
  std::string log;
  for (const std::string& record : records) {
    std::size_t at = 0;
    bool first = true;
    do {
      std::size_t room = kBlock - log.size() % kBlock;
      if (room < kHeader) {
        log.append(room, '\0');
        room = kBlock;
      }
      const std::size_t length = std::min(room - kHeader, record.size() - at);
      const bool last = at + length == record.size();
      const Piece kind = first ? (last ? whole : first_part) : (last ? last_part : middle_part);
      const std::string summed = static_cast<char>(kind) + record.substr(at, length);
      const std::uint32_t sum = masked_sum(summed.data(), summed.size());
      for (int byte = 0; byte < 4; ++byte) log += static_cast<char>(sum >> (8 * byte) & 0xff);
      log += static_cast<char>(length & 0xff);
      log += static_cast<char>(length >> 8);
      log += summed;
      at += length;
      first = false;
    } while (at < record.size());
  }
  return log;
}

}  // namespace

Expected<MendedLogs, StoreError> mend_logs(const fs::path& folder) {
  MendedLogs mended;
  for (const auto& [number, log] : logs_in(folder)) {
    std::vector<std::string> kept;
    for (std::string& record : LogReader(log).records()) {
      const std::uint64_t first = little_endian(record.data(), 8);
      if (mended.next != 0 && first > mended.next) {
        mended.lost.push_back({log.filename().string(), mended.next, first});
      }
      // A write that failed may have left its record, and the next one has the numbers again.
      mended.next = std::max(mended.next, first + little_endian(record.data() + 8, 4));
      kept.push_back(std::move(record));
    }
    std::ofstream out(log, std::ios::binary | std::ios::trunc);
    out << log_of(kept) << std::flush;
    if (!out) return Failure<StoreError>{StoreError::unwritable, log.string() + ": is not written"};
  }
  return mended;
}

}  // namespace muster
