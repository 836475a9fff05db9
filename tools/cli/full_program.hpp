#pragma once

#include <filesystem>
#include <system_error>

namespace muster::cli {

/// The program of all commands, muster-full, beside this one. Links are followed, so that a link to
/// muster, wherever it lies, need not have one beside it. Not there, with the reason: no folder of
/// this program can be told.
std::filesystem::path full_program(std::error_code& why);

}  // namespace muster::cli
