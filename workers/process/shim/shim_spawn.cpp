// How a supervisor has a shim made, and what it clears away after one that was killed.

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "workers/process/limits/limits.hpp"
#include "workers/process/shim/shim_supervisor.hpp"
#include "workers/process/shim/shim_task.hpp"

namespace muster::process {

std::string ShimSupervisor::spawn(const AttemptKey& key, WatchedShim& watched, Descriptor& lock) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return std::string("its supervisor: ") + std::strerror(errno);
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  ForkServer::Made made = server_.make_shim(name_of(key), lock.get(), theirs.get());
  watched.shim = made.shim;
  // The shim holds it by inheritance; it is free again when the shim ends.
  lock.reset();
  if (made.trouble.empty()) attach(key, watched, std::move(ours));
  return std::move(made.trouble);
}

void end_leftovers(int folder, const std::filesystem::path& path) {
  const auto text = read_whole(folder, kOrderFile, kMaxRecordBytes);
  const auto order = text ? order_from(*text) : std::nullopt;
  if (order && !order->worker.group.empty()) {
    // A group holds all that was started in it; the mark is for machines without groups.
    if (auto group = TaskGroup::find(order->worker.group)) {
      group->kill_all();
      group->remove();
      return;
    }
  }
  kill_marked(std::string(kMarkVariable) + "=" + path.string());
}

}  // namespace muster::process
