#include "storage/files/file_io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <system_error>

#include "model/hexadecimal.hpp"
#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

constexpr std::size_t kMostLeftovers = 10'000'000;
constexpr std::size_t kReadAtOnce = std::size_t{256} << 10;

/// openat2 may be interrupted by renames elsewhere on the machine; that often it is asked again.
constexpr int kMostTries = 16;

struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};

ssize_t read_some(int file, char* to, std::size_t most) {
  ssize_t got = 0;
  do {
    got = read(file, to, most);
  } while (got < 0 && errno == EINTR);
  return got;
}

/// -1 with errno as openat2 gives it.
int open_beneath(int folder, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  for (int tries = 0;; ++tries) {
    const auto opened = static_cast<int>(syscall(SYS_openat2, folder, name, &how, sizeof how));
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR) || tries == kMostTries) return opened;
  }
}

}  // namespace

Failure<FileError> system_failure(std::string_view path, std::string_view done, int error) {
  FileError code = FileError::system;
  if (error == ENOSPC || error == EDQUOT) code = FileError::no_space;
  if (error == ENOENT) code = FileError::missing;
  if (error == EEXIST || error == ENOTEMPTY) code = FileError::exists;
  if (error == EMFILE || error == ENFILE || error == ENOMEM) code = FileError::exhausted;
  return {code, fmt::format("{} cannot be {}: {}", shown_path(path), done,
                            std::generic_category().message(error))};
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

Expected<Descriptor, FileError> open_folder(const std::filesystem::path& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return system_failure(path.string(), "opened as a folder", errno);
  return folder;
}

Descriptor open_entry(int folder, const std::string& name, int flags) {
  flags |= O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int opened = open_beneath(folder, name.c_str(), flags);
  // Filters of system calls of some containers answer EPERM to calls that they do not know.
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return Descriptor(opened);
  return Descriptor(openat(folder, name.c_str(), flags));
}

Expected<std::vector<std::string>, FileError> names_in(int folder, std::size_t most,
                                                       std::string_view path) {
  // Opened anew, since the listing moves the place at which a descriptor stands.
  Descriptor again(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return system_failure(path, "listed", errno);
  const std::unique_ptr<DIR, FolderCloser> listing(fdopendir(again.get()));
  if (!listing) return system_failure(path, "listed", errno);
  again.release();  // the listing owns it now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(listing.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == ".." || name.find('/') != std::string::npos) continue;
    if (names.size() == most) {
      return Failure<FileError>{
          FileError::too_large,
          fmt::format("{} has more entries than may be looked at", shown_path(path))};
    }
    names.push_back(std::move(name));
  }
  if (errno != 0) return system_failure(path, "listed", errno);
  std::sort(names.begin(), names.end());
  // Some file systems list an entry twice while the folder changes.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

FileTrouble read_exactly(int file, std::uint64_t size, const TakeBytes& take) {
  std::vector<char> buffer(std::clamp<std::uint64_t>(size + 1, 1, kReadAtOnce));
  std::uint64_t read_before = 0;
  for (;;) {
    const ssize_t got = read_some(file, buffer.data(), buffer.size());
    if (got < 0) {
      auto failure = system_failure("the content", "read", errno);
      if (failure.code != FileError::exhausted) failure.code = FileError::unreadable;
      return failure;
    }
    const auto count = static_cast<std::uint64_t>(got);
    if (count > size - read_before) {
      return Failure<FileError>{FileError::changed,
                                fmt::format("there are more than the expected {} bytes", size)};
    }
    if (count == 0) break;
    if (auto trouble = take({buffer.data(), static_cast<std::size_t>(count)})) return trouble;
    read_before += count;
  }
  if (read_before == size) return std::nullopt;
  return Failure<FileError>{FileError::changed, fmt::format("there are {} bytes where {} were "
                                                            "expected",
                                                            read_before, size)};
}

Expected<std::string, FileError> read_small_file(int folder, const std::string& name,
                                                 std::size_t most) {
  const Descriptor file = open_entry(folder, name, O_RDONLY);
  if (!file) return system_failure(name, "opened", errno);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_failure(name, "looked at", errno);
  if (!S_ISREG(status.st_mode)) {
    return Failure<FileError>{FileError::refused, shown_path(name) + " has to be a regular file"};
  }
  // One byte more than the file has shows its end; a file that grows meanwhile gets more.
  const auto room_for = [most](std::uint64_t bytes) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, most)) + 1;
  };
  std::string text(room_for(static_cast<std::uint64_t>(status.st_size)), '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == text.size() && size <= most) text.resize(room_for(std::uint64_t{2} * size));
    if (size == text.size()) break;
    const ssize_t got = read_some(file.get(), text.data() + size, text.size() - size);
    if (got < 0) return system_failure(name, "read", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most) {
    return Failure<FileError>{FileError::too_large, fmt::format("{} has to have at most {} bytes",
                                                                shown_path(name), most)};
  }
  text.resize(size);
  return text;
}

Expected<Descriptor, FileError> made_folder_in(int folder, const std::string& name) {
  if (mkdirat(folder, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(name, "made", errno);
  }
  Descriptor made(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!made) return system_failure(name, "opened", errno);
  return made;
}

FileTrouble sync(int file, std::string_view path) {
  if (fsync(file) == 0) return std::nullopt;
  return system_failure(path, "written to the disk", errno);
}

FileTrouble replace_file(int folder, const std::string& name, std::string_view text) {
  // Other hosts may write in the folder, too.
  std::array<unsigned char, 8> random{};
  if (getrandom(random.data(), random.size(), 0) != ssize_t{random.size()}) {
    return system_failure(name, "made", errno);
  }
  const std::string temp = name + "." + hexadecimal(random) + std::string(kNewSuffix);
  const auto written = [&]() -> FileTrouble {
    const Descriptor file(
        openat(folder, temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return system_failure(name, "made", errno);
    if (const int error = write_all(file.get(), text); error != 0) {
      return system_failure(name, "written", error);
    }
    if (auto trouble = sync(file.get(), name)) return trouble;
    if (renameat(folder, temp.c_str(), folder, name.c_str()) == 0) return sync(folder, name);
    return system_failure(name, "replaced", errno);
  };
  auto trouble = written();
  if (trouble) unlinkat(folder, temp.c_str(), 0);
  return trouble;
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void remove_leftovers(int folder, std::string_view suffix, std::int64_t before_s) {
  const auto names = names_in(folder, kMostLeftovers, "a folder");
  if (!names) return;
  for (const std::string& name : names.value()) {
    struct stat status {};
    if (!name.ends_with(suffix)) continue;
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (status.st_mtim.tv_sec < before_s) unlinkat(folder, name.c_str(), 0);
  }
}

std::int64_t nanoseconds_of(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
  return std::clamp<std::int64_t>(time.tv_sec, -kFarthest, kFarthest) * kSecond + time.tv_nsec;
}

}  // namespace muster::files
