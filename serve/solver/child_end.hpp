#pragma once

#include <sys/types.h>

#include <cstdint>

namespace muster {

/// How a child process came to its end.
enum class ChildEnd : std::uint8_t {
  well,      ///< by itself, with status 0
  badly,     ///< by itself with another status, by a signal, or nobody knows how
  outlived,  ///< it was killed, because its seconds were over
};

/// A descriptor that is readable once the child has ended; negative where the system has no such
/// thing.
int watch_child(pid_t child);

/// Waits until the child has ended, and kills it when that takes longer than the seconds.
/// `watched`: that of watch_child(), which stays open; without one the child is looked at every
/// few milliseconds.
ChildEnd await_end(pid_t child, int watched, double seconds);

}  // namespace muster
