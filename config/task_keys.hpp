#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "config/key_kinds.hpp"

namespace muster::config {

/// The keys of how workers run tasks, which stand in cluster files and in workers' own: `section`
/// is their common part, `uid` what the user's key is called there, `kTasks` where C keeps them.
template <class C, LiveWorkerConfig C::*kTasks>
std::vector<KeySpecOf<C>> task_keys(const std::string& section, const std::string& uid) {
  constexpr Duration kNone{};
  constexpr Duration kDay = std::chrono::hours{24};
  constexpr Duration kSoonest = std::chrono::milliseconds{10};
  constexpr Duration kLatest = std::chrono::minutes{10};
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  // The largest number stands for no user at all.
  constexpr U64 kMaxUser = std::numeric_limits<U32>::max() - 1;
  return {
      {section + ".stop_grace", "from SIGTERM to SIGKILL",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).stop_grace; }, kNone, kDay}},
      {section + ".log_bytes", "of one file of a task's output, before it is rotated",
       WholeKeyOf<C>{[](C& c) -> U64& { return (c.*kTasks).log_bytes; }, 4096, U64{1} << 40}},
      {section + ".log_files", "rotated files of a task's output that are kept besides",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).log_files; }, 0, 100}},
      {section + ".tail_bytes", "of a task's output that outlive the instance",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).tail_bytes; }, 0, 65'536}},
      {section + ".acknowledged_keep", "an attempt's folder outlives its end so long",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).acknowledged_keep; }, kNone,
                    365 * kDay}},
      {section + "." + uid, "tasks run as the user with this number; 0: as the worker does",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).task_uid; }, 0, kMaxUser}},
      {section + ".disk_check",
       "between two looks at the room on the disks of attempts and checkpoints; a new attempt "
       "waits "
       "up to 30 of these for room",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).disk_check; }, kSoonest, kLatest}},
      {section + ".disk_free_mib",
       "with less free on such a disk the attempt that takes the most is ended; 0: none is; not "
       "given: 1024, but no more than 5 percent of the disk",
       WholeKeyOf<C>{[](C& c) -> std::optional<U32>& { return (c.*kTasks).disk_free_mib; }, 0,
                     1u << 30}}};
}

}  // namespace muster::config
