#include "serve/local/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace muster::local {

namespace fs = std::filesystem;

namespace {

constexpr auto kBetweenTries = std::chrono::milliseconds{50};

}  // namespace

FolderLock::FolderLock(fs::path dir, Duration at_most, const std::function<void()>& on_wait)
    : dir_(std::move(dir)) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  bool told = false;
  while (trouble_.empty()) {
    if (!open_folder()) continue;
    const bool locked = flock(folder_, LOCK_EX | LOCK_NB) == 0;
    // The process that had it may have removed the folder: then this lock protects nothing.
    if (locked && is_still_there()) return;
    const bool is_taken = !locked && errno == EWOULDBLOCK;
    if (!locked && !is_taken) trouble_ = dir_.string() + ": " + std::strerror(errno);
    close_folder();
    if (!is_taken) continue;
    if (!std::exchange(told, true)) on_wait();
    if (std::chrono::steady_clock::now() >= until) {
      trouble_ = dir_.string() + ": another `muster up` is still at work here";
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

FolderLock::~FolderLock() {
  std::error_code none;
  // While the lock is held, so that no process begins in a folder that goes.
  for (auto each = made_.rbegin(); each != made_.rend() && fs::is_empty(*each, none); ++each) {
    fs::remove(*each, none);
  }
  close_folder();
}

/// False: it went in between, or there is trouble.
bool FolderLock::open_folder() {
  std::error_code bad;
  std::vector<fs::path> absent;
  for (fs::path each = dir_; !each.empty() && !fs::exists(each, bad); each = each.parent_path()) {
    absent.insert(absent.begin(), each);
  }
  for (const fs::path& each : absent) {
    // Only who has made one may take it away again.
    if (mkdir(each.c_str(), 0777) == 0) {
      made_.push_back(each);
    } else if (errno != EEXIST) {
      trouble_ = each.string() + ": " + std::strerror(errno);
      return false;
    }
  }
  folder_ = open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int why = errno;
  // A link that leads nowhere does so however often it is looked at.
  if (folder_ < 0 && (why != ENOENT || fs::is_symlink(dir_, bad))) {
    trouble_ = dir_.string() + ": " + std::strerror(why);
  }
  return folder_ >= 0;
}

bool FolderLock::is_still_there() const {
  struct stat held {};
  struct stat named {};
  return fstat(folder_, &held) == 0 && stat(dir_.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void FolderLock::close_folder() {
  if (folder_ >= 0) close(std::exchange(folder_, -1));
}

}  // namespace muster::local
