#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workers/process/descriptor.hpp"
#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/limits/limit_means.hpp"

namespace muster::process {

/// Means of this machine for keeping attempts within limits, found out by doing.
struct FoundMeans {
  LimitMeans means = LimitMeans::subreaper;
  std::string parent;  ///< the cgroup in which attempts get theirs; empty: no cgroup
};

/// Tries the means from `best` downwards and returns the first that works. `name` is that of the
/// group to make for this worker's attempts; it is made anew after each restart, and kept.
FoundMeans find_means(LimitMeans best, const std::string& name);

/// The name of the group for the attempts of that instance's worker. Two workers of one machine, of
/// one cluster or two, share no folder, and so no group.
std::string group_name(InstanceId instance, const std::string& state_dir);

/// Processor time that a group's processes have taken, ended ones included.
struct GroupTime {
  Duration user{};
  Duration system{};
};

/// One attempt's own cgroup v2 group.
class TaskGroup {
 public:
  /// Makes the group with the order's limits. Nothing when that fails; errno says why.
  static std::optional<TaskGroup> make(const Order& order);
  /// A group that may be there; nothing when it is not.
  static std::optional<TaskGroup> find(const std::string& path);

  int folder() const { return folder_.get(); }
  void kill_all() const;
  std::vector<pid_t> members() const;
  bool killed_for_memory() const;
  std::uint64_t peak_bytes() const;    ///< 0: not known
  std::uint64_t memory_bytes() const;  ///< that its processes hold now; 0: not known
  GroupTime processor_time() const;    ///< 0: not known
  /// Removes the group once nothing is in it; waits for that a short while.
  void remove();

 private:
  TaskGroup(std::string path, Descriptor folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  Descriptor folder_;
};

/// All processes below `root`, without itself.
std::vector<pid_t> descendants_of(pid_t root);

/// Memory that the processes hold, pages that they share counted for each (the proportional figure
/// is more just, and too slow to ask for several times a second).
std::uint64_t resident_bytes(const std::vector<pid_t>& processes);

/// Processor time that the processes have taken, and those of their children that they have reaped;
/// in steps of a hundredth of a second or so for each.
Duration processor_time(const std::vector<pid_t>& processes);

/// Kills and reaps all descendants of this process, which has to be a subreaper; gives up after a
/// few seconds.
void kill_descendants();

/// Whether orphans among the descendants of this process become its children.
bool takes_orphans_in();

/// Waits a second at most until a process that is about to end, or has ended, is reaped by its
/// parent, or reaps it itself: its children have another parent then.
void await_end(pid_t process);

/// Kills and reaps every child of this process that is not among `own`, and all that they have
/// started, until all are gone; gives up after a few seconds. For a process that takes orphans in:
/// there, such children are what killed shims have left behind.
void kill_strays(const std::set<pid_t>& own);

/// Kills every process that has the variable NAME=VALUE in its environment: the only means when a
/// shim was killed where there are no groups. Misses those that have cleared it.
void kill_marked(const std::string& entry);

/// Main function of a new process: it ends, or executes a program, and does not return.
using ChildMain = void (*)(const void* with);

/// Starts a process straight in a group (-1: this process's own) that does `run(with)`. As fork():
/// its number, or -1.
pid_t fork_into(int group_folder, ChildMain run, const void* with);

/// Likewise, with this process's memory instead of a copy: this process stands still until the new
/// one has executed a program or ended, and finds the values that it wrote. So it hears nothing
/// while a file system does not answer where the program is. A copy where memory cannot be shared.
pid_t share_into(int group_folder, ChildMain run, const void* with);

}  // namespace muster::process
