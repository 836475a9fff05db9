#include "workers/process/files/checkpoint_mark.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "workers/process/descriptor.hpp"

namespace muster::process {
namespace {

constexpr mode_t kMarkMode = 0644;    // daemons of other users read it
constexpr mode_t kFolderMode = 0711;  // tasks of other users get through to their own folders

std::string trouble(const std::filesystem::path& file, int error) {
  return file.string() + ": " + std::generic_category().message(error);
}

/// Others may write into the folder, and cannot have taken this name before.
std::string fresh_name() {
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return kCheckpointMarkFile + ("." + std::to_string(number));
}

/// Writes the file, which must not be there, and puts it on the disk. The number of the error; 0:
/// it is there.
int write_new(const std::filesystem::path& file, const std::string& text) {
  const Descriptor out(
      open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMarkMode));
  if (!out) return errno;
  const ssize_t written = write(out.get(), text.data(), text.size());
  if (written < 0) return errno;
  if (static_cast<std::size_t>(written) < text.size()) return ENOSPC;
  return fchmod(out.get(), kMarkMode) == 0 && fsync(out.get()) == 0 ? 0 : errno;
}

}  // namespace

bool lacks_mark(const std::filesystem::path& folder, std::string_view mark) {
  if (mark.empty()) return false;
  // Without following a link or waiting for a writer: tasks may have put anything in its place.
  const Descriptor in(
      open((folder / kCheckpointMarkFile).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!in || fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode)) return true;
  // A longer text is no mark.
  std::string found(mark.size() + 2, '\0');
  const ssize_t got = read(in.get(), found.data(), found.size());
  found.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (found.ends_with('\n')) found.pop_back();
  return found != mark;
}

std::string put_mark(const std::filesystem::path& folder, std::string_view mark) {
  std::error_code bad;
  const bool is_new = std::filesystem::create_directories(folder, bad);
  if (bad) return folder.string() + ": " + bad.message();
  if (is_new && chmod(folder.c_str(), kFolderMode) != 0) return trouble(folder, errno);
  if (!lacks_mark(folder, mark)) return {};
  const std::filesystem::path file = folder / kCheckpointMarkFile;
  const std::filesystem::path fresh = folder / fresh_name();
  // As a whole, for machines that look meanwhile.
  int error = write_new(fresh, std::string(mark) + "\n");
  if (error == 0 && rename(fresh.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(fresh.c_str());
  return trouble(file, error);
}

}  // namespace muster::process
