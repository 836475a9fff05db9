// How a shim puts an attempt's end into words.

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "workers/process/shim/shim_run.hpp"

namespace muster::process {
namespace {

constexpr double kMib = 1024.0 * 1024;
constexpr std::uint64_t kKib = 1024;
/// As shells say it: 128 + n was ended by signal n.
constexpr std::int32_t kSignalCode = 128;
constexpr std::int32_t kFolderLost = 1;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string figure(const char* form, double value) {
  char text[64];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::int32_t exit_code_of(int status) {
  return WIFSIGNALED(status) ? kSignalCode + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void ShimRun::fail_start(EndKind kind, const std::string& reason) {
  start_failure_ = reason;
  start_failure_kind_ = kind;
  over_ = true;
}

AttemptResult ShimRun::result() const {
  AttemptResult result;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // The wall's clock, in ns since 1970, for reports; spans are measured by boot_time().
  result.ended_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  result.out_bytes = out_log_.written();
  result.err_bytes = err_log_.written();
  result.stopped = ending_ == Ending::stop;
  if (result.stopped) result.stopping = boot_time() - asked_to_stop_;
  if (!start_failure_.empty()) {
    result.kind = start_failure_kind_;
    result.exit_code = start_failure_code_;
    result.reason = start_failure_;
    return result;
  }
  result.started_ns = started_ns_;
  result.user_s = seconds(usage_.ru_utime);
  result.system_s = seconds(usage_.ru_stime);
  result.peak_memory_bytes =
      // ru_maxrss is in KiB.
      std::max(peak_bytes_, static_cast<std::uint64_t>(usage_.ru_maxrss) * kKib);
  if (group_) result.peak_memory_bytes = std::max(result.peak_memory_bytes, group_->peak_bytes());
  result.exit_code = exit_code_of(status_);
  describe_end(result);
  return result;
}

/// The result, and what has become of the folder that it is for.
AttemptResult ShimRun::result_to_leave() const {
  AttemptResult left = result();
  left.key = order_.key();
  if (!is_removed(setup_.folder.get())) return left;
  left.reason += left.reason.empty() ? "" : "; ";
  left.reason += kFolderIsGone;
  // It has done what it was to do, but nobody can read what it wrote.
  if (left.exit_code == 0 && left.kind == EndKind::exited && !left.stopped) {
    left.kind = EndKind::folder_gone;
    left.exit_code = kFolderLost;
  }
  return left;
}

void ShimRun::describe_end(AttemptResult& result) const {
  // The kernel kills for memory without the shim's asking: the group's counter tells.
  const bool by_kernel = group_ && order_.worker.means == LimitMeans::cgroup2 &&
                         WIFSIGNALED(status_) && group_->killed_for_memory();
  // Memory first: a task that was to stop for another reason may be killed for it all the same.
  if (ending_ == Ending::memory || over_bytes_ > 0 || by_kernel) {
    const double used =
        static_cast<double>(over_bytes_ > 0 ? over_bytes_ : result.peak_memory_bytes);
    result.kind = EndKind::out_of_memory;
    result.reason = "out of memory: " + figure("%.0f", used / kMib) + " MiB used, " +
                    figure("%.0f", order_.granted[Resource::memory] * 1024) + " MiB granted";
  } else if (ending_ == Ending::processes) {
    result.kind = EndKind::too_many_processes;
    result.reason = "too many processes: " + std::to_string(over_processes_) + ", at most " +
                    std::to_string(order_.worker.max_processes);
  } else if (ending_ == Ending::disk) {
    result.kind = EndKind::disk_full;
    result.reason = disk_reason_;
  } else if (ending_ == Ending::time) {
    result.kind = EndKind::timed_out;
    result.reason = time_limit_text(order_.program.time_limit);
  } else if (WIFSIGNALED(status_)) {
    result.kind = EndKind::signalled;
    result.reason = "killed by signal " + std::to_string(WTERMSIG(status_));
  } else if (WEXITSTATUS(status_) != 0) {
    result.reason = "exit code " + std::to_string(WEXITSTATUS(status_));
  }
}

}  // namespace muster::process
