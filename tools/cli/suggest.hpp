#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace muster::cli {

/// Suggestion for a mistyped command or option, or that there is no such command, after a parse
/// that failed; empty without a suggestion.
std::string suggestion(const CLI::App& app);

/// The failure of a value that is of the wrong kind, in words that say which would be right; `said`
/// is what the library says of it.
std::string conversion_fault(const CLI::App& app, const std::string& said);

}  // namespace muster::cli
