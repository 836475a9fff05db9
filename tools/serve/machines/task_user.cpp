#include "tools/serve/machines/task_user.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kTaskGroup = 65534;  ///< as process::Order::user_group
constexpr std::size_t kMostFolders = 120;    ///< of a way; an exit code has to name each
constexpr mode_t kPassage = 0711;

/// The folders of a path from the root on, as far as they are there.
void add_way(const fs::path& path, std::vector<std::string>& way) {
  fs::path so_far;
  std::error_code none;
  for (const fs::path& part : path) {
    so_far /= part;
    if (!fs::is_directory(so_far, none) || way.size() >= kMostFolders) return;
    way.push_back(so_far.string());
  }
}

/// In a process of its own, which ends with it: the place of the first folder that is barred,
/// counted from 1; 0: none is. Only system calls, for other threads may hold locks.
[[noreturn]] void walk_as(std::uint32_t user, const std::vector<std::string>& inside) {
  if (syscall(SYS_setgroups, 0, nullptr) != 0 ||
      syscall(SYS_setresgid, kTaskGroup, kTaskGroup, kTaskGroup) != 0 ||
      syscall(SYS_setresuid, user, user, user) != 0) {
    _exit(0);  // told by whoever starts a task
  }
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const int folder = open(inside[i].c_str(), O_PATH | O_CLOEXEC);
    if (folder < 0 && errno == EACCES) _exit(static_cast<int>(i + 1));
    close(folder);
  }
  _exit(0);
}

}  // namespace

bool is_other_user(std::uint32_t user, std::uint32_t self) {
  return user != 0 && user != self;
}

std::string task_user_fault(std::uint32_t user, std::uint32_t self) {
  if (self == 0 || !is_other_user(user, self)) return {};
  return fmt::format("only root can run tasks as user {}, and this is user {}", user, self);
}

std::optional<fs::path> barred_on_way(const fs::path& place, std::uint32_t user) {
  if (geteuid() != 0 || user == 0) return std::nullopt;
  std::vector<std::string> way;
  std::error_code none;
  add_way(fs::absolute(place), way);
  add_way(fs::weakly_canonical(place, none), way);  // where links lead
  std::vector<std::string> inside;
  for (const std::string& folder : way) inside.push_back(folder + "/.");
  const pid_t pid = fork();
  if (pid == 0) walk_as(user, inside);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  const auto first =
      static_cast<std::size_t>(pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0);
  if (first == 0 || first > way.size()) return std::nullopt;
  return way[first - 1];
}

std::string barred_text(const fs::path& folder, std::uint32_t user) {
  struct stat found {};
  stat(folder.c_str(), &found);
  return fmt::format(
      "tasks of user {} cannot pass {} (mode {:o}, of user {}), so not get to their own folders",
      user, folder.string(), found.st_mode & 07777, found.st_uid);
}

std::string make_open_folder(const fs::path& folder) {
  std::error_code none;
  if (folder.empty() || fs::is_directory(folder, none)) return {};
  if (std::string trouble = make_open_folder(folder.parent_path()); !trouble.empty()) {
    return trouble;
  }
  if (mkdir(folder.c_str(), kPassage) == 0) {
    chmod(folder.c_str(), kPassage);  // whatever the umask
    return {};
  }
  return errno == EEXIST ? std::string{} : folder.string() + ": " + std::strerror(errno);
}

}  // namespace muster::machines
