#include "workers/process/limits/task_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>

namespace muster::process {
namespace {

struct Limit {
  __rlimit_resource_t kind;
  rlim_t soft;
  rlim_t hard;
};

// Stacks without a bound would have programs lay out their memory in another way. A core could fill
// the disk.
constexpr std::array kTaskLimits{Limit{RLIMIT_CPU, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_DATA, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_AS, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_RSS, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_STACK, rlim_t{8} << 20, RLIM_INFINITY},
                                 Limit{RLIMIT_CORE, 0, 0},
                                 Limit{RLIMIT_NOFILE, 65'536, 524'288},
                                 Limit{RLIMIT_NPROC, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_LOCKS, RLIM_INFINITY, RLIM_INFINITY},
                                 Limit{RLIMIT_SIGPENDING, 128 << 10, 128 << 10},
                                 Limit{RLIMIT_MSGQUEUE, 819'200, 819'200},
                                 Limit{RLIMIT_NICE, 0, 0},
                                 Limit{RLIMIT_RTPRIO, 0, 0},
                                 Limit{RLIMIT_RTTIME, RLIM_INFINITY, RLIM_INFINITY}};

/// As far as the hard limit goes, where this process may not raise that.
void set(const Limit& limit) {
  const rlimit wanted{limit.soft, limit.hard};
  if (setrlimit(limit.kind, &wanted) == 0) return;
  rlimit present{};
  if (getrlimit(limit.kind, &present) != 0) return;
  // RLIM_INFINITY is the largest number.
  const rlim_t hard = std::min(limit.hard, present.rlim_max);
  const rlimit possible{std::min(limit.soft, hard), hard};
  setrlimit(limit.kind, &possible);
}

}  // namespace

void set_task_limits() {
  for (const Limit& limit : kTaskLimits) set(limit);
}

std::string low_limits() {
  struct Shown {
    __rlimit_resource_t kind;
    rlim_t least;
    const char* name;
    const char* unit;
  };
  // Fewer descriptors do for most programs, and some systems have no more for anybody.
  constexpr std::array kShown{Shown{RLIMIT_NOFILE, 1024, "open files", ""},
                              Shown{RLIMIT_CPU, RLIM_INFINITY, "processor time", " s"},
                              Shown{RLIMIT_FSIZE, RLIM_INFINITY, "size of a file", " bytes"},
                              Shown{RLIMIT_DATA, RLIM_INFINITY, "data", " bytes"},
                              Shown{RLIMIT_AS, RLIM_INFINITY, "address space", " bytes"}};
  std::string text;
  for (const Shown& each : kShown) {
    rlimit present{};
    if (getrlimit(each.kind, &present) != 0 || present.rlim_max >= each.least) continue;
    if (!text.empty()) text += ", ";
    text += std::string(each.name) + " " + std::to_string(present.rlim_max) + each.unit;
  }
  return text;
}

void raise_own_limits() {
  for (const Limit& limit : kTaskLimits) {
    rlimit present{};
    // A core file of the cluster's own is whoever started it to want.
    if (limit.kind == RLIMIT_CORE || getrlimit(limit.kind, &present) != 0) continue;
    const rlimit wanted{std::max(present.rlim_cur, limit.soft),
                        std::max(present.rlim_max, limit.hard)};
    if (setrlimit(limit.kind, &wanted) == 0) continue;
    const rlimit possible{std::min(wanted.rlim_cur, present.rlim_max), present.rlim_max};
    setrlimit(limit.kind, &possible);
  }
}

}  // namespace muster::process
