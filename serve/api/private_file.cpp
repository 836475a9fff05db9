// Reads and replaces files with secrets, or with what gives rights.

#include "serve/api/private_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace muster::api {
namespace {

namespace fs = std::filesystem;

/// A descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

/// The fault of the file that is open, if it has one. It is read from the descriptor, not by the
/// path, so that the file that is checked is the file that is read.
std::optional<std::string> fault_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return std::strerror(errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return "is not a plain file";
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fmt::format("others than its owner may use it (mode {:04o}); run: chmod 0600 on it",
                       status.st_mode & 07777U);
  }
  // An owner may write it, and give himself rights.
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return fmt::format(
        "belongs to the user {}; it has to be root's or that of the user {}, as "
        "whom this process runs: run chown on it",
        status.st_uid, ::geteuid());
  }
  return std::nullopt;
}

std::optional<std::string> read_all(int descriptor, std::size_t most, std::uint64_t from) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 ||
      ::lseek(descriptor, static_cast<off_t>(from), SEEK_SET) < 0) {
    return std::nullopt;
  }
  const auto whole = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t there = whole > from ? whole - from : 0;
  // One byte more than is allowed shows that the file is too large. Bytes that come while it is
  // read are for the next time.
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(there, most + 1)), '\0');
  std::size_t size = 0;
  // A read may give less than is there.
  while (size < text.size()) {
    const ssize_t got = ::read(descriptor, text.data() + size, text.size() - size);
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(descriptor, text.data(), text.size());
    if (sent < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

Expected<std::string, FileError> read_private(const fs::path& file, std::size_t most,
                                              std::uint64_t from) {
  const auto unusable = [&](const std::string& why) {
    return Failure<FileError>{FileError::unusable, fmt::format("{}: {}", file.string(), why)};
  };
  // O_NONBLOCK: to open a FIFO would wait for its writer, before fault_of() can refuse it.
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (open.get() < 0 && errno == ENOENT) {
    return Failure<FileError>{FileError::missing,
                              fmt::format("{}: {}", file.string(), std::strerror(errno))};
  }
  if (open.get() < 0) return unusable(std::strerror(errno));
  if (const auto fault = fault_of(open.get())) return unusable(*fault);
  auto text = read_all(open.get(), most, from);
  if (!text) return unusable("cannot be read");
  if (text->size() > most) return unusable(fmt::format("is larger than {} bytes", most));
  return *std::move(text);
}

std::optional<std::string> replace_private(const fs::path& file, const std::string& text) {
  const fs::path fresh = file.string() + ".new";
  const auto failed = [&] {
    return fmt::format("{}: {}; it stays as it is", file.string(), std::strerror(errno));
  };
  {
    const Descriptor open(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    // fchmod: one that an earlier process has left may have another mode.
    if (open.get() < 0 || ::fchmod(open.get(), 0600) != 0) return failed();
    // On the disk before it gets the name, or a crash could leave an empty file under it.
    if (!write_all(open.get(), text) || ::fsync(open.get()) != 0) return failed();
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return failed();
  const Descriptor folder(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) {
    return fmt::format("{}: {}; it may be the earlier one after a crash", file.string(),
                       std::strerror(errno));
  }
  return std::nullopt;
}

FileStamp stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

FileLock::FileLock(const fs::path& file, std::chrono::milliseconds patience) {
  if (file.empty()) return;
  const std::string name = file.string() + ".lock";
  descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // Another process holds it for some writes; one that hangs must not hold up this process.
  constexpr std::chrono::milliseconds kPause{20};
  const auto tries = 1 + patience / kPause;
  int done = -1;
  for (std::int64_t i = 0; i < tries && descriptor_ >= 0; ++i) {
    if (i > 0) std::this_thread::sleep_for(kPause);
    done = ::flock(descriptor_, LOCK_EX | LOCK_NB);
    if (done == 0 || (errno != EWOULDBLOCK && errno != EINTR)) break;
  }
  if (done == 0) return;
  fault_ = errno == EWOULDBLOCK
               ? fmt::format("{}: another process has held it for {} s; nothing is changed", name,
                             std::chrono::duration_cast<std::chrono::seconds>(patience).count())
               : fmt::format("{}: {}", name, std::strerror(errno));
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace muster::api
