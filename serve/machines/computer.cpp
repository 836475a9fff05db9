#include "serve/machines/computer.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "serve/machines/process_table.hpp"

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint32_t kWorkersOfCore = 16;
constexpr std::uint64_t kBytesOfWorker = 128 * kMiB;
constexpr std::uint64_t kFewestWorkers = 4;

std::optional<std::uint64_t> number_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

/// The number behind the name at the beginning of a line.
std::optional<std::uint64_t> number_of(const std::string& text, const std::string& name) {
  std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return std::nullopt;
  at = text.find(name, at) + name.size();
  return number_in(std::string_view(text).substr(at, text.find('\n', at) - at));
}

/// Takes the cores down to what a quota in each period comes to, a part of a core for a whole one.
void apply_quota(std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period,
                 Computer& computer) {
  if (!quota || !period || *period == 0) return;
  const std::uint64_t cores = std::max<std::uint64_t>(1, (*quota + *period - 1) / *period);
  computer.cores = static_cast<std::uint32_t>(std::min<std::uint64_t>(computer.cores, cores));
}

/// Calls `look` with this process's group of the hierarchy with that mark in /proc/self/cgroup, and
/// with all groups around it.
template <class Look>
void each_group(const fs::path& root, const std::string& mark, const fs::path& top, Look look) {
  const std::string own = read_text(root / "proc/self/cgroup");
  const std::size_t at = own.starts_with(mark) ? 0 : own.find((mark[0] == ':' ? "" : "\n") + mark);
  if (at == std::string::npos) return;
  const std::size_t begin = own.find(mark, at) + mark.size();
  fs::path group = top / own.substr(begin, own.find('\n', begin) - begin);
  for (; group.string().size() >= top.string().size(); group = group.parent_path()) {
    look(group);
    if (group == group.parent_path()) break;
  }
}

/// The quota of groups of the older kind, whose hierarchies are apart.
void apply_older_groups(const fs::path& root, Computer& computer) {
  for (const char* name : {"cpu,cpuacct", "cpu"}) {
    const fs::path top = root / "sys/fs/cgroup" / name;
    each_group(root, std::string(":") + name + ":/", top, [&](const fs::path& group) {
      const std::string quota = read_text(group / "cpu.cfs_quota_us");
      if (quota.starts_with("-")) return;  // no quota
      apply_quota(number_in(quota), number_in(read_text(group / "cpu.cfs_period_us")), computer);
    });
  }
}

/// The group's own limits and those of all groups around it.
void apply_groups(const fs::path& root, Computer& computer) {
  each_group(root, "0::/", root / "sys/fs/cgroup", [&](const fs::path& group) {
    const std::string cpu = read_text(group / "cpu.max");  // "QUOTA PERIOD" or "max PERIOD"
    const std::size_t space = cpu.find(' ');
    if (!cpu.starts_with("max") && space != std::string::npos) {
      apply_quota(number_in(cpu.substr(0, space)), number_in(cpu.substr(space)), computer);
    }
    const std::string limit = read_text(group / "memory.max");
    const auto most = limit.starts_with("max") ? std::nullopt : number_in(limit);
    if (most) {
      const std::uint64_t used = number_in(read_text(group / "memory.current")).value_or(0);
      // Cached files that are not in use make room when it is needed.
      const std::uint64_t spare =
          number_of(read_text(group / "memory.stat"), "inactive_file").value_or(0);
      const std::uint64_t taken = used - std::min(used, spare);
      computer.memory_bytes = std::min(computer.memory_bytes, *most);
      computer.free_bytes = std::min(computer.free_bytes, *most - std::min(*most, taken));
    }
  });
  apply_older_groups(root, computer);
}

}  // namespace

Computer look_at_computer(const fs::path& root) {
  Computer computer;
  // 0 where the system cannot tell.
  computer.cores = std::max(1U, std::thread::hardware_concurrency());
  const std::string memory = read_text(root / "proc/meminfo");
  constexpr std::uint64_t kKiB = 1024;
  const auto total = number_of(memory, "MemTotal:");
  const auto free = number_of(memory, "MemAvailable:");
  computer.memory_bytes = total ? *total * kKiB : kUnlimited;
  computer.free_bytes = free ? *free * kKiB : kUnlimited;
  apply_groups(root, computer);
  return computer;
}

std::uint32_t most_workers(const Computer& computer) {
  const std::uint64_t by_cores = std::uint64_t{computer.cores} * kWorkersOfCore;
  const std::uint64_t most = std::min(by_cores, computer.memory_bytes / kBytesOfWorker);
  return static_cast<std::uint32_t>(std::max(most, kFewestWorkers));
}

}  // namespace muster::machines
