#include "storage/stores/store_reserve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

// A file of real blocks that is deleted when the disk is full, so that the store can still end what
// it has begun. It is made again only when much more than its own size is free, or the stores of a
// node would give up and take back their reserves by turns.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Of the whole file system, so that the stores of a node leave the most of a small disk to others.
constexpr std::uint64_t kLeastShare = 32;
/// Free room that a store wants when it opens, in reserves.
constexpr std::uint64_t kFreeToBegin = 2;
/// Likewise once the disk has been full. Other stores have given theirs up then: that room is not
/// to be taken for a disk that has some again.
constexpr std::uint64_t kFreeToMend = 16;
constexpr std::uint64_t kMostFreeShare = 10;
constexpr auto kLookAgain = std::chrono::milliseconds{500};
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct DiskSpace {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

std::optional<DiskSpace> space_in(const fs::path& folder) {
  struct statvfs found {};
  if (statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  // f_bavail and not f_bfree: space that is left for root is not this process's to use.
  return DiskSpace{std::uint64_t{found.f_bavail} * found.f_frsize,
                   std::uint64_t{found.f_blocks} * found.f_frsize};
}

/// Whole and with blocks of its own, as an earlier process has left it.
bool is_whole(const fs::path& file, std::uint64_t bytes) {
  struct stat found {};
  constexpr std::uint64_t kStatBlock = 512;
  return lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         static_cast<std::uint64_t>(found.st_size) == bytes &&
         // A sparse file of the right size would free nothing when it is deleted.
         static_cast<std::uint64_t>(found.st_blocks) * kStatBlock >= bytes;
}

bool make(const fs::path& file, std::uint64_t bytes) {
  const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made < 0) return false;
  // Takes the blocks at once, which ftruncate() would not.
  const bool whole = posix_fallocate(made, 0, static_cast<off_t>(bytes)) == 0;
  close(made);
  if (!whole) unlink(file.c_str());
  return whole;
}

std::uint64_t free_to_mend(std::uint64_t bytes, std::uint64_t total) {
  return std::max(kFreeToBegin * bytes, std::min(kFreeToMend * bytes, total / kMostFreeShare));
}

}  // namespace

void StoreReserve::begin(const fs::path& folder, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  folder_ = folder;
  const auto space = space_in(folder);
  bytes_ = space ? std::min(bytes, space->total / kLeastShare) : 0;
  wanted_ = kFreeToBegin * bytes_;
  there_ = bytes_ > 0 && is_whole(folder_ / kFile, bytes_);
  // One of another size, or of a process that ended while it was made.
  if (!there_) unlink((folder_ / kFile).c_str());
  look();
}

bool StoreReserve::give_up() {
  const std::lock_guard lock(mutex_);
  if (!there_ || unlink((folder_ / kFile).c_str()) != 0) return false;
  there_ = false;
  used_ = true;
  next_look_ = std::chrono::steady_clock::now() + kLookAgain;
  const auto space = space_in(folder_);
  wanted_ = free_to_mend(bytes_, space ? space->total : 0);
  return true;
}

void StoreReserve::mend() {
  const std::lock_guard lock(mutex_);
  if (bytes_ > 0 && std::chrono::steady_clock::now() >= next_look_) look();
}

/// The reserve may still be there when the disk is full: another store was the first to give its
/// up.
void StoreReserve::look() {
  next_look_ = std::chrono::steady_clock::now() + kLookAgain;
  const auto space = space_in(folder_);
  if (bytes_ == 0 || !space) return;
  if (wanted_ == 0) {
    if (space->free < bytes_) wanted_ = free_to_mend(bytes_, space->total);
  } else if (space->free >= wanted_ && (there_ || make(folder_ / kFile, bytes_))) {
    there_ = true;
    wanted_ = 0;
  }
}

std::string StoreReserve::strain() const {
  const std::lock_guard lock(mutex_);
  if (wanted_ == 0) return {};
  const char* how = there_ ? "keeps its reserve for what it has taken"
                           : (used_ ? "lives on its reserve" : "has no room for its reserve");
  return fmt::format(
      "{}: the disk is full: the store {}, and takes nothing new until {} MiB are free",
      folder_.string(), how, (wanted_ + kMiB - 1) / kMiB);
}

}  // namespace muster
