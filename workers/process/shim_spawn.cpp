// How a supervisor makes a shim process, and what it clears away after one that was killed.

#include <spawn.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "workers/process/limits.hpp"
#include "workers/process/shim_supervisor.hpp"
#include "workers/process/shim_task.hpp"

namespace muster::process {
namespace {

/// Descriptors of the shim; shim_main() takes them by these numbers.
constexpr int kLock = 3;
constexpr int kChannel = 4;

/// Frees what posix_spawn's settings hold.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

/// A copy with a number above those that the shim's own descriptors get.
Descriptor out_of_the_way(int fd) {
  return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, kChannel + 1));
}

void describe_shim(SpawnSettings& settings, const std::string& log, int lock, int channel) {
  // The shim leads a session of its own: signals to the worker's group do not reach it.
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSID);
  auto* actions = &settings.actions;
  posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(actions, 2, log.c_str(), O_WRONLY | O_APPEND, 0);
  posix_spawn_file_actions_adddup2(actions, lock, kLock);
  posix_spawn_file_actions_adddup2(actions, channel, kChannel);
  posix_spawn_file_actions_addclosefrom_np(actions, kChannel + 1);
}

}  // namespace

std::string ShimSupervisor::spawn(const AttemptKey& key, Watched& watched, Descriptor& lock) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return std::string("its supervisor: ") + std::strerror(errno);
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  // Copies with higher numbers: dup2 onto 3 and 4 must not overwrite one that is still to be
  // copied.
  const Descriptor high_lock = out_of_the_way(lock.get());
  const Descriptor high_channel = out_of_the_way(theirs.get());
  if (!high_lock || !high_channel) return std::string("its supervisor: ") + std::strerror(errno);
  const std::string folder = (options_.attempts / name_of(key)).string();
  const std::string program = options_.shim_program.string();
  const std::string log = folder + "/" + kLockFile;
  SpawnSettings settings;
  describe_shim(settings, log, high_lock.get(), high_channel.get());
  const char* argv[] = {program.c_str(), "shim", folder.c_str(), nullptr};
  const int error = posix_spawn(&watched.child, program.c_str(), &settings.actions,
                                &settings.attributes, const_cast<char**>(argv), environ);
  // The shim holds it by inheritance; it is free again when the shim ends.
  lock.reset();
  if (error != 0) {
    watched.child = -1;
    return "its supervisor " + program + ": " + std::strerror(error);
  }
  attach(key, watched, std::move(ours));
  return "";
}

void end_leftovers(int folder, const std::filesystem::path& path) {
  const auto text = read_whole(folder, kOrderFile, kMaxRecordBytes);
  const auto order = text ? order_from(*text) : std::nullopt;
  if (order && !order->group.empty()) {
    // A group holds all that was started in it; the mark is for machines without groups.
    if (auto group = TaskGroup::find(order->group)) {
      group->kill_all();
      group->remove();
      return;
    }
  }
  kill_marked(std::string(kMarkVariable) + "=" + path.string());
}

}  // namespace muster::process
