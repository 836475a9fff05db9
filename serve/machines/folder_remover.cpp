// `rm` removes what no loop of our own would get through with certainty: folders that lie thousands
// deep, and names of any bytes. As a process of its own it can be ended at any time.

#include "serve/machines/folder_remover.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "serve/machines/machine_folder.hpp"
#include "workers/process/quiet_thread.hpp"

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLeaving = "leaving";
/// Folders whose numbers are kept in memory.
constexpr std::size_t kMostQueued = 1'000;

/// The process that removes the folder; -1, and errno, where it cannot be started.
pid_t start_removal(const fs::path& folder) {
  // A mount below the folder is not of the machine alone.
  std::string program = "rm", options = "-rf", one = "--one-file-system", end = "--";
  std::string path = folder.string();
  char* argv[] = {program.data(), options.data(), one.data(), end.data(), path.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int fd = 0; fd <= 2; ++fd) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  // No descriptor of a machine's lock may stay open in it.
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = posix_spawnp(&child, "rm", &files, &how, argv, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? child : -1;
}

}  // namespace

FolderRemover::FolderRemover(fs::path dir, Host host)
    : dir_(std::move(dir)), host_(std::move(host)) {
  thread_ = process::quiet_thread([this] { run(); });
}

FolderRemover::~FolderRemover() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    if (child_ > 0) kill(child_, SIGKILL);
  }
  changed_.notify_all();
  thread_.join();
}

fs::path FolderRemover::leaving(InstanceId instance) const {
  return dir_ / kLeaving / MachineFolder::of(dir_, instance).path().filename();
}

void FolderRemover::take(InstanceId instance) {
  const MachineFolder folder = MachineFolder::of(dir_, instance);
  std::error_code error;
  fs::create_directories(dir_ / kLeaving, error);
  if (!error && folder.exists()) fs::rename(folder.path(), leaving(instance), error);
  // Where it cannot be moved, as on a full disk, it is removed in its place; until that is done a
  // start of the node finds a machine there, and ends it once more.
  {
    const std::lock_guard lock(mutex_);
    // Beyond that the folders in their place stand for themselves.
    if (error || queue_.size() < kMostQueued) queue_.push_back(instance);
    looks_ = true;
  }
  changed_.notify_all();
}

/// The folders that are leaving, if no order for them is known.
std::deque<InstanceId> FolderRemover::left() const {
  std::deque<InstanceId> found;
  std::error_code error;
  for (fs::directory_iterator at(dir_ / kLeaving, error), end; !error && at != end;
       at.increment(error)) {
    const InstanceId id = MachineFolder::instance_of(at->path().filename().string());
    if (id.valid() && !kept_.contains(id)) found.push_back(id);
    if (found.size() == kMostQueued) break;
  }
  return found;
}

void FolderRemover::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || !queue_.empty() || looks_; });
    if (quit_) return;
    if (queue_.empty()) {
      looks_ = false;
      lock.unlock();
      std::deque<InstanceId> found = left();
      lock.lock();
      looks_ |= !found.empty();
      queue_.insert(queue_.end(), found.begin(), found.end());
      continue;
    }
    const InstanceId instance = queue_.front();
    queue_.pop_front();
    lock.unlock();
    // The folder goes last: as long as it is there, the next remover sees to the others, too.
    const bool is_gone = remove_outside(instance) &&
                         remove(instance, MachineFolder::of(dir_, instance).path()) &&
                         remove(instance, leaving(instance));
    if (!is_gone) kept_.insert(instance);
    lock.lock();
  }
}

/// Removes the folder that the machine has outside its own. False: it is there still.
bool FolderRemover::remove_outside(InstanceId instance) {
  if (!host_.outside) return true;
  const fs::path folder = host_.outside(instance);
  if (!remove(instance, folder)) return false;
  // Goes with the last of them.
  std::error_code has_others;
  fs::remove(folder.parent_path(), has_others);
  return true;
}

/// Until it is not there any more, or this is to end. False: it is there still.
bool FolderRemover::remove(InstanceId instance, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return true;
  std::string why;
  pid_t child = -1;
  {
    const std::lock_guard lock(mutex_);
    if (quit_) return false;
    child = child_ = start_removal(folder);
    if (child < 0) why = std::strerror(errno);
  }
  if (child > 0) {
    // Only looked at, so that its number is its own for as long as the destructor may end it.
    siginfo_t end{};
    while (waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    const std::lock_guard lock(mutex_);
    child_ = -1;
    int status = 0;
    waitpid(child, &status, 0);
    if (!fs::exists(fs::symlink_status(folder, error))) return true;
    if (quit_) return false;
    why = "rm -rf leaves some of it";
  } else {
    // A computer without that program.
    fs::remove_all(folder, error);
    if (!fs::exists(fs::symlink_status(folder, error))) return true;
  }
  if (host_.tell) host_.tell(instance, folder.string() + ": cannot be removed: " + why);
  return false;
}

}  // namespace muster::machines
