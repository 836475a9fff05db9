#include "tools/client/target_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "storage/files/path_text.hpp"
#include "tools/client/api_client.hpp"

namespace muster::client {

namespace {

namespace fs = std::filesystem;
using files::FileError;
using files::FileTrouble;
using PlaceRefused = Failure<FileError>;

constexpr std::size_t kNameBytesKept = 150;  ///< of the place's name, in that of the new folder
constexpr mode_t kFolderMode = 0755;         ///< before the umask
constexpr mode_t kClosedMode = 0700;
constexpr mode_t kModeBits = 07777;

/// Whether the open folder is the one that this process works in: it would be in a removed one.
bool is_current(int folder) {
  struct stat one {
  }, here{};
  return fstat(folder, &one) == 0 && stat(".", &here) == 0 && one.st_dev == here.st_dev &&
         one.st_ino == here.st_ino;
}

}  // namespace

std::string TargetFolder::shown(const std::string& name) const {
  return files::shown_path((above_ / name).string());
}

Expected<TargetFolder, FileError> TargetFolder::open(const fs::path& path) {
  std::error_code failed;
  fs::path whole = fs::absolute(path, failed).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();  // "out/"
  TargetFolder target;
  target.name_ = whole.filename().string();
  if (failed || target.name_.empty() || target.name_ == "/" || target.name_ == "..") {
    return PlaceRefused{FileError::invalid, fmt::format("{} has to name a folder in another folder",
                                                        files::shown_path(path.string()))};
  }
  target.above_ = whole.parent_path();
  fs::create_directories(target.above_, failed);
  if (failed) {
    return files::system_failure(target.above_.string(), "made", failed.value());
  }
  auto parent = files::open_folder(target.above_);
  if (!parent) return parent.error();
  target.parent_ = std::move(parent).value();
  if (auto trouble = target.look()) return *trouble;
  return target;
}

FileTrouble TargetFolder::look() {
  struct stat status {};
  if (fstatat(parent_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return files::system_failure(shown(name_), "looked at", errno);
  }
  if (!S_ISDIR(status.st_mode)) {
    return PlaceRefused{
        FileError::refused,
        fmt::format("{} is {}: give the path of a folder, or of a new one (-o)", shown(name_),
                    S_ISLNK(status.st_mode) ? "a link" : "no folder")};
  }
  present_ = files::Descriptor(
      openat(parent_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!present_) return files::system_failure(shown(name_), "opened", errno);
  const auto names = files::names_in(present_.get(), 0, shown(name_));
  if (!names && names.error().code != FileError::too_large) return names.error();
  has_files_ = !names;
  return std::nullopt;
}

FileTrouble TargetFolder::make_new() {
  if (present_ && is_current(present_.get())) {
    return PlaceRefused{
        FileError::refused,
        fmt::format("{} is the current folder, which cannot be replaced: give another "
                    "folder (-o)",
                    shown(name_))};
  }
  const std::string name =
      fmt::format(".{}.muster-{}", name_.substr(0, kNameBytesKept), random_token());
  // Made as any new folder, which shows its mode with the umask, and closed before it has files.
  if (mkdirat(parent_.get(), name.c_str(), kFolderMode) != 0) {
    return files::system_failure(shown(name), "made", errno);
  }
  fresh_name_ = name;
  fresh_ = files::Descriptor(
      openat(parent_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fresh_ || fstat(fresh_.get(), &status) != 0 || fchmod(fresh_.get(), kClosedMode) != 0) {
    return files::system_failure(shown(name), "closed to other users", errno);
  }
  mode_ = status.st_mode & kModeBits;
  return std::nullopt;
}

FileTrouble TargetFolder::exchange() {
  const char* fresh = fresh_name_.c_str();
  if (renameat2(parent_.get(), fresh, parent_.get(), name_.c_str(), RENAME_EXCHANGE) == 0) {
    aside_name_ = std::exchange(fresh_name_, "");
    return std::nullopt;
  }
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) {
    return files::system_failure(shown(name_), "replaced", errno);
  }
  // Some file systems cannot exchange: between these two there is no folder in the place.
  const std::string aside = fresh_name_ + ".old";
  if (renameat(parent_.get(), name_.c_str(), parent_.get(), aside.c_str()) != 0) {
    return files::system_failure(shown(name_), "moved aside", errno);
  }
  if (renameat(parent_.get(), fresh, parent_.get(), name_.c_str()) != 0) {
    const int error = errno;
    renameat(parent_.get(), aside.c_str(), parent_.get(), name_.c_str());
    return files::system_failure(shown(name_), "replaced", error);
  }
  aside_name_ = aside;
  fresh_name_.clear();
  return std::nullopt;
}

Expected<fs::path, FileError> TargetFolder::put_in_place() {
  if (fchmod(fresh_.get(), mode_) != 0) {
    return files::system_failure(shown(fresh_name_), "given its mode", errno);
  }
  if (has_files_) {
    if (auto trouble = exchange()) return *trouble;
    std::error_code failed;
    fs::remove_all(above_ / aside_name_, failed);
    return failed ? above_ / aside_name_ : fs::path();
  }
  // Of a folder this replaces nothing but an empty folder, whatever has come there meanwhile.
  if (renameat(parent_.get(), fresh_name_.c_str(), parent_.get(), name_.c_str()) != 0) {
    const int error = errno;
    return files::system_failure(shown(name_), "put in its place", error);
  }
  fresh_name_.clear();
  return fs::path();
}

TargetFolder::~TargetFolder() {
  if (fresh_name_.empty()) return;
  // A failure behind the unpacking leaves files in it.
  std::error_code ignored;
  fs::remove_all(above_ / fresh_name_, ignored);
}

}  // namespace muster::client
