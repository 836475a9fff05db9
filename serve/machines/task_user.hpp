#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "config/cluster_config.hpp"
#include "model/job.hpp"
#include "workers/process/limits/task_users.hpp"

// As whom tasks run, and whether they can get to their own folders. 0 stands for this process's
// own user.

namespace muster::machines {

/// Whether tasks run as somebody else than this process.
bool is_other_user(std::uint32_t user, std::uint32_t self = geteuid());

/// Another user than this process' that tasks run as; nothing: there is no such user. Of a range
/// this is one that stands for all of it.
std::optional<std::uint32_t> other_task_user(const LiveWorkerConfig& tasks,
                                             std::uint32_t self = geteuid());

/// A setting of tasks that cannot be met here, and why.
struct TaskUserFault {
  std::string key;  ///< as in a cluster file, without its section: "task_uid"
  std::string value;
  std::string text;
};
/// Why this process cannot isolate tasks as it is told to; nothing: it can.
std::optional<TaskUserFault> task_user_fault(const LiveWorkerConfig& tasks,
                                             std::uint32_t self = geteuid());

/// A range of users one of whom has an account here, which who begins a cluster is told. A worker
/// that is there goes on: it refuses that user alone.
std::optional<TaskUserFault> task_range_fault(const LiveWorkerConfig& tasks);

/// "task_uid = 65534": the config's setting for other_task_user().
std::string task_user_setting(const LiveWorkerConfig& tasks);

/// As whom tasks of loopback instances run, what that lets them do, and by what isolation.
std::string task_user_sentence(const LiveWorkerConfig& tasks);

/// Whether workers of this process's user isolate tasks by namespaces.
bool by_namespaces(const LiveWorkerConfig& tasks);

/// The first folder on the way from the root to `place`, itself included, that tasks of the user
/// cannot pass. Folders that are not there yet bar no task. Only root can find out; for others the
/// answer is nothing.
std::optional<std::filesystem::path> barred_on_way(const std::filesystem::path& place,
                                                   std::uint32_t user);
/// Likewise, for an account with all its groups.
std::optional<std::filesystem::path> barred_on_way(const std::filesystem::path& place,
                                                   const process::TaskAccount& account);

/// "tasks of user 65534 cannot pass /root (mode 700, of user 0), ..."
std::string barred_text(const std::filesystem::path& folder, std::uint32_t user);

/// Looks at the work folders and programs of one submission: reads once which user has which
/// number. It waits for disks, and may start a process for each place and user.
class WorkFolders {
 public:
  explicit WorkFolders(const LiveWorkerConfig& tasks);
  /// Whether a program names a place that there is to look at.
  static bool looks_at(const Program& program);
  /// Why the tasks of a user could not start on this computer: the work folder is not there, is not
  /// a folder, or cannot be entered or made; a program given by its path is not there or cannot be
  /// executed. Names what is at fault; empty: nothing is known against it.
  std::string fault(const Program& program, const std::string& user);

 private:
  static bool names_a_file(const Program& program);
  const std::optional<process::TaskAccount>& account_of(const std::string& user);
  const process::TaskAccount* other_account(const std::string& user);
  std::string bar(const std::filesystem::path& place, const std::string& user);
  std::string fault_of_folder(const std::string& folder, const std::string& user);
  std::string fault_of_made(const std::string& pattern, const std::string& user);
  std::string fault_of_program(const std::string& program, const std::string& user);

  std::optional<std::uint32_t> other_;
  std::optional<process::TaskUsers> users_;  ///< nothing: all tasks run as one
  /// Nothing of a user of whom the system cannot say at present who it is.
  std::map<std::string, std::optional<process::TaskAccount>> accounts_;
  /// By user, and what is done with which place.
  std::map<std::pair<std::string, std::string>, std::string> faults_;
};

/// Makes what is missing of the folder and of those above it, each open to pass through and for
/// nothing else. Empty, or why not.
std::string make_open_folder(const std::filesystem::path& folder);

}  // namespace muster::machines
