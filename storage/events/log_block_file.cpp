#include "storage/events/log_block_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

// The file of one attempt's output. Blocks come first and the index last, so that it is written in
// one pass without holding the output in memory; the mark at the very end makes a file that was cut
// off recognisable. The index is JSON, of which a reader trusts nothing.

namespace muster {
namespace {

using nlohmann::json;

// A reading unpacks whole blocks: large enough to pack well, small enough for a tail of a few
// KiB.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
/// A block that says it is longer than any is part of a damaged file.
constexpr std::size_t kMaxPackedBytes = 2 * kBlockBytes;
// Bounds what a damaged length can make a reader allocate.
constexpr std::size_t kMaxIndexBytes = std::size_t{64} << 20;
constexpr std::string_view kMark = "MUSTLOG1";
constexpr const char* kDamaged = "the file that it was kept in is damaged";
constexpr std::size_t kLengthDigits = 20;  ///< of the index' length, before the mark

std::string packed(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(text.data());
  auto* to = reinterpret_cast<Bytef*>(bytes.data());
  // The fastest level: the thread that packs is the one that answers reads.
  const int code = compress2(to, &size, from, text.size(), Z_BEST_SPEED);
  // compress2 fails only without memory; an empty block is then unreadable and counts as damage.
  bytes.resize(code == Z_OK ? size : 0);
  return bytes;
}

/// zlib's own checksum tells when the bytes are not those that were written.
std::optional<std::string> unpacked(const std::string& bytes, std::size_t size) {
  std::string text(size, '\0');
  uLongf got = size;
  const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
  auto* to = reinterpret_cast<Bytef*>(text.data());
  if (uncompress(to, &got, from, bytes.size()) != Z_OK || got != size) return std::nullopt;
  return text;
}

std::string to_text(const LogIndex& index) {
  json streams = json::array();
  for (const auto& stream : index.streams) {
    json blocks = json::array();
    for (const LogIndex::Block& block : stream) {
      blocks.push_back({block.offset, block.bytes, block.at, block.packed});
    }
    streams.push_back(std::move(blocks));
  }
  const json document{{"lost", index.lost}, {"streams", std::move(streams)}};
  // `lost` may quote bytes that are no UTF-8, at which dump() throws unless told to replace
  // them.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<LogIndex::Block> block_from(const json& entry) {
  if (!entry.is_array() || entry.size() != 4) return std::nullopt;
  for (const json& number : entry) {
    if (!number.is_number_unsigned()) return std::nullopt;
  }
  LogIndex::Block block{entry[0].get<std::uint64_t>(), entry[1].get<std::uint32_t>(),
                        entry[2].get<std::uint64_t>(), entry[3].get<std::uint32_t>()};
  // Both lengths are allocated before the bytes prove them.
  const bool sound = block.bytes <= kBlockBytes && block.packed <= kMaxPackedBytes;
  return sound ? std::optional(block) : std::nullopt;
}

std::optional<LogIndex> index_from(const std::string& text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("lost") || !document["lost"].is_string() ||
      !document.contains("streams")) {
    return std::nullopt;
  }
  const json& streams = document["streams"];
  if (!streams.is_array() || streams.size() != kLogStreams) return std::nullopt;
  LogIndex index;
  index.lost = document["lost"].get<std::string>();
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    for (const json& entry : streams[i]) {
      const auto block = block_from(entry);
      if (!block) return std::nullopt;
      index.streams[i].push_back(*block);
    }
  }
  return index;
}

/// That number of bytes from the place on; fewer where the file ends.
std::string bytes_at(std::ifstream& in, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '\0');
  // An earlier reading may have met the end of the file, after which a stream refuses to seek.
  in.clear();
  in.seekg(static_cast<std::streamoff>(at));
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return bytes;
}

}  // namespace

LogBlockWriter::LogBlockWriter(std::filesystem::path draft)
    : draft_(std::move(draft)), out_(draft_, std::ios::binary | std::ios::trunc) {}

