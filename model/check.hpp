#pragma once
// Assertions for programmer errors. They stay on in every build.

namespace muster {

/// Prints the failed condition with its place and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const char* meaning);

}  // namespace muster

/// Stops the process when `condition` does not hold; `meaning` says what that would break.
#define MUSTER_CHECK(condition, meaning)                               \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::muster::check_failed(#condition, __FILE__, __LINE__, meaning); \
    }                                                                  \
  } while (false)
