#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/time.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Name of the lease in a worker's state folder, two folders above an attempt's.
inline constexpr const char* kLeaseFile = "lease";

/// Until when attempts of a worker may run, as the daemon of a joined machine writes it: since
/// boot, by a clock that counts sleep. Other workers have no lease.
class Lease {
 public:
  Lease() = default;
  /// Of the attempt in that folder. Without the file there is no lease, also later.
  static Lease of_attempt(int folder);
  /// Likewise; one that is over is waited for: a worker that still took the task is gone in a
  /// moment, and this process with it. A word that the task could not start would bring it back to
  /// the worker at once, and cost it one of the losses that it may have.
  static Lease in_time(int folder);
  /// Of the worker with that state folder, likewise.
  static Lease of_worker(const std::filesystem::path& state);

  /// Nothing: it never ends.
  std::optional<Duration> end() const;
  /// Time from `now` in which a supervisor has to look again; nothing: it need not. At most a
  /// second, as a wait by poll() does not count sleep.
  std::optional<Duration> look_in(Duration now) const;

 private:
  Descriptor file_;
};

/// Writes the end in place, so that those who have the file open read it; the file is made where it
/// is missing. Empty, or why it could not be written.
std::string write_lease(const std::filesystem::path& file, Duration end);
/// The end that was written last; nothing without such a file.
std::optional<Duration> read_lease(const std::filesystem::path& file);

}  // namespace muster::process