LogBlockWriter::~LogBlockWriter() {
  if (finished_) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(draft_, ignored);
}

void LogBlockWriter::put(std::string_view bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  size_ += bytes.size();
}

bool LogBlockWriter::add(const LogPiece& piece) {
  auto& blocks = index_.streams[piece.error_stream ? 1 : 0];
  std::string_view text = piece.text;
  std::uint64_t offset = piece.offset;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, kBlockBytes);
    const std::string bytes = packed(part);
    blocks.push_back({offset, static_cast<std::uint32_t>(part.size()), size_,
                      static_cast<std::uint32_t>(bytes.size())});
    put(bytes);
    offset += part.size();
    text.remove_prefix(part.size());
  }
  return static_cast<bool>(out_);
}

bool LogBlockWriter::finish(const std::filesystem::path& file, const std::string& lost) {
  index_.lost = lost;
  const std::string index = to_text(index_);
  std::string length = std::to_string(index.size());
  // Of fixed width, so that a reader finds it from the end; 20 digits hold any 64-bit number.
  length.insert(0, kLengthDigits - length.size(), '0');
  put(index);
  put(length);
  put(kMark);
  out_.close();
  // After close(), which writes out what is buffered: a full disk shows here at the latest. The
  // destructor removes the draft.
  if (!out_) return false;
  std::error_code failed;
  // Makes the log appear at once and whole, in place of one that came before.
  std::filesystem::rename(draft_, file, failed);
  finished_ = !failed;
  return finished_;
}

std::optional<LogIndex> read_log_index(std::ifstream& in) {
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  constexpr std::size_t kTrailer = kLengthDigits + kMark.size();
  if (!in || end < static_cast<std::streamoff>(kTrailer)) return std::nullopt;
  const std::uint64_t size = static_cast<std::uint64_t>(end) - kTrailer;
  const std::string trailer = bytes_at(in, size, kTrailer);
  if (trailer.substr(std::min(trailer.size(), kLengthDigits)) != kMark) return std::nullopt;
  std::uint64_t length = 0;
  // The bound inside the loop keeps `length` from wrapping round.
  for (const char digit : trailer.substr(0, kLengthDigits)) {
    if (digit < '0' || digit > '9' || length > kMaxIndexBytes) return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (length > size || length > kMaxIndexBytes) return std::nullopt;
  return index_from(bytes_at(in, size - length, length));
}

std::optional<KeptLog> read_log_file(const std::filesystem::path& file,
                                     const LogSink::Place& place) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const auto index = read_log_index(in);
  // Without an index no block can be found: not even the beginning can be read.
  if (!index) return KeptLog{place.offset, {}, 0, kDamaged, true};
  const auto& blocks = index->streams[place.error_stream ? 1 : 0];
  KeptLog kept{place.offset, {}, 0, index->lost};
  if (!blocks.empty()) kept.end = blocks.back().offset + blocks.back().bytes;
  auto block = std::find_if(blocks.begin(), blocks.end(), [&](const LogIndex::Block& each) {
    return each.offset + each.bytes > place.offset;
  });
  for (; block != blocks.end() && kept.text.size() < place.max_bytes; ++block) {
    if (kept.text.empty()) kept.offset = std::max(place.offset, block->offset);
    // Blocks may overlap or leave gaps, for a worker repeats what it has no answer for and may
    // have dropped what came too fast.
    const std::uint64_t next = kept.offset + kept.text.size();
    if (block->offset > next) break;  // behind a gap: for the next reading
    if (block->offset + block->bytes <= next) continue;
    const auto text = unpacked(bytes_at(in, block->at, block->packed), block->bytes);
    if (!text) {
      kept.end = next;
      kept.lost = kDamaged;
      return kept;
    }
    // append() itself keeps to the end of the block and to what is left of max_bytes.
    kept.text.append(*text, next - block->offset, place.max_bytes - kept.text.size());
  }
  return kept;
}

}  // namespace muster
