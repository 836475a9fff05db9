#include "workers/process/limits/limits.hpp"

#include <dirent.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "model/max_span.hpp"

// Speaks to the kernel by files: cgroup v2 for groups, /proc for what runs without one. A process
// may end between two looks, so that a missing file of /proc is no error.

namespace muster::process {
namespace {

// Rounds of kPause: 5 s for a tree of processes that forks as fast as it is killed, 1 s for one
// that ends, 0.4 s for a group to become empty, 20 ms for marked ones.
constexpr int kKillRounds = 2500;
constexpr int kEndRounds = 500;
constexpr int kRemoveRounds = 200;
constexpr int kMarkRounds = 10;
constexpr timespec kPause{0, 2'000'000};
constexpr std::size_t kMaxGroupFile = std::size_t{1} << 20;
constexpr std::int64_t kMostCpuUs = kMaxSpan / std::chrono::microseconds{1};
constexpr double kBytesAGib = 1024.0 * 1024 * 1024;
// The kernel's default period, and the least quota that it takes.
constexpr double kCpuPeriodUs = 100'000;
constexpr double kMinCpuQuotaUs = 1'000;

// One write: files of cgroup take a value as a whole or not at all.
bool put(int folder, const char* name, const std::string& value) {
  const Descriptor file(openat(folder, name, O_WRONLY | O_CLOEXEC));
  return file &&
         write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string get(int folder, const char* name) {
  return read_whole(folder, name, kMaxGroupFile).value_or("");
}

// All other characters separate numbers, so one reader does for all these files.
template <class Visit>
void each_number(std::string_view text, Visit visit) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    pid_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec == std::errc{}) visit(number);
    at = std::max(parsed.ptr, at + 1);
  }
}

/// The names in a folder of /proc that are numbers.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, CloseFolder> listing(opendir(path.c_str()));
  if (!listing) return numbers;
  while (const dirent* entry = readdir(listing.get())) {
    each_number(entry->d_name, [&](pid_t number) { numbers.push_back(number); });
  }
  return numbers;
}

bool set_limits(int folder, const Order& order) {
  const double memory = order.granted[Resource::memory] * kBytesAGib;
  const double cpu = order.granted[Resource::cpu];
  if (memory > 0) {
    const auto bytes = static_cast<std::uint64_t>(memory);
    if (!put(folder, "memory.max", std::to_string(bytes))) return false;
    // Swap would let a task hold more than it is granted, at everybody's expense.
    put(folder, "memory.swap.max", "0");  // missing where the kernel counts no swap
    if (!put(folder, "memory.oom.group", "1")) return false;
  }
  if (cpu > 0) {
    // In microseconds of processor time for each period.
    const auto quota = std::llround(std::max(cpu * kCpuPeriodUs, kMinCpuQuotaUs));
    const auto period = std::llround(kCpuPeriodUs);
    if (!put(folder, "cpu.max", std::to_string(quota) + " " + std::to_string(period))) return false;
  }
  // 0 processes means no limit, and the file is left as it is.
  return order.worker.max_processes == 0 ||
         put(folder, "pids.max", std::to_string(order.worker.max_processes));
}

}  // namespace

std::optional<TaskGroup> TaskGroup::make(const Order& order) {
  // A group of that name is of this attempt, whose number is in it.
  if (mkdir(order.worker.group.c_str(), 0755) != 0 && errno != EEXIST) return std::nullopt;
  auto group = find(order.worker.group);
  if (group && order.worker.means == LimitMeans::cgroup2 && !set_limits(group->folder(), order)) {
    // remove() changes errno, which the caller reports.
    const int error = errno;
    group->remove();
    errno = error;
    return std::nullopt;
  }
  return group;
}

std::optional<TaskGroup> TaskGroup::find(const std::string& path) {
  Descriptor folder = open_folder(path);
  if (!folder) return std::nullopt;
  return TaskGroup(path, std::move(folder));
}

void TaskGroup::kill_all() const {
  put(folder_.get(), "cgroup.kill", "1");
}

std::vector<pid_t> TaskGroup::members() const {
  std::vector<pid_t> members;
  each_number(get(folder_.get(), "cgroup.procs"), [&](pid_t pid) { members.push_back(pid); });
  return members;
}

bool TaskGroup::killed_for_memory() const {
  const std::string events = get(folder_.get(), "memory.events");
  const std::size_t at = events.find("oom_kill ");
  // The counter is of this group alone, which holds one attempt.
  return at != std::string::npos && std::strtol(events.c_str() + at + 9, nullptr, 10) > 0;
}

std::uint64_t TaskGroup::peak_bytes() const {
  return std::strtoull(get(folder_.get(), "memory.peak").c_str(), nullptr, 10);
}

