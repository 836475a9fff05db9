#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Scripts that are sent with their jobs, as they were when these were submitted.

namespace muster {

/// How long the script of a job may be, in bytes.
inline constexpr std::size_t kMaxScriptBytes = std::size_t{128} << 10;

/// Whether the text says in its first line which program it is for: "#!/bin/sh". One behind a byte
/// order mark counts, though it is of no use there: script_fault() says so.
bool is_script(std::string_view text);

/// Why a text cannot be sent as a script, as the end of a sentence; empty: it can.
std::string script_fault(std::string_view text);

/// Note that a script has lines for another scheduler, which are not read, and the remedy; empty:
/// it has no such lines. The end of a sentence.
std::string unread_lines(std::string_view text);

}  // namespace muster
