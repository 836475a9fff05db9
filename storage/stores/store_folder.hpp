#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/stores/store_error.hpp"
#include "storage/stores/store_mark.hpp"

// The files of a store as they lie in its folder, without RocksDB.

namespace muster {

/// Goes behind what is damaged.
inline constexpr std::string_view kWhatToDo =
    ". Put a backup in the folder's place (muster store restore), save what can be read of it "
    "(muster store salvage), or move the folder away and start the node with --new-store "
    "(docs/storage.md)";

/// State of a store's folder.
enum class FolderState : std::uint8_t {
  empty,       ///< no store, and nothing that one leaves
  unfinished,  ///< one that was being made, of which nothing was promised
  store,       ///< one that was made
  headless     ///< files of one, but no CURRENT
};
FolderState state_of(const std::filesystem::path& folder);

/// While a store is being made, this file lies beside it: the unfinished store may be removed.
class MakingOf {
 public:
  /// Nothing when another process is making it or has made it meanwhile, or the folder cannot be
  /// written.
  static std::optional<MakingOf> begin(const std::filesystem::path& folder);
  /// Takes away what an earlier making has left.
  bool clear() const;
  /// The store is made, and durable.
  bool finish();

  MakingOf(MakingOf&& other) noexcept
      : folder_(std::move(other.folder_)), locked_(std::exchange(other.locked_, -1)) {}
  MakingOf& operator=(MakingOf&&) = delete;
  ~MakingOf();

 private:
  MakingOf(std::filesystem::path folder, int locked)
      : folder_(std::move(folder)), locked_(locked) {}

  std::filesystem::path folder_;
  int locked_;  ///< the folder, for as long as this lives
};

/// Waits until the disk knows which files the folder has.
bool sync_folder(const std::filesystem::path& folder);

/// The write-ahead logs in the folder, by their numbers.
std::map<std::uint64_t, std::filesystem::path> logs_in(const std::filesystem::path& folder);
/// Likewise its tables.
std::map<std::uint64_t, std::filesystem::path> tables_in(const std::filesystem::path& folder);
/// Their names; "no log" for an empty folder.
std::string log_names(const std::filesystem::path& folder);

/// The manifest that CURRENT names, and how much of it has been read.
class Manifest {
 public:
  /// Number 0 when CURRENT names no manifest.
  static Manifest current(const std::filesystem::path& folder);

  std::uint64_t number() const { return number_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t sum() const { return sum_; }
  const std::filesystem::path& path() const { return path_; }
  /// Bytes that the file has now.
  std::uint64_t size() const;
  /// Reads on, up to that number of bytes; false when there are fewer.
  bool read_to(std::uint64_t bytes);
  /// Waits until the disk has what was read.
  bool sync() const;

 private:
  std::uint64_t number_ = 0, bytes_ = 0;
  std::uint32_t sum_ = 0;
  std::filesystem::path path_;
};

/// Difference of the manifest from the mark, with the file's name; empty: no difference.
std::string manifest_fault(const std::filesystem::path& folder, const StoreMark& mark);

/// Whether some log has lost its end although another one goes on behind that: with the name of the
/// log; empty: no log has.
std::string log_fault(const std::filesystem::path& folder);

}  // namespace muster
