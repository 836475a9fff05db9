#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Writes a stream to files of bounded size in a folder. A file's name carries the place of its
/// first byte in the stream, so that places stay true when old files go.
class LogWriter {
 public:
  struct Bounds {
    std::uint64_t file_bytes = 8u << 20;  ///< at least 1
    std::uint32_t files_kept = 2;         ///< full files besides the one that is written to
  };
  LogWriter(int folder, std::string name, Bounds bounds);

  /// Text that cannot be written (a full disk) is dropped: the task must not wait for it.
  void write(std::string_view text);
  std::uint64_t written() const { return offset_; }
  std::uint64_t dropped() const { return dropped_; }
  /// Up to where it is in files that nothing is added to any more.
  std::uint64_t filled() const {
    return in_file_ < bounds_.file_bytes ? offset_ - in_file_ : offset_;
  }

 private:
  bool next_file();

  int folder_;
  std::string name_;
  Bounds bounds_;
  Descriptor file_;
  std::uint64_t offset_ = 0;
  std::uint64_t in_file_ = 0;
  std::uint64_t dropped_ = 0;
  std::vector<std::uint64_t> full_;  ///< first bytes of the files kept
};

/// The kept part of a stream that a LogWriter writes or has written.
class LogReader {
 public:
  LogReader(int folder, std::string name);

  std::uint64_t begin() const;  ///< place of the oldest byte that is left
  std::uint64_t end() const { return end_; }
  /// Up to `max_bytes` from `offset` on; `offset` becomes the place where the text begins.
  std::string read(std::uint64_t& offset, std::size_t max_bytes) const;
  std::string tail(std::size_t max_bytes) const;

 private:
  int folder_;
  std::string name_;
  std::vector<std::uint64_t> files_;  ///< places of their first bytes, rising
  std::uint64_t end_ = 0;
};

}  // namespace muster::process
