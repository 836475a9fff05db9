#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace muster::cli {

/// Exit codes of the command: all is well; it could not be done; it was called wrongly.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2 };

/// Each adds a subcommand. When it is the one called, `exit_code` holds what it came to.
void add_replay(CLI::App& app, int& exit_code);
void add_policies(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
void add_config_keys(CLI::App& app, int& exit_code);

}  // namespace muster::cli
