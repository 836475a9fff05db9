#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace muster::cli {

/// Better words for a call that was not understood.
struct Suggestion {
  std::string text;     ///< empty: there are no such words
  bool is_all = false;  ///< nothing that the library says adds to them
};

/// For a mistyped or misplaced command or option, or that there is no such command, after a parse
/// that failed.
Suggestion suggestion(const CLI::App& app);

/// The failure of a value that is of the wrong kind, in words that say which would be right; `said`
/// is what the library says of it.
std::string conversion_fault(const CLI::App& app, const std::string& said);

}  // namespace muster::cli
