#include "storage/stores/store_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include "storage/stores/log_format.hpp"

// A store's folder without RocksDB: tells by the files alone whether there is a store, whether one
// was being made, and whether a manifest or a log has lost an end. RocksDB takes a log that was cut
// off for one that never had more; these checks are what notices.

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMakingFile = "MAKING";
constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// A file that only a store has. The lock is nothing: looking for a store may leave one.
bool is_of_store(const std::string& name) {
  const fs::path extension = fs::path(name).extension();
  return name == "CURRENT" || name == kMarkFile || name == "IDENTITY" || extension == ".log" ||
         extension == ".sst" || extension == ".dbtmp" || name.starts_with(kManifestPrefix) ||
         name.starts_with("OPTIONS-");
}

std::vector<fs::path> files_of_store(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code bad;
  for (fs::directory_iterator it(folder, bad), end; !bad && it != end; it.increment(bad)) {
    if (is_of_store(it->path().filename().string())) files.push_back(it->path());
  }
  return files;
}

std::map<std::uint64_t, fs::path> numbered_in(const fs::path& folder, const char* extension) {
  std::map<std::uint64_t, fs::path> found;
  for (const fs::path& file : files_of_store(folder)) {
    if (file.extension() != extension) continue;
    if (const auto number = number_in(file.stem().string())) found[*number] = file;
  }
  return found;
}

/// The changes of a log.
struct LogExtent {
  std::optional<std::uint64_t> first;  ///< nothing: it has no change
  std::uint64_t next = 0;              ///< after the last one
  bool torn = false;                   ///< something follows that is no whole record
};

using log_format::first_part;
using log_format::kBlock;
using log_format::kHeader;
using log_format::kRecordHead;
using log_format::last_part;
using log_format::little_endian;
using log_format::middle_part;
using log_format::Piece;
using log_format::whole;

/// Goes through a log by the headers of its pieces. Their checksums are RocksDB's part.
class LogWalk {
 public:
  explicit LogWalk(const fs::path& log) : in_(log, std::ios::binary) {}

  LogExtent walk() {
    std::vector<char> block(kBlock);
    while (!extent_.torn && in_) {
      in_.read(block.data(), kBlock);
      const auto got = static_cast<std::size_t>(in_.gcount());
      if (got == 0 || !take_block(block.data(), got)) break;
    }
    extent_.torn |= inside_;
    return extent_;
  }

 private:
  /// False at the end of what was written.
  bool take_block(const char* block, std::size_t size) {
    std::size_t at = 0;
    while (at + kHeader <= size) {
      const std::size_t length = little_endian(block + at + 4, 2);
      const auto type = static_cast<unsigned char>(block[at + 6]);
      if (type == 0 && length == 0) return false;  // room that was kept for more
      // A piece never crosses a block; one that says so, or is of a kind that is not known, was
      // cut off or overwritten.
      if (at + kHeader + length > size || type > last_part) {
        take_torn(block + at + kHeader, size - at - kHeader, type);
        return false;
      }
      take_piece(static_cast<Piece>(type), block + at + kHeader, length);
      at += kHeader + length;
    }
    // At the end of a whole block up to kHeader - 1 bytes are padding; elsewhere they are a
    // header that was cut off.
    extent_.torn |= size < kBlock && at < size;
    return size == kBlock;
  }

  /// Of a log without a whole record it is at least known which one it would begin with.
  void take_torn(const char* bytes, std::size_t length, unsigned char type) {
    extent_.torn = true;
    if (extent_.first || (type != whole && type != first_part) || length < kRecordHead) return;
    extent_.first = extent_.next = little_endian(bytes, 8);
  }

  void take_piece(Piece type, const char* bytes, std::size_t length) {
    if (type == whole || type == first_part) head_.clear();
    // The head alone is gathered: records may be megabytes, and it may itself be split over
    // pieces.
    if (head_.size() < kRecordHead) {
      head_.insert(head_.end(), bytes, bytes + std::min(length, kRecordHead - head_.size()));
    }
    inside_ = type == first_part || type == middle_part;
    if (inside_ || head_.size() < kRecordHead) return;
    const std::uint64_t sequence = little_endian(head_.data(), 8);
    if (!extent_.first) extent_.first = sequence;
    extent_.next = sequence + little_endian(head_.data() + 8, 4);
  }

  std::ifstream in_;
  LogExtent extent_;
  std::vector<char> head_;  ///< of the record that is being read
  bool inside_ = false;     ///< it goes on in another piece
};

}  // namespace

FolderState state_of(const fs::path& folder) {
  std::error_code bad;
  // Before CURRENT: a making that was cut short may have left one, with nothing promised in it.
  if (fs::exists(folder / kMakingFile, bad)) return FolderState::unfinished;
  if (fs::exists(folder / "CURRENT", bad)) return FolderState::store;
  return files_of_store(folder).empty() ? FolderState::empty : FolderState::headless;
}

