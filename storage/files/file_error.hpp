#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/expected.hpp"

namespace muster::files {

/// Why files could not be staged, kept or unpacked.
enum class FileError : std::uint8_t {
  invalid,     ///< a text, path, pattern or manifest breaks a rule
  too_large,   ///< more than a limit allows
  refused,     ///< an entry of a folder that no tree can have
  changed,     ///< a file changed each time that it was read
  damaged,     ///< content is not as its id or its tree says
  missing,     ///< no such file or content
  exists,      ///< something is there already
  no_space,    ///< the disk or the quota is full
  exhausted,   ///< the process or the system has no further descriptor or memory
  unreadable,  ///< the file that is read cannot be: trouble of this file and no other
  stopped,     ///< the caller's progress function asked for it
  system       ///< any other refusal of the system
};

/// Nothing when all went well.
using FileTrouble = std::optional<Failure<FileError>>;

/// The failure of a system call: "PATH cannot be DONE: reason". `error` is its errno, which also
/// decides the code.
Failure<FileError> system_failure(std::string_view path, std::string_view done, int error);

}  // namespace muster::files
