#include "tools/serve/machines/computer.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "tools/serve/machines/process_table.hpp"

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

/// The group's own limits and those of all groups around it.
void apply_groups(const fs::path& root, Computer& computer) {
  const std::string own = read_text(root / "proc/self/cgroup");
  if (!own.starts_with("0::/")) return;  // groups of the older kind say it elsewhere
  const fs::path top = root / "sys/fs/cgroup";
  fs::path group = top / own.substr(4, own.find('\n') - 4);
  for (; group.string().size() >= top.string().size(); group = group.parent_path()) {
    const std::string limit = read_text(group / "memory.max");
    const auto most = limit.starts_with("max") ? std::nullopt : number_in(limit);
    if (most) {
      const std::uint64_t used = number_in(read_text(group / "memory.current")).value_or(0);
      // Files that nobody reads at present make room when it is needed.
      const std::uint64_t spare =
          number_of(read_text(group / "memory.stat"), "inactive_file").value_or(0);
      const std::uint64_t taken = used - std::min(used, spare);
      computer.memory_bytes = std::min(computer.memory_bytes, *most);
      computer.free_bytes = std::min(computer.free_bytes, *most - std::min(*most, taken));
    }
    if (group == group.parent_path()) break;
  }
}

}  // namespace

Computer look_at_computer(const fs::path& root) {
  Computer computer;
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
