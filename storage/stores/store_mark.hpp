#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "model/expected.hpp"
#include "storage/stores/store_error.hpp"

namespace muster {

/// The numbers that a store's owner has given out: all that are lower.
struct Reached {
  std::uint64_t events = 0;  ///< of a master's journal
  std::uint64_t jobs = 0;    ///< of a site

  friend bool operator==(const Reached&, const Reached&) = default;
};

/// How far a store has come for good, kept in a file beside its tables so that a log or a manifest
/// that has lost its end is told from one that never had more.
struct StoreMark {
  std::uint64_t sequence = 0;        ///< of the last change that is durable
  Reached reached;                   ///< with what is durable
  std::uint64_t log = 0;             ///< number of the log that this change is in
  std::uint64_t manifest = 0;        ///< number of the manifest
  std::uint64_t manifest_bytes = 0;  ///< that it had at least
  std::uint32_t manifest_sum = 0;    ///< checksum of these

  friend bool operator==(const StoreMark&, const StoreMark&) = default;
};

/// Its name in the store's folder.
inline constexpr const char* kMarkFile = "MARK";

/// The mark of the store in the folder; nothing when there is no such file. An error when neither
/// of its two copies can be read.
Expected<std::optional<StoreMark>, StoreError> read_mark(const std::filesystem::path& folder);

/// Keeps the mark of a store that is open. The copies are written by turns, so that one of them is
/// whole whatever a crash does to the other.
class MarkFile {
 public:
  /// Goes on with the file in the folder, or makes one that holds `first` and is durable.
  static Expected<MarkFile, StoreError> open(const std::filesystem::path& folder,
                                             const StoreMark& first);
  MarkFile() = default;
  MarkFile(MarkFile&& other) noexcept;
  MarkFile& operator=(MarkFile&& other) noexcept;
  /// Waits for the disk.
  ~MarkFile();

  bool is_open() const { return file_ >= 0; }
  const StoreMark& last() const { return last_; }
  /// Survives the end of the process at once, and that of the machine when a second has passed and
  /// another follows. A mark that cannot be written stays behind, which makes no sound store look
  /// damaged.
  void put(const StoreMark& mark);

 private:
  using Clock = std::chrono::steady_clock;

  int file_ = -1;
  std::uint64_t turn_ = 0;  ///< counts what was written
  StoreMark last_;
  /// Its default lies far in the past, so that the first mark after opening is synced.
  Clock::time_point synced_;
};

}  // namespace muster