std::optional<MakingOf> MakingOf::begin(const fs::path& folder) {
  // The folder is locked: the file beside the store goes when that is made, and a lock on it would
  // keep no process from making another.
  const int locked = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (locked < 0) return std::nullopt;
  MakingOf made(folder, locked);
  // Looked at under the lock, since another process may have finished a store before it let go.
  if (flock(locked, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  const FolderState state = state_of(folder);
  if (state != FolderState::empty && state != FolderState::unfinished) return std::nullopt;
  const int file = open((folder / kMakingFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return std::nullopt;
  close(file);
  // The marker has to be on the disk before any file of the store, or a power cut could leave a
  // half made store that looks like one.
  if (!sync_folder(folder)) return std::nullopt;
  return made;
}

MakingOf::~MakingOf() {
  if (locked_ >= 0) close(locked_);
}

bool MakingOf::clear() const {
  std::error_code bad;
  for (const fs::path& file : files_of_store(folder_)) {
    if (!fs::remove(file, bad) || bad) return false;
  }
  return true;
}

bool MakingOf::finish() {
  std::error_code bad;
  // Files first, then the end of the marker: each sync makes the step before it last, so that a
  // power cut leaves either a making that is repeated or a store that is complete.
  return sync_folder(folder_) && fs::remove(folder_ / kMakingFile, bad) && sync_folder(folder_);
}

bool sync_folder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool synced = fsync(file) == 0;
  close(file);
  return synced;
}

std::map<std::uint64_t, fs::path> logs_in(const fs::path& folder) {
  return numbered_in(folder, ".log");
}

std::map<std::uint64_t, fs::path> tables_in(const fs::path& folder) {
  return numbered_in(folder, ".sst");
}

std::string log_names(const fs::path& folder) {
  std::string names;
  for (const auto& [number, log] : logs_in(folder)) {
    names += (names.empty() ? "" : ", ") + log.filename().string();
  }
  return names.empty() ? "no log" : names;
}

Manifest Manifest::current(const fs::path& folder) {
  Manifest found;
  std::string name;
  std::ifstream in(folder / "CURRENT");
  std::getline(in, name);
  if (!name.starts_with(kManifestPrefix)) return found;
  const auto number = number_in(std::string_view(name).substr(kManifestPrefix.size()));
  found.number_ = number.value_or(0);
  found.path_ = folder / name;
  return found;
}

std::uint64_t Manifest::size() const {
  struct stat status {};
  return stat(path_.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool Manifest::read_to(std::uint64_t bytes) {
  // Goes on where the last call stopped: a manifest only grows, so that its sum over a run costs
  // one pass and not one for each write.
  if (bytes <= bytes_) return true;
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<unsigned char, 16384> part{};
  while (file >= 0 && bytes_ < bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(part.size(), bytes - bytes_);
    // Not past `bytes`: the writer may be adding more, of which the mark says nothing.
    const ssize_t got = pread(file, part.data(), wanted, static_cast<off_t>(bytes_));
    if (got <= 0) break;
    sum_ = static_cast<std::uint32_t>(crc32(sum_, part.data(), static_cast<uInt>(got)));
    bytes_ += static_cast<std::uint64_t>(got);
  }
  if (file >= 0) close(file);
  return bytes_ == bytes;
}

bool Manifest::sync() const {
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fdatasync(file) == 0;
  if (file >= 0) close(file);
  return synced;
}

std::string manifest_fault(const fs::path& folder, const StoreMark& mark) {
  // The mark was made before there was a manifest to speak of.
  if (mark.manifest == 0) return {};
  Manifest manifest = Manifest::current(folder);
  if (manifest.number() > mark.manifest) return {};  // a later opening did not get to its mark
  if (manifest.number() < mark.manifest) {
    return fmt::format("{} does not name MANIFEST-{:06} or a later one",
                       (folder / "CURRENT").string(), mark.manifest);
  }
  if (!manifest.read_to(mark.manifest_bytes)) {
    return fmt::format("{} ends after {} bytes; there were {}", manifest.path().string(),
                       manifest.bytes(), mark.manifest_bytes);
  }
  if (manifest.sum() == mark.manifest_sum) return {};
  return fmt::format("{} is damaged in its first {} bytes", manifest.path().string(),
                     mark.manifest_bytes);
}

std::string log_fault(const fs::path& folder) {
  const auto logs = logs_in(folder);
  // A single log is checked against the mark's sequence number by its opener.
  if (logs.size() < 2) return {};
  std::optional<LogExtent> before;
  fs::path log_before;
  for (const auto& [number, log] : logs) {
    const LogExtent extent = LogWalk(log).walk();
    // RocksDB makes a log at every opening; one without a change says nothing of the one before.
    if (!extent.first) continue;
    // A write that failed may have left a torn end, with nothing lost: the next log goes on where
    // it ends. A log in between may be gone for good, and this one too soon.
    if (before && before->torn && extent.first && *extent.first > before->next) {
      return fmt::format("{} ends before change {}, and {} goes on at {}", log_before.string(),
                         before->next, log.filename().string(), *extent.first);
    }
    before = extent;
    log_before = log;
  }
  return {};
}

}  // namespace muster
