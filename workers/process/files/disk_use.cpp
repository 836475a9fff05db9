#include "workers/process/files/disk_use.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {
namespace {

constexpr std::uint64_t kStatBlock = 512;
constexpr double kKib = 1024;
constexpr double kMib = 1024 * kKib;
constexpr double kGib = 1024 * kMib;

}  // namespace

std::optional<DiskSpace> space_on(const std::filesystem::path& folder) {
  struct statvfs room {};
  struct stat place {};
  if (statvfs(folder.c_str(), &room) != 0 || stat(folder.c_str(), &place) != 0) {
    return std::nullopt;
  }
  return DiskSpace{place.st_dev, std::uint64_t{room.f_bavail} * room.f_frsize,
                   std::uint64_t{room.f_blocks} * room.f_frsize};
}

// A stack of paths instead of recursion: a task may nest folders as deep as it likes.
std::uint64_t bytes_below(const std::filesystem::path& folder, std::uint64_t device,
                          std::size_t most_entries) {
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
  std::vector<std::string> open_ones{folder.string()};
  while (!open_ones.empty()) {
    const std::string path = std::move(open_ones.back());
    open_ones.pop_back();
    const int own = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    // Blocks and not sizes: files may be sparse, and only blocks fill a disk.
    const std::unique_ptr<DIR, CloseFolder> listing(own < 0 ? nullptr : fdopendir(own));
    struct stat place {};
    if (!listing || fstat(own, &place) != 0 || place.st_dev != device) continue;
    while (const dirent* entry = readdir(listing.get())) {
      const std::string_view name = entry->d_name;
      struct stat found {};
      if (name == "." || name == "..") continue;
      if (++entries > most_entries) return bytes;
      if (fstatat(own, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (found.st_dev != device) continue;
      bytes += static_cast<std::uint64_t>(found.st_blocks) * kStatBlock;
      if (S_ISDIR(found.st_mode)) open_ones.push_back(path + "/" + std::string(name));
    }
  }
  return bytes;
}

std::string in_words(std::uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  char text[32];
  if (amount >= 10 * kGib) {
    std::snprintf(text, sizeof text, "%.0f GiB", amount / kGib);
  } else if (amount >= kGib) {
    std::snprintf(text, sizeof text, "%.1f GiB", amount / kGib);
  } else if (amount >= kMib || bytes == 0) {
    std::snprintf(text, sizeof text, "%.0f MiB", amount / kMib);
  } else {
    std::snprintf(text, sizeof text, "%.0f KiB", amount / kKib);
  }
  return text;
}

}  // namespace muster::process
