// Hides by covering: in a mount namespace of the process's own an empty tmpfs lies over a folder.
// Without the rights of the namespace's owner, which end with exec, no process in it can take it
// off, and a namespace that the task makes below has all mounts locked together. The kernel renames
// nothing on which something is mounted in the namespace of who asks: so a folder above, bound onto
// itself, stays where it is as well.

#include "workers/process/limits/namespaces.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "workers/process/descriptor.hpp"

namespace muster::process {
namespace {

namespace fs = std::filesystem;

/// Room for what leads to what is kept: folders and empty files take inodes alone.
constexpr const char* kCover = "mode=0711,size=64k,nr_inodes=256";
constexpr unsigned long kCoverFlags = MS_NOSUID | MS_NODEV;

bool is_inside(const std::string& place, const std::string& folder) {
  // With the slash: /a/bc is not inside /a/b.
  return place == folder || place.starts_with(folder + "/");
}

/// Without links, or as it is where nothing is; empty for the root, which is not to be covered,
/// whatever a config says.
std::string resolved(const std::string& path, bool is_needed) {
  std::error_code missing;
  const fs::path place = fs::canonical(path, missing);
  if (missing) return is_needed ? path : std::string{};
  return place == "/" ? std::string{} : place.string();
}

bool is_as_identified(const HiddenPlace& place) {
  if (place.inode == 0) return true;
  struct stat found {};
  return stat(place.path.c_str(), &found) == 0 && found.st_dev == place.device &&
         found.st_ino == place.inode;
}

/// Whether this process's user may rename what lies in the folder, or may give itself the right.
bool may_rename_in(const fs::path& folder) {
  struct stat found {};
  return stat(folder.c_str(), &found) != 0 || found.st_uid == geteuid() ||
         faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

/// From the top down, so that each is bound where the ones above have been.
std::vector<std::string> renamable_above(const std::vector<HiddenPlace>& places) {
  std::vector<std::string> all;
  for (const HiddenPlace& place : places) {
    for (fs::path above = fs::path(place.path).parent_path(); above.has_relative_path();
         above = above.parent_path()) {
      if (may_rename_in(above.parent_path())) all.push_back(above.string());
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int put(const char* file, const std::string& text) {
  const int out = open(file, O_WRONLY | O_CLOEXEC);
  if (out < 0) return errno;
  const bool whole = write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = whole ? 0 : errno;
  close(out);
  return error;
}

/// Makes what is missing on the way to a path, and the path itself as a folder or an empty file.
int make_way(const std::string& path, bool is_folder) {
  std::array<char, PATH_MAX> part{};
  if (path.size() >= part.size()) return ENAMETOOLONG;
  std::memcpy(part.data(), path.data(), path.size());
  for (std::size_t at = 1; at < path.size(); ++at) {
    if (path[at] != '/') continue;
    part[at] = '\0';
    if (mkdir(part.data(), 0711) != 0 && errno != EEXIST) return errno;
    part[at] = '/';
  }
  const int made = is_folder ? mkdir(path.c_str(), 0700) : mknod(path.c_str(), S_IFREG | 0600, 0);
  return made == 0 || errno == EEXIST ? 0 : errno;
}

int pin(const std::string& folder) {
  // With what is mounted below, as in put_back().
  const int done = mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND | MS_REC, nullptr);
  // Nothing there: the place below it is missing, which is reported for that place.
  return done == 0 || errno == ENOENT ? 0 : errno;
}

int cover(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return 0;  // gone meanwhile: nothing to be seen
  const int done = S_ISDIR(found.st_mode)
                       ? mount("tmpfs", path.c_str(), "tmpfs", kCoverFlags, kCover)
                       : mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr);
  return done == 0 ? 0 : errno;
}

/// Puts what the descriptor has open back to its place.
int put_back(int open_path, const std::string& path) {
  struct stat found {};
  if (fstat(open_path, &found) != 0) return errno;
  if (const int error = make_way(path, S_ISDIR(found.st_mode)); error != 0) return error;
  std::array<char, 32> source{};
  std::snprintf(source.data(), source.size(), "/proc/self/fd/%d", open_path);
  // With the mounts below: the kernel does not bind one folder off a locked tree.
  return mount(source.data(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 ? 0 : errno;
}

int close_cover(const std::string& path) {
  struct stat found {};
  // Of files nothing was covered that could be written: /dev/null stands there.
  if (stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return 0;
  const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | kCoverFlags;
  return mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0 ? 0 : errno;
}

int cover_all(const Sight& sight) {
  std::array<int, Sight::kMostKept> kept{};
  for (const std::string& folder : sight.pinned) {
    if (const int error = pin(folder); error != 0) return error;
  }
  for (const HiddenPlace& place : sight.hidden) {
    if (!is_as_identified(place)) return ESTALE;
  }
  // Opened here: a file that was opened outside of this namespace cannot be mounted in it.
  for (std::size_t i = 0; i < sight.kept.size(); ++i) {
    kept[i] = open(sight.kept[i].c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (kept[i] < 0) return errno;
  }
  for (const HiddenPlace& place : sight.hidden) {
    if (const int error = cover(place.path); error != 0) return error;
  }
  for (std::size_t i = 0; i < sight.kept.size(); ++i) {
    if (const int error = put_back(kept[i], sight.kept[i]); error != 0) return error;
    close(kept[i]);
  }
  for (const HiddenPlace& place : sight.hidden) {
    if (const int error = close_cover(place.path); error != 0) return error;
  }
  return 0;
}

}  // namespace

HiddenPlace identified(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return {path};
  return {path, found.st_dev, found.st_ino};
}

HeldPlaces held(const std::vector<std::string>& paths) {
  HeldPlaces found;
  for (const std::string& path : paths) {
    found.held.emplace_back(open(path.c_str(), O_PATH | O_CLOEXEC));
    found.places.push_back(identified(path));
  }
  return found;
}

std::string replaced_place(const std::vector<HiddenPlace>& places) {
  const auto found = std::find_if_not(places.begin(), places.end(), is_as_identified);
  return found == places.end() ? std::string{} : found->path;
}

Sight sight_of(const std::vector<HiddenPlace>& hidden, const std::vector<std::string>& kept) {
  Sight sight;
  std::vector<HiddenPlace> places = hidden;
  for (HiddenPlace& place : places) place.path = resolved(place.path, place.inode != 0);
  // So that a folder comes before what is inside of it.
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  const auto is_covered = [&](const std::string& path) {
    return std::any_of(sight.hidden.begin(), sight.hidden.end(),
                       [&](const HiddenPlace& folder) { return is_inside(path, folder.path); });
  };
  for (HiddenPlace& place : places) {
    if (!place.path.empty() && !is_covered(place.path)) sight.hidden.push_back(std::move(place));
  }
  sight.pinned = renamable_above(sight.hidden);
  for (const std::string& path : kept) {
    const std::string place = resolved(path, false);
    if (is_covered(place) && sight.kept.size() < Sight::kMostKept) sight.kept.push_back(place);
  }
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  sight.users = user + " " + user + " 1\n";
  sight.groups = group + " " + group + " 1\n";
  return sight;
}

int hide(const Sight& sight) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  // Without it no process may set its groups; kernels before 3.19 do not have the file.
  const int denied = put("/proc/self/setgroups", "deny");
  if (denied != 0 && denied != ENOENT) return denied;
  if (const int error = put("/proc/self/uid_map", sight.users); error != 0) return error;
  if (const int error = put("/proc/self/gid_map", sight.groups); error != 0) return error;
  // Later mounts outside still come in, and nothing goes out.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return errno;
  return cover_all(sight);
}

int join_namespaces(pid_t process) {
  // The user namespace first: it gives the right to enter the others.
  constexpr std::array kKinds{"user", "mnt", "net", "ipc", "uts"};
  std::array<int, kKinds.size()> joined{};
  // All are opened before one is joined: behind that, /proc may be another one.
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    std::array<char, 64> own{};
    std::array<char, 64> other{};
    std::snprintf(own.data(), own.size(), "/proc/self/ns/%s", kKinds[i]);
    std::snprintf(other.data(), other.size(), "/proc/%d/ns/%s", process, kKinds[i]);
    struct stat here {};
    struct stat there {};
    joined[i] = -1;
    // Not of this kernel.
    if (stat(own.data(), &here) != 0) continue;
    if (stat(other.data(), &there) != 0) return errno;
    if (here.st_ino == there.st_ino && here.st_dev == there.st_dev) continue;
    joined[i] = open(other.data(), O_RDONLY | O_CLOEXEC);
    if (joined[i] < 0) return errno;
  }
  for (const int descriptor : joined) {
    if (descriptor < 0) continue;
    if (setns(descriptor, 0) != 0) return errno;
    close(descriptor);
  }
  return 0;
}

std::string namespaces_fault() {
  if (geteuid() == 0) return "root's tasks are isolated by users of the system";
  std::error_code none;
  const fs::path place = fs::temp_directory_path(none);
  const Sight sight = sight_of({{none ? std::string("/tmp") : place.string()}}, {});
  const pid_t pid = fork();
  if (pid == 0) _exit(hide(sight));
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return std::strerror(errno);
  }
  const int error = pid < 0 ? errno : WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  if (error == 0) return {};
  return std::string("this system does not let user ") + std::to_string(geteuid()) +
         " make namespaces: " + std::strerror(error);
}

}  // namespace muster::process
