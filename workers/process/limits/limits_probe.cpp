#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>

#include "workers/process/limits/limits.hpp"

// Finds out by trying: whether groups may be made depends on the kernel, on the mount and on who
// started the worker, and no file says all of it.

namespace muster::process {
namespace {

constexpr std::array<const char*, 3> kControllers = {"cpu", "memory", "pids"};
constexpr const char* kEnable = "+cpu +memory +pids";
/// The group that a worker moves itself to: a group with controllers for its children holds no
/// processes of its own.
constexpr const char* kOwnGroup = "/agent";
constexpr std::size_t kMaxProcFile = std::size_t{4} << 20;

bool put(const std::string& file, const std::string& value) {
  const Descriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return open &&
         write(open.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string get(const std::string& file) {
  return read_whole(AT_FDCWD, file.c_str(), kMaxProcFile).value_or("");
}

/// FNV-1a, 64 bits: equal in every process, which std::hash does not promise.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// Where the cgroup v2 tree is mounted; empty when it is not.
std::string mount_point() {
  std::istringstream lines(get("/proc/self/mountinfo"));
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t kind = line.find(" - cgroup2 ");
    if (kind == std::string::npos) continue;
    std::istringstream fields(line);
    std::string skipped;
    std::string root;
    std::string place;
    fields >> skipped >> skipped >> skipped >> root >> place;
    if (root == "/") return place;
  }
  return "";
}

/// The v2 group that this process was put into, without the worker's own leaf.
std::string base_group(const std::string& mount) {
  std::istringstream lines(get("/proc/self/cgroup"));
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.starts_with("0::")) continue;
    std::string group = line.substr(3);
    if (group.ends_with(kOwnGroup)) group.resize(group.size() - std::string(kOwnGroup).size());
    return group == "/" || group.empty() ? mount : mount + group;
  }
  return "";
}

bool make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

/// Whether a process can be started in a new group of `parent` and killed with it.
bool try_group(const std::string& parent, LimitMeans means) {
  Order order;
  order.worker.means = means;
  order.worker.group = parent + "/probe";
  order.granted = Resources::of(0, 1, 1);
  order.worker.max_processes = 16;
  auto group = TaskGroup::make(order);
  if (!group) return false;
  const bool can_kill = faccessat(group->folder(), "cgroup.kill", W_OK, 0) == 0;
  const auto wait_for_ever = [](const void*) {
    while (true) pause();
  };
  const pid_t child = can_kill ? fork_into(group->folder(), wait_for_ever, nullptr) : -1;
  bool was_killed = false;
  if (child > 0) {
    group->kill_all();
    // When cgroup.kill had no effect the child must not stay: the signal is then the one below.
    siginfo_t end{};
    for (int i = 0; i < 500 && end.si_pid == 0; ++i) {
      waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG);
      if (end.si_pid == 0) usleep(2000);  // NOLINT: once, before anything is served
    }
    was_killed = end.si_pid == child;
    if (!was_killed) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  group->remove();
  return was_killed;
}

bool has_controllers(const std::string& base) {
  const std::string offered = " " + get(base + "/cgroup.controllers");
  for (const char* name : kControllers) {
    const std::string word = std::string(" ") + name;
    if (offered.find(word + " ") == std::string::npos &&
        offered.find(word + "\n") == std::string::npos) {
      return false;
    }
  }
  return true;
}

/// Moves this process out of the way and has `base` hand its controllers down.
bool delegate(const std::string& base) {
  const std::string own = base + kOwnGroup;
  if (put(base + "/cgroup.subtree_control", kEnable)) return true;
  if (!make_folder(own) || !put(own + "/cgroup.procs", "0")) return false;
  if (put(base + "/cgroup.subtree_control", kEnable)) return true;
  put(base + "/cgroup.procs", "0");
  rmdir(own.c_str());
  return false;
}

}  // namespace

std::string group_name(InstanceId instance, const std::string& state_dir) {
  char mark[17];
  std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(hash_of(state_dir)));
  return "muster-" + std::to_string(instance.value) + "-" + mark;
}

FoundMeans find_means(LimitMeans best, const std::string& name) {
  if (best == LimitMeans::subreaper) return {};
  const std::string mount = mount_point();
  const std::string base = mount.empty() ? "" : base_group(mount);
  if (base.empty()) return {};
  const std::string parent = base + "/" + name;
  const bool delegated = best == LimitMeans::cgroup2 && has_controllers(base) && delegate(base);
  if (!make_folder(parent)) return {};
  if (delegated && put(parent + "/cgroup.subtree_control", kEnable) &&
      try_group(parent, LimitMeans::cgroup2)) {
    return {LimitMeans::cgroup2, parent};
  }
  if (try_group(parent, LimitMeans::cgroup2_kill)) return {LimitMeans::cgroup2_kill, parent};
  rmdir(parent.c_str());
  return {};
}

}  // namespace muster::process
