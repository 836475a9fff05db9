#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.hpp"
#include "model/ids.hpp"
#include "model/task_metrics.hpp"
#include "model/task_order.hpp"
#include "model/time.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/limits/limit_means.hpp"
#include "workers/process/limits/namespaces.hpp"

namespace muster::process {

/// Name of an attempt on an instance.
struct AttemptKey {
  TaskId task;
  Attempt attempt = 0;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

/// Where a worker keeps the folders of its attempts, in its own.
inline constexpr const char* kAttemptsFolder = "attempts";

/// The names of the files in an attempt's folder. Logs are `out.N` and `err.N`, where N is the
/// place of the file's first byte in all that was written.
inline constexpr const char* kOrderFile = "order";  ///< the order to run
/// Locked as long as the shim lives; holds what the shim itself complained of.
inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kResultFile = "result";  ///< how the attempt ended
inline constexpr const char* kAcknowledgedFile =
    "settled";  ///< the result, once it is on record elsewhere
inline constexpr const char* kProgressSocket = "socket";
inline constexpr const char* kWorkFolder = "work";
inline constexpr const char* kScriptFile = "script";  ///< the order's own, for the task to execute
inline constexpr const char* kOutLog = "out";
inline constexpr const char* kErrLog = "err";

/// Of an attempt whose folder was removed.
inline constexpr const char* kFolderIsGone = "lost, its folder is gone";

/// A shim looks no more often at what its task takes.
inline constexpr Duration kLeastMemoryInterval = std::chrono::milliseconds{1};

/// Where files that attempts begin with come from, and those that they leave are kept.
struct FileTerms {
  std::string store;  ///< folder of the store; empty: this machine has no way to it
  std::uint64_t outputs_max_bytes = std::uint64_t{16} << 30;  ///< of an attempt
  std::uint64_t user_max_bytes = std::uint64_t{256} << 30;    ///< of a user, in the store
  Duration patience = std::chrono::minutes{30};               ///< longest that either way may take

  friend bool operator==(const FileTerms&, const FileTerms&) = default;
};

/// A worker's terms for an attempt: the places, shares and bounds that it gives to it.
struct WorkerTerms {
  std::string checkpoint_dir;  ///< made by the shim, handed to the task's user
  std::string gpus;            ///< device numbers, separated by commas
  Duration memory_interval{};  ///< from kLeastMemoryInterval
  LimitMeans means = LimitMeans::subreaper;
  std::string group;  ///< the attempt's own cgroup, made by the shim; empty: no cgroup
  std::uint32_t max_processes = 0;
  std::int32_t nice = 0;
  std::vector<std::uint32_t> cpus{};  ///< that the task may run on; none: all
  std::optional<std::uint32_t> user;  ///< uid and gid that the task runs as
  std::uint32_t user_group = 0;
  std::vector<std::uint32_t> user_groups{};  ///< besides
  std::string user_home{};                   ///< empty: its work folder
  bool own_user = false;                     ///< nothing but tasks of this user runs as it
  std::vector<HiddenPlace> hidden{};         ///< out of the task's sight, by namespaces
  std::uint64_t log_file_bytes = 0;
  std::uint32_t log_files_kept = 0;
  std::string login{};  ///< of the account that it runs under: USER and LOGNAME; empty: no account
  std::string shell{};  ///< of that account; empty: no shell
  std::uint32_t metric_names = 16;  ///< of what the task reports of itself, at most
  std::uint32_t first_port = 0;     ///< of those that a replica's ports are chosen from
  std::uint32_t last_port = 0;
  std::string address{};  ///< of the instance, for a replica's clients
  std::string control;    ///< abstract name of the socket on which the shim takes orders
  std::string files{};    ///< as FileTerms has it, like the next three
  std::uint64_t outputs_max_bytes = 0;
  std::uint64_t user_max_bytes = 0;
  Duration files_patience{};

  friend bool operator==(const WorkerTerms&, const WorkerTerms&) = default;
};

/// Puts the terms for files into those of an attempt.
void put_files(const FileTerms& files, WorkerTerms& terms);

/// Everything that a shim has to know to run one attempt. Values that the master's order leaves to
/// the worker are filled in: the grace of a stop, and the placeholders of a work folder.
struct Order : TaskOrder {
  WorkerTerms worker{};