std::uint64_t TaskGroup::memory_bytes() const {
  return std::strtoull(get(folder_.get(), "memory.current").c_str(), nullptr, 10);
}

GroupTime TaskGroup::processor_time() const {
  const std::string figures = get(folder_.get(), "cpu.stat");
  const auto time = [&figures](std::string_view name) {
    const std::size_t at = figures.find(name);
    if (at == std::string::npos) return Duration::zero();
    const std::int64_t us = std::strtoll(figures.c_str() + at + name.size(), nullptr, 10);
    return Duration{std::chrono::microseconds{std::clamp<std::int64_t>(us, 0, kMostCpuUs)}};
  };
  return {time("user_usec "), time("system_usec ")};
}

void TaskGroup::remove() {
  folder_.reset();
  // EBUSY: processes that were killed need a moment to leave.
  for (int i = 0; i < kRemoveRounds; ++i) {
    if (rmdir(path_.c_str()) == 0 || errno != EBUSY) return;
    nanosleep(&kPause, nullptr);
  }
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  const std::string threads = "/proc/" + std::to_string(parent) + "/task";
  // /proc lists children by the thread that has forked them.
  for (const pid_t thread : numbers_in(threads)) {
    const std::string file = threads + "/" + std::to_string(thread) + "/children";
    each_number(get(AT_FDCWD, file.c_str()), [&](pid_t child) { found.push_back(child); });
  }
  return found;
}

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> found = children_of(root);
  // A snapshot: processes that are forked meanwhile are found in the next round of the caller.
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> below = children_of(found[i]);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::uint64_t resident_bytes(const std::vector<pid_t>& processes) {
  std::uint64_t pages = 0;
  for (const pid_t pid : processes) {
    const std::string figures = get(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/statm").c_str());
    // The second number of statm is the resident pages.
    const std::size_t second = figures.find(' ');
    if (second != std::string::npos) pages += std::strtoull(&figures[second], nullptr, 10);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Duration processor_time(const std::vector<pid_t>& processes) {
  constexpr int kFirstTime = 14;  // of utime, stime, cutime and cstime in /proc/PID/stat
  std::uint64_t ticks = 0;
  for (const pid_t pid : processes) {
    const std::string stat = get(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/stat").c_str());
    // The second word is the program's name, which may have spaces and brackets.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    const char* at = stat.c_str() + name_end + 1;
    for (int word = 3; word < kFirstTime && at != nullptr; ++word) at = std::strchr(at + 1, ' ');
    char* next = nullptr;
    for (int time = 0; time < 4 && at != nullptr; ++time, at = next) {
      ticks += std::strtoull(at, &next, 10);
    }
  }
  const double seconds = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return from_seconds(std::min(seconds, to_seconds(kMaxSpan)));
}

void kill_descendants() {
  for (int round = 0; round < kKillRounds; ++round) {
    pid_t reaped = 0;
    // Reaped ones make room for their children to become ours, which is how all are found.
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0) return;  // all are gone
    for (const pid_t pid : descendants_of(getpid())) kill(pid, SIGKILL);
    nanosleep(&kPause, nullptr);
  }
}

bool takes_orphans_in() {
  int set = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &set) == 0 && set != 0;
}

void await_end(pid_t process) {
  for (int round = 0; process > 0 && round < kEndRounds; ++round) {
    if (waitpid(process, nullptr, WNOHANG) == process || kill(process, 0) != 0) return;
    nanosleep(&kPause, nullptr);
  }
}

void kill_strays(const std::set<pid_t>& own) {
  for (int round = 0; round < kKillRounds; ++round) {
    bool any = false;
    for (const pid_t child : children_of(getpid())) {
      if (own.contains(child)) continue;
      // Children of a reaped one are found in the next round.
      any = true;
      if (waitpid(child, nullptr, WNOHANG) != 0) continue;
      for (const pid_t pid : descendants_of(child)) kill(pid, SIGKILL);
      kill(child, SIGKILL);
    }
    if (!any) return;
    nanosleep(&kPause, nullptr);
  }
}

void kill_marked(const std::string& entry) {
  // Entries end with NUL; the first one has no NUL before it, so that one is put there.
  const std::string wanted = std::string(1, '\0') + entry + '\0';
  for (int round = 0; round < kMarkRounds; ++round) {
    bool any = false;
    for (const pid_t pid : numbers_in("/proc")) {
      const std::string file = "/proc/" + std::to_string(pid) + "/environ";
      const std::string env = '\0' + get(AT_FDCWD, file.c_str());
      if (pid == getpid() || env.find(wanted) == std::string::npos) continue;
      any = kill(pid, SIGKILL) == 0 || any;
    }
    if (!any) return;
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace muster::process
