#include "config/cluster_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace muster {

namespace fs = std::filesystem;

namespace {

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// A file or folder of this user, and no way to another one.
bool is_own(const fs::path& path, mode_t kind) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return false;
  return found.st_uid == geteuid() && (found.st_mode & S_IFMT) == kind;
}

/// The variable "NAME=value" is one of those that every command of a user has.
bool is_plain(std::string_view variable) {
  constexpr std::array<std::string_view, 12> kPlain = {
      "HOME",  "LANG", "LANGUAGE", "LOGNAME", "MUSTER_DATA",     "PATH",
      "SHELL", "TERM", "TMPDIR",   "TZ",      "XDG_RUNTIME_DIR", "USER"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return name.starts_with("LC_") || std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end();
}

/// The errno for which it cannot be told whether a cluster is there; 0: it can.
int why_unreadable(const fs::path& dir) {
  const int fd = open((dir / kPlaceFile).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const int why = errno;
  if (fd >= 0) close(fd);
  return fd >= 0 || why == ENOENT || why == ENOTDIR ? 0 : why;
}

}  // namespace

std::string start_of_computer() {
  return first_line("/proc/sys/kernel/random/boot_id");
}

std::optional<ClusterPlace> place_of(const fs::path& dir) {
  std::ifstream in(dir / kPlaceFile);
  ClusterPlace place;
  std::string folder;
  if (!std::getline(in, place.id) || !std::getline(in, folder) || place.id.empty()) {
    return std::nullopt;
  }
  place.folder = folder;
  return place;
}

std::string place_text(const ClusterPlace& place) {
  return place.id + "\n" + place.folder.string() + "\n";
}

bool is_one_folder(const fs::path& a, const fs::path& b) {
  std::error_code absent;
  return fs::equivalent(a, b, absent) || a.lexically_normal() == b.lexically_normal();
}

std::optional<fs::path> original_of(const fs::path& dir) {
  const auto own = place_of(dir);
  if (!own || is_one_folder(own->folder, dir)) return std::nullopt;
  // One that cannot be looked at is not gone: its cluster may run.
  if (why_unreadable(own->folder) != 0) return own->folder;
  const auto there = place_of(own->folder);
  return there && there->id == own->id ? std::optional(own->folder) : std::nullopt;
}

std::string copy_text(const fs::path& original) {
  if (const int why = why_unreadable(original); why != 0) {
    return fmt::format(
        "a copy of the cluster in {0}, which cannot be looked at ({1}), and two of "
        "them would run every job twice; it can take the place of that cluster once {0} can be "
        "looked at, and it is gone",
        original.string(), std::strerror(why));
  }
  return fmt::format(
      "a copy of the cluster in {0}, and two of them would run every job twice; it can take the "
      "place of that cluster when that is gone: moved away, or `muster down --dir {0} --erase`",
      original.string());
}

std::optional<int> keeper_of(const fs::path& dir) {
  const int fd = open((dir / kKeeperLock).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const bool is_held = flock(fd, LOCK_SH | LOCK_NB) != 0;
  std::array<char, 32> text{};
  const ssize_t got = read(fd, text.data(), text.size() - 1);
  close(fd);
  if (!is_held || got <= 0) return std::nullopt;
  return std::atoi(text.data());
}

bool is_own_folder(const fs::path& dir) {
  std::error_code bad;
  const fs::path direct = fs::canonical(dir, bad);
  return !bad && is_own(direct, S_IFDIR);
}

KeeperState keeper_state(const fs::path& dir) {
  // A keeper that is started for another user would write where that user says.
  if (!is_own_folder(dir) || !is_own(dir / kKeeperLock, S_IFREG)) return KeeperState::unknown;
  // In this order: a keeper that ends takes its mark away before it lets go of the lock.
  if (keeper_of(dir)) return KeeperState::runs;
  const std::string meant = first_line(dir / kKeeperRuns);
  // A copy has the mark of its original.
  const auto place = place_of(dir);
  if (!place || !is_one_folder(place->folder, dir)) return KeeperState::ended;
  return !meant.empty() && meant == start_of_computer() ? KeeperState::killed : KeeperState::ended;
}

bool is_keeper_marked(const fs::path& dir) {
  return !first_line(dir / kKeeperRuns).empty();
}

std::string mark_keeper(const fs::path& dir, bool runs) {
  const std::string file = (dir / kKeeperRuns).string();
  const std::string text = start_of_computer() + "\n";
  if (!runs) return unlink(file.c_str()) == 0 || errno == ENOENT ? "" : std::strerror(errno);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (fd >= 0) close(fd);
  return written ? std::string{} : file + ": " + std::strerror(why);
}

std::string start_keeper(const fs::path& dir, const fs::path& program, Surroundings surroundings) {
  const std::string command = program.string();
  std::vector<std::string> words{command, "keeper", dir.string()};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (dir / "keeper.log").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  // Files and locks of a command that starts a keeper again are not the cluster's.
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  // A node that has lost its keeper starts another one, which is not to have a node's signals.
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (surroundings == Surroundings::whole || is_plain(*each)) variables.push_back(*each);
  }
  variables.push_back(nullptr);
  pid_t pid = 0;
  const int trouble =
      posix_spawn(&pid, command.c_str(), &files, &how, argv.data(), variables.data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return trouble == 0 ? std::string{} : command + ": " + std::strerror(trouble);
}

}  // namespace muster
