#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/events/log_sink.hpp"

// One attempt's output in a file: its pieces, each packed by zlib, then an index of them, the
// index' length and a mark. A file without a sound index at its end counts as absent.

namespace muster {

/// Where the pieces of a log are in its file.
struct LogIndex {
  struct Block {
    std::uint64_t offset = 0;  ///< in the stream
    std::uint32_t bytes = 0;   ///< of the stream
    std::uint64_t at = 0;      ///< in the file
    std::uint32_t packed = 0;  ///< in the file
  };
  std::array<std::vector<Block>, kLogStreams> streams;  ///< by rising offset
  std::string lost;                                     ///< why something is missing
};

/// Writes such a file as a draft and gives it its name when it is whole.
class LogBlockWriter {
 public:
  explicit LogBlockWriter(std::filesystem::path draft);
  ~LogBlockWriter();
  LogBlockWriter(const LogBlockWriter&) = delete;
  LogBlockWriter& operator=(const LogBlockWriter&) = delete;

  /// Cuts what is longer than a block. False when the disk does not take it, from then on for good.
  bool add(const LogPiece& piece);
  /// The file is there; false: it could not be written, and nothing is left of it.
  bool finish(const std::filesystem::path& file, const std::string& lost);
  /// Where the pieces are.
  const LogIndex& index() const { return index_; }

 private:
  void put(std::string_view bytes);

  std::filesystem::path draft_;
  std::ofstream out_;
  std::uint64_t size_ = 0;
  LogIndex index_;
  bool finished_ = false;
};

/// The file's index; nothing when there is no such file or it is not whole.
std::optional<LogIndex> read_log_index(std::ifstream& in);
/// Up to `max_bytes` of a stream from `offset` on; nothing when there is no such file. In one that
/// is damaged it ends, as lost, where the damage begins.
std::optional<KeptLog> read_log_file(const std::filesystem::path& file,
                                     const LogSink::Place& place);

}  // namespace muster