  AttemptKey key() const { return {task.id, attempt}; }
  friend bool operator==(const Order&, const Order&) = default;
};

/// From the request to stop until the attempt is killed: a replica leaves its list first, and its
/// keeper ends it.
Duration grace_of(const Order& order);

/// Longest that files may take to come and to be kept, within the attempt.
Duration files_time_of(const Order& order);

/// How an attempt's process ended.
enum class EndKind : std::uint8_t {
  exited,
  signalled,
  out_of_memory,
  timed_out,
  not_started,  ///< by the fault of what was to be started
  supervisor_killed,
  not_launched,  ///< by a fault of the worker or its machine
  disk_full,     ///< ended for what it took of a full disk
  too_many_processes,
  folder_gone,      ///< it ended well, and what it wrote is lost
  lease_ended,      ///< killed when the lease of its machine was over
  outputs_missing,  ///< it ended well, and files that it was to leave are missing, or too many
  outputs_lost,     ///< it ended well, and the store could not keep its outputs
  files_late,       ///< the files that it begins with took too long
  left_early        ///< it was asked to stop before its files had come
};

/// Why an attempt that ended so has failed.
FailureKind failure_of(EndKind kind);

/// The shim's record of an attempt that is over.
struct AttemptResult {
  std::optional<AttemptKey> key{};  ///< whose it is; those of earlier versions do not say
  EndKind kind = EndKind::exited;
  std::int32_t exit_code = 0;   ///< 128+n: signal n
  bool stopped = false;         ///< it had been asked to stop before it ended
  std::string reason;           ///< empty: it exited with 0
  std::int64_t started_ns = 0;  ///< since 1970; 0: never
  std::int64_t ended_ns = 0;
  Duration stopping{};  ///< from the request to stop until the end
  double user_s = 0;    ///< processor time of the task and what it waited for
  double system_s = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t out_bytes = 0;  ///< written to the logs
  std::uint64_t err_bytes = 0;
  Metrics metrics{};  ///< all that the task has reported of itself

  friend bool operator==(const AttemptResult&, const AttemptResult&) = default;
};

/// The result of an attempt that was not begun: "cannot start: " and the reason.
AttemptResult not_begun(EndKind kind, const std::string& reason);

/// Why an attempt of that time limit has failed by it.
std::string time_limit_text(Duration limit);

/// Text forms of the two records; a text that is not one, or has a value out of range, reads as
/// nothing. A text of an earlier version is read, and what came later than the first has its
/// default there. Empty when a text of the order is not UTF-8.
std::string to_text(const Order& order);
std::string to_text(const AttemptResult& result);
std::optional<Order> order_from(std::string_view text);
std::optional<AttemptResult> result_from(std::string_view text);

/// "TASK.ATTEMPT", the name of an attempt's folder and of its cgroup.
std::string name_of(const AttemptKey& key);
std::optional<AttemptKey> key_from(std::string_view name);

/// The whole of a file of at most `max_bytes`; nothing when it cannot be read or is larger.
std::optional<std::string> read_whole(int folder, const char* name, std::size_t max_bytes);
/// Puts a file in place in one step; 0, or the errno of what could not be done.
int write_whole(int folder, const char* name, std::string_view content, bool sync);
/// Writes a file that is not there yet and that no process reads before this has returned; a cut
/// one is left where this process is killed. 0, or an errno.
int write_new(int folder, const char* name, std::string_view content, bool sync);

/// The file of the lock, which somebody else may hold; empty when it cannot be opened.
Descriptor open_lock(int folder);
/// Somebody holds the lock of that file, wherever its name is by now.
bool is_locked(int lock_file);
/// The open folder has been removed: nothing can be put there any more.
bool is_removed(int folder);
/// Takes the lock of an attempt's folder. Empty when somebody holds it or it cannot be made: errno
/// is EWOULDBLOCK in the first case.
Descriptor take_lock(int folder);

/// The attempt of that folder has left a result.
bool has_ended(const std::filesystem::path& attempt);

/// An open folder; empty when it cannot be opened.
Descriptor open_folder(const std::filesystem::path& path);

/// Of an order or a result; a larger one is not read.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{4} << 20;

}  // namespace muster::process
