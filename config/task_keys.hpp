#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "config/cluster_config.hpp"
#include "config/key_kinds.hpp"
#include "config/key_reader.hpp"
#include "config/task_isolation.hpp"
#include "model/task_metrics.hpp"

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
      {section + ".log_bytes",
       "size at which a file of a task's output is full: it is kept by its master's node, and "
       "another one begins",
       WholeKeyOf<C>{[](C& c) -> U64& { return (c.*kTasks).log_bytes; }, 4096, U64{1} << 40}},
      {section + ".log_files", "rotated files of a task's output that are kept besides",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).log_files; }, 0, 100}},
      {section + ".tail_bytes",
       "last bytes of a task's output that are kept after its instance has ended",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).tail_bytes; }, 0, 65'536}},
      {section + ".acknowledged_keep",
       "time that an attempt's folder is kept after the master has acknowledged its end",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).acknowledged_keep; }, kNone,
                    365 * kDay}},
      {section + "." + uid, "tasks run as the user with this number; 0: as the worker does",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).task_uid; }, 0, kMaxUser}},
      {section + "." + uid + "s",
       "as root: tasks of a user who has an account of that name here run under it, those of "
       "others "
       "under a user id of this range, FIRST-LAST, that is the name's from then on; not given: all "
       "as " +
           uid + " says",
       TextKeyOf<C>{[](C& c) -> std::string& { return (c.*kTasks).task_uids; }}},
      {section + ".isolation",
       "isolation of tasks from each other and from the cluster's files: uid: users of the system, "
       "as " +
           uid + "s or " + uid +
           " says; namespaces: the cluster's folders are out of their sight, where the worker is "
           "not "
           "root; auto: whichever there is",
       enum_key<C>([](C& c) -> IsolationChoice& { return (c.*kTasks).isolation; })},
      {section + ".max_processes",
       "an attempt with more processes (with cgroups: and threads) is ended, with cgroups cannot "
       "start more; 0: any number",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).max_processes; }, 0, 1u << 22}},
      {section + ".hold_cpu",
       "where no cgroup limits processors, tasks are bound to as many as they are granted, rounded "
       "up; false: tasks are not bound",
       FlagKeyOf<C>{[](C& c) -> bool& { return (c.*kTasks).hold_cpu; }}},
      {section + ".disk_check",
       "time between two checks of the free space for attempts and checkpoints; a new attempt "
       "waits up to 30 of these for space",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).disk_check; }, kSoonest, kLatest}},
      {section + ".disk_free_mib",
       "free space of such a disk below which the attempt that takes the most is ended; 0: no "
       "attempt is ended; not given: 1024, but no more than 5 percent of the disk",
       WholeKeyOf<C>{[](C& c) -> std::optional<U32>& { return (c.*kTasks).disk_free_mib; }, 0,
                     1u << 30}},
      {section + ".metric_names",
       "metric names that a task may report values under (muster progress --metric); 0: no metrics",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).metric_names; }, 0, kMaxMetrics}},
      {section + ".metrics_interval",
       "numbers that tasks of an instance report are passed on together, at most once in this time",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).metrics_interval; }, kSoonest,
                    kLatest}}};
}

/// The keys of what replicas of services are given, of the section that task_keys() has.
template <class C, LiveWorkerConfig C::*kTasks>
std::vector<KeySpecOf<C>> replica_keys(const std::string& section) {
  using U32 = std::uint32_t;
  return {
      {section + ".first_port", "first of the ports that replicas of services are given",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).first_port; }, 1024, kMostPortNumber}},
      {section + ".last_port", "last of these ports; computers with several workers share a range",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).last_port; }, 1024, kMostPortNumber}},
      {section + ".address",
       "address of the instance for clients of services; not given: the one by which it reaches "
       "its master",
       TextKeyOf<C>{[](C& c) -> std::string& { return (c.*kTasks).address; }}}};
}

/// The keys of commands beside tasks, of the section that task_keys() has.
template <class C, LiveWorkerConfig C::*kTasks>
std::vector<KeySpecOf<C>> exec_keys(const std::string& section) {
  using U32 = std::uint32_t;
  return {
      {section + ".exec_most",
       "commands that users may have beside the tasks of an instance at once (muster exec); 0: no "
       "such commands",
       WholeKeyOf<C>{[](C& c) -> U32& { return (c.*kTasks).exec_most; }, 0, 1024}},
      {section + ".exec_keep",
       "time after which such a command is ended when its client has not asked for its output",
       TimeKeyOf<C>{[](C& c) -> Duration& { return (c.*kTasks).exec_keep; },
                    std::chrono::seconds{15}, std::chrono::hours{24}}}};
}

/// Says which of these keys do not belong together. The names are those of task_keys().
template <class C>
void check_task_keys(const LiveWorkerConfig& tasks, KeyReader<C>& reader,
                     const std::string& section, const std::string& uid) {
  const std::string one = section + "." + uid;
  const std::string each = one + "s";
  const bool ranged = !tasks.task_uids.empty();
  if (ranged && !parse_uid_range(tasks.task_uids)) {
    reader.complain(each,
                    "has to be two user ids from 1 to 4294967294, the smaller first, like "
                    "200000-265535; it is \"" +
                        tasks.task_uids + "\"");
  }
  if (ranged && tasks.task_uid != 0) reader.complain(each, "does not go with " + one + ": say one");
  const bool any = ranged || tasks.task_uid != 0;
  if (tasks.isolation == IsolationChoice::uid && !any) {
    reader.complain(section + ".isolation",
                    "is uid, so " + each + " or " + one + " has to be given");
  }
  if (tasks.last_port < tasks.first_port) {
    reader.complain(section + ".last_port", "has to be at least " + section +
                                                ".first_port, which is " +
                                                std::to_string(tasks.first_port) + "; it is " +
                                                std::to_string(tasks.last_port));
  }
  const bool other =
      tasks.isolation == IsolationChoice::none || tasks.isolation == IsolationChoice::namespaces;
  if (other && any) {
    reader.complain(section + ".isolation", "is " + std::string(name_of(tasks.isolation)) +
                                                ", which does not go with " +
                                                (ranged ? each : one) + ": leave one out");
  }
}

}  // namespace muster::config
