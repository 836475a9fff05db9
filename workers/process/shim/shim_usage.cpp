#include "workers/process/shim/shim_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

constexpr std::string_view kUsageVerb = "used ";
constexpr std::uint64_t kBytesAKib = 1024;

Duration as_duration(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

std::string usage_line(const UsageLook& look) {
  std::string line(kUsageVerb);
  line += std::to_string(look.at.count()) + " " + std::to_string(look.so_far.cpu.count()) + " ";
  line += std::to_string(look.so_far.peak_bytes) + " " + std::to_string(look.memory_bytes);
  return line + "\n";
}

std::optional<UsageLook> usage_from(std::string_view line) {
  if (!line.starts_with(kUsageVerb)) return std::nullopt;
  line.remove_prefix(kUsageVerb.size());
  std::array<std::int64_t, 4> numbers{};
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto read = std::from_chars(at, end, numbers[i]);
    const bool is_last = i + 1 == numbers.size();
    const bool parted = is_last ? read.ptr == end : read.ptr != end && *read.ptr == ' ';
    if (read.ec != std::errc{} || !parted || numbers[i] < 0) return std::nullopt;
    at = is_last ? end : read.ptr + 1;
  }
  UsageLook look;
  look.at = Duration{numbers[0]};
  look.so_far = within_bounds({Duration{numbers[1]}, static_cast<std::uint64_t>(numbers[2])});
  look.memory_bytes = std::min(static_cast<std::uint64_t>(numbers[3]), kMostPeakBytes);
  return look;
}

UsageLook look_at_task(const TaskGroup* group, TaskEnd& end) {
  UsageLook look;
  look.at = boot_time();
  rusage reaped{};
  getrusage(RUSAGE_CHILDREN, &reaped);
  if (group != nullptr) {
    const GroupTime time = group->processor_time();
    look.so_far.cpu = time.user + time.system;
    look.memory_bytes = group->memory_bytes();
  }
  // A group says neither where the kernel counts nothing for it.
  if (look.so_far.cpu == Duration::zero() || look.memory_bytes == 0) {
    const std::vector<pid_t> processes = descendants_of(getpid());
    if (look.memory_bytes == 0) look.memory_bytes = resident_bytes(processes);
    const Duration ended = as_duration(reaped.ru_utime) + as_duration(reaped.ru_stime);
    if (look.so_far.cpu == Duration::zero()) look.so_far.cpu = ended + processor_time(processes);
  }
  const std::uint64_t largest = static_cast<std::uint64_t>(reaped.ru_maxrss) * kBytesAKib;
  end.peak_bytes = std::max({end.peak_bytes, look.memory_bytes, largest});
  look.so_far.peak_bytes = end.peak_bytes;
  if (group != nullptr) {
    look.so_far.peak_bytes = std::max(look.so_far.peak_bytes, group->peak_bytes());
  }
  return look;
}

}  // namespace muster::process
