#include "actors/link/file_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthers = 077;

Failure<PkiError> unwritable(const fs::path& file, int error) {
  return {PkiError::unwritable, file.string() + ": cannot be written: " + std::strerror(error)};
}

/// A file on its way to its name. Files that it leaves under other names are removed with it.
class Pending {
 public:
  explicit Pending(const NewFile& file)
      : final_(file.path),
        temp_(file.path.string() + ".new-" + std::to_string(getpid())),
        backup_(file.path.string() + ".old-" + std::to_string(getpid())) {}
  Pending(Pending&&) = default;
  Pending& operator=(Pending&&) = delete;
  // A moved-from Pending has no names. After link() the file has two, of which this one goes.
  ~Pending() {
    if (temp_.empty()) return;
    unlink(temp_.c_str());
    unlink(backup_.c_str());
  }

  Expected<bool, PkiError> write(const NewFile& file) const {
    // A process of the same number may have left one behind.
    unlink(temp_.c_str());
    const int out =
        open(temp_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, file.mode);
    if (out < 0) return unwritable(temp_, errno);
    // The umask decides who may read public files; a key is for its owner alone whatever the umask.
    const bool is_private = (file.mode & kOthers) == 0;
    const bool ready = !is_private || fchmod(out, file.mode) == 0;
    // Synced before it gets its name: a name never leads to half a file after a power cut.
    int error = !ready ? errno : write_all(out, file.content);
    if (error == 0 && fsync(out) != 0) error = errno;
    if (close(out) != 0 && error == 0) error = errno;
    if (error != 0) return unwritable(temp_, error);
    return true;
  }

  Expected<bool, PkiError> put_in_place(bool replace) {
    if (replace) {
      unlink(backup_.c_str());
      // A second link keeps the old file; rename() then replaces the name in one step, so that
      // there is always a file of that name.
      had_old_ = link(final_.c_str(), backup_.c_str()) == 0;
      if (rename(temp_.c_str(), final_.c_str()) != 0) return unwritable(final_, errno);
      // link() fails where a file is there, in the same step; a look beforehand could be outrun.
    } else if (link(temp_.c_str(), final_.c_str()) != 0) {
      if (errno != EEXIST) return unwritable(final_, errno);
      return Failure<PkiError>{PkiError::exists,
                               final_.string() + ": is there already; nothing was changed"};
    }
    placed_ = true;
    return true;
  }

  // Errors are ignored: the first failure is the one to tell of.
  void take_back() {
    if (!placed_) return;
    if (had_old_) {
      rename(backup_.c_str(), final_.c_str());
    } else {
      unlink(final_.c_str());
    }
  }

 private:
  static int write_all(int out, std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(out, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  fs::path final_;
  fs::path temp_;
  fs::path backup_;
  bool had_old_ = false;
  bool placed_ = false;
};

Expected<bool, PkiError> make_private_directory(const fs::path& dir) {
  std::error_code ignored;
  if (dir.empty() || fs::is_directory(dir, ignored)) return true;
  if (auto above = make_private_directory(dir.parent_path()); !above) return above;
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failure<PkiError>{PkiError::unwritable,
                             dir.string() + ": cannot be made: " + std::strerror(errno)};
  }
  return true;
}

void sync_directory(const fs::path& dir) {
  const int handle = open(dir.empty() ? "." : dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  fsync(handle);
  close(handle);
}

Expected<bool, PkiError> write_pending(const std::vector<NewFile>& files,
                                       std::vector<Pending>& pending) {
  for (const NewFile& file : files) {
    if (auto made = make_private_directory(file.path.parent_path()); !made) return made;
    pending.emplace_back(file);
    if (auto written = pending.back().write(file); !written) return written;
  }
  return true;
}

}  // namespace

Expected<bool, PkiError> write_files(const std::vector<NewFile>& files, bool replace) {
  std::vector<Pending> pending;
  pending.reserve(files.size());
  if (auto written = write_pending(files, pending); !written) return written;
  for (Pending& file : pending) {
    auto placed = file.put_in_place(replace);
    if (placed) continue;
    for (Pending& other : pending) other.take_back();
    return placed;
  }
  // The names are durable only with their directories.
  for (const NewFile& file : files) sync_directory(file.path.parent_path());
  return true;
}

}  // namespace muster
