#include "workers/process/shim/shim_result.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

constexpr double kMib = 1024.0 * 1024;
constexpr std::uint64_t kKib = 1024;
/// Of a task whose outputs are not there: EX_CANTCREAT of sysexits.h.
constexpr std::int32_t kCannotKeep = 73;
/// As shells say it: 128 + n was ended by signal n.
constexpr std::int32_t kSignalCode = 128;

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

void describe(const TaskEnd& end, const Order& order, const TaskGroup* group,
              AttemptResult& result) {
  // The kernel kills for memory without the shim's asking: the group's counter tells.
  const bool by_kernel = group != nullptr && order.worker.means == LimitMeans::cgroup2 &&
                         WIFSIGNALED(end.status) && group->killed_for_memory();
  // Memory first: a task that was to stop for another reason may be killed for it nevertheless.
  if (end.why == Ending::memory || end.over_bytes > 0 || by_kernel) {
    const double used =
        static_cast<double>(end.over_bytes > 0 ? end.over_bytes : result.peak_memory_bytes);
    result.kind = EndKind::out_of_memory;
    result.reason = "out of memory: " + figure("%.0f", used / kMib) + " MiB used, " +
                    figure("%.0f", order.granted[Resource::memory] * 1024) + " MiB granted";
  } else if (end.why == Ending::processes) {
    result.kind = EndKind::too_many_processes;
    result.reason = "too many processes: " + std::to_string(end.over_processes) + ", at most " +
                    std::to_string(order.worker.max_processes);
  } else if (end.why == Ending::disk) {
    result.kind = EndKind::disk_full;
    result.reason = end.disk_reason;
  } else if (end.why == Ending::time) {
    result.kind = EndKind::timed_out;
    result.reason = time_limit_text(order.program.time_limit);
  } else if (end.why == Ending::lease && exit_code_of(end.status) != 0) {
    // A task that had done its work before the signal came has finished.
    result.kind = EndKind::lease_ended;
    result.reason = "the lease of its machine was over, as the connector did not renew it";
  } else if (WIFSIGNALED(end.status)) {
    result.kind = EndKind::signalled;
    result.reason = "killed by signal " + std::to_string(WTERMSIG(end.status));
  } else if (WEXITSTATUS(end.status) != 0) {
    result.reason = "exit code " + std::to_string(WEXITSTATUS(end.status));
  } else if (!end.outputs_fault.empty() && end.why != Ending::stop) {
    // One that goes on elsewhere need not have left everything yet.
    result.kind = end.outputs_trouble ? EndKind::outputs_lost : EndKind::outputs_missing;
    result.exit_code = kCannotKeep;
    result.reason = end.outputs_fault;
  }
}

}  // namespace

AttemptResult result_of(const TaskEnd& end, const Order& order, const TaskGroup* group) {
  AttemptResult result;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // The wall's clock, in ns since 1970, for reports; spans are measured by boot_time().
  result.ended_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  result.stopped = end.why == Ending::stop;
  if (result.stopped) result.stopping = boot_time() - end.asked_to_stop;
  if (!end.start_failure.empty()) {
    result.kind = end.start_failure_kind;
    result.exit_code = end.start_failure_code;
    result.reason = end.start_failure;
    return result;
  }
  result.started_ns = end.started_ns;
  result.user_s = seconds(end.usage.ru_utime);
  result.system_s = seconds(end.usage.ru_stime);
  result.peak_memory_bytes =
      // ru_maxrss is in KiB.
      std::max(end.peak_bytes, static_cast<std::uint64_t>(end.usage.ru_maxrss) * kKib);
  if (group != nullptr) {
    result.peak_memory_bytes = std::max(result.peak_memory_bytes, group->peak_bytes());
    const GroupTime time = group->processor_time();
    // The kernel counts those of its processes, too, that no parent has waited for.
    if (to_seconds(time.user + time.system) > result.user_s + result.system_s) {
      result.user_s = to_seconds(time.user);
      result.system_s = to_seconds(time.system);
    }
  }
  result.exit_code = exit_code_of(end.status);
  describe(end, order, group, result);
  // An attempt that has failed anyway may have left less than it was to; all else is news.
  const bool is_told = result.reason == end.outputs_fault;
  if (!end.outputs_fault.empty() && !end.outputs_missing && !is_told) {
    result.reason += result.reason.empty() ? "" : "; ";
    result.reason += end.outputs_fault;
  }
  return result;
}

}  // namespace muster::process
