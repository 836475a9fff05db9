#include "storage/files/user_usage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

namespace muster::files {
namespace {

constexpr const char* kUsage = "usage";
constexpr std::size_t kMostUsageBytes = 100;
constexpr double kMiB = 1024.0 * 1024;
constexpr std::size_t kMostParts = 10'000'000;

struct Count {
  std::uint64_t bytes = 0;
  std::int64_t counted_s = 0;
};

/// The user's count, locked: one process reads and writes it at a time.
Expected<Descriptor, FileError> open_count(const UserFiles& files) {
  Descriptor file(openat(files.root(), kUsage, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_failure(kUsage, "opened", errno);
  if (flock(file.get(), LOCK_EX) != 0) return system_failure(kUsage, "locked", errno);
  return file;
}

/// A text that is cut or damaged says nothing: all is counted anew.
std::optional<Count> read_count(int file) {
  char text[kMostUsageBytes + 1] = {};
  if (pread(file, text, kMostUsageBytes, 0) <= 0) return std::nullopt;
  unsigned long long bytes = 0;
  long long counted_s = 0;
  if (std::sscanf(text, "%llu %lld\n", &bytes, &counted_s) != 2) return std::nullopt;
  return Count{bytes, counted_s};
}

/// Not waited for: after a crash all is counted anew.
FileTrouble write_count(int file, const Count& count) {
  const std::string text = fmt::format("{} {}\n", count.bytes, count.counted_s);
  const bool written = ftruncate(file, 0) == 0 && pwrite(file, text.data(), text.size(), 0) ==
                                                      static_cast<ssize_t>(text.size());
  if (written) return std::nullopt;
  return system_failure(kUsage, "written", errno);
}

Expected<std::uint64_t, FileError> bytes_of_parts(const UserFiles& files) {
  const auto names = names_in(files.parts(), kMostParts, "parts");
  if (!names) return names.error();
  std::uint64_t bytes = 0;
  for (const std::string& name : names.value()) {
    struct stat status {};
    if (fstatat(files.parts(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bytes += counted_bytes(static_cast<std::uint64_t>(status.st_size));
  }
  return bytes;
}

Expected<Count, FileError> fresh_count(UserFiles& files, int file, std::int64_t now_s) {
  const auto known = read_count(file);
  if (known && known->counted_s <= now_s && now_s - known->counted_s < kUsageAge_s) return *known;
  const auto usage = files.contents().usage();
  if (!usage) return usage.error();
  const auto parts = bytes_of_parts(files);
  if (!parts) return parts.error();
  return Count{usage->counted_bytes + parts.value(), now_s};
}

}  // namespace

Expected<std::uint64_t, FileError> bytes_used(UserFiles& files, std::int64_t now_s) {
  const auto file = open_count(files);
  if (!file) return file.error();
  const auto count = fresh_count(files, file->get(), now_s);
  if (!count) return count.error();
  if (auto trouble = write_count(file->get(), count.value())) return *trouble;
  return count->bytes;
}

FileTrouble reserve_bytes(UserFiles& files, std::uint64_t bytes, std::uint64_t most,
                          std::int64_t now_s) {
  const auto file = open_count(files);
  if (!file) return file.error();
  auto count = fresh_count(files, file->get(), now_s);
  if (!count) return count.error();
  const bool has_room = count->bytes <= most && bytes <= most - count->bytes;
  if (has_room) count->bytes += bytes;
  if (auto trouble = write_count(file->get(), count.value())) return trouble;
  if (has_room) return std::nullopt;
  return Failure<FileError>{
      FileError::no_space,
      fmt::format("its user has {:.1f} MiB in the store of files, and may have {:.1f} "
                  "(files.user_max_mib): files go by themselves some days after their last use",
                  static_cast<double>(count->bytes) / kMiB, static_cast<double>(most) / kMiB)};
}

}  // namespace muster::files
