#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.hpp"
#include "serve/machines/process_table.hpp"

namespace muster::machines {

/// Signal to a worker when its instance ends; twice, see MachineFolder.
inline constexpr int kInstanceEnds = SIGUSR1;

/// Says, in a worker that a machine has started, that it has heard of its instance's end.
void notify_ending();
/// Whether the machine that has started this worker has said that it ends. Without that a
/// kInstanceEnds is from somebody else.
bool is_told_to_end();

/// The folder of one machine: its worker's files, whether the worker runs, and its output.
///
///     command     the worker's arguments, each ended by a zero byte; there when the rest is
///     lock        locked as long as the worker lives: it is the worker's descriptor 3
///     worker      the worker's own line of /proc/PID/stat, written by it before anything else
///     log         what the worker writes to its standard output and error; log.1: older
///     state/      the worker's; in attempts/ each attempt has a folder with the lock of its shim
///     ends        empty; made when the machine ends, before its worker hears of it
///
/// When a machine ends, its worker is sent kInstanceEnds. It then reports nothing any more, makes
///
///     ending      empty
///
/// and stays as the parent of what killed shims have left behind. Sent once more it kills all that
/// it has started and ends. A worker that does not know the signal ends at once, as by any other.
class MachineFolder {
 public:
  explicit MachineFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// instance-ID in the folder of all machines.
  static MachineFolder of(const std::filesystem::path& all, InstanceId instance);
  /// The instance whose folder is so called; invalid when the name is no such name.
  static InstanceId instance_of(const std::string& name);

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;

  /// The arguments of the worker; empty when the folder has not been made completely.
  std::vector<std::string> command() const;
  /// Durable when it returns an empty text; else why it could not be written.
  std::string write_command(const std::vector<std::string>& argv) const;

  /// The worker that was started last, when it runs. `starting`: one has just been forked and has
  /// not written its line yet.
  struct Found {
    std::optional<ProcessRow> worker;
    bool starting = false;
  };
  Found find_worker() const;
  /// Whether its worker has said that it knows of the end and reports nothing any more.
  bool is_ending() const;
  /// Says that the machine ends. Empty, or why that cannot be said.
  std::string mark_end() const;

  /// Starts the worker in a session of its own, without descriptors but the lock. No other may run.
  /// The child's number; or why not.
  struct Started {
    pid_t pid = -1;
    std::string trouble;
  };
  Started start_worker() const;

  /// The locks of attempts that somebody holds: their shims live.
  std::vector<struct stat> held_attempts() const;
  /// Processes that belong to the machine besides the worker.
  struct Members {
    std::vector<ProcessRow> shims;   ///< holders of an attempt's lock
    std::vector<ProcessRow> others;  ///< of the worker's session, marked by a variable, or started
                                     ///< by a member
    bool locked = false;             ///< an attempt's lock is held, by whomever
    bool none() const { return shims.empty() && others.empty() && !locked; }
  };
  Members find_members(const std::optional<ProcessRow>& worker) const;
  /// Kills what attempts have left behind whose shims were killed before they could do it.
  void end_leftovers() const;

  /// Begins a new log when the present one is larger.
  void bound_log(std::uint64_t max_bytes) const;
  /// The last of the log.
  std::string log_tail(std::uint64_t max_bytes) const;
  /// Why it could not be removed; empty when it could.
  std::string remove() const;

 private:
  std::string file(const char* name) const { return (path_ / name).string(); }
  Descriptor take_lock() const;

  std::filesystem::path path_;
};

/// Puts a file in place in one step that a power cut does not undo: it is as before or whole, and
/// whole once this has returned. Empty, or why not.
std::string write_durably(const std::filesystem::path& file, std::string_view text);

}  // namespace muster::machines
